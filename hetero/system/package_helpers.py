"""Helpers of packages: decorators for functions and properties that will be removed, and the path of CMake files."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any


def get_cmake_path() -> str:
    """Return "", because the package has no CMake files."""
    return ""


def deprecated(
    name: str | None = None, version: str = "", message: str = "", stacklevel: int = 2
) -> Callable[..., Any]:
    """Return a decorator that warns at each call that a function will be removed in a version."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            removal = f" and will be removed in version {version}" if version else ""
            text = f"{name or function.__name__} is deprecated{removal}. {message}".strip()
            warnings.warn(text, DeprecationWarning, stacklevel)
            return function(*arguments, **keywords)

        return call

    return decorate


class classproperty:
    """A property of a class, which is read without an instance."""

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self._function = func.__func__ if isinstance(func, (classmethod, staticmethod)) else func

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self._function(type(instance) if owner is None else owner)


def deprecatedclassproperty(
    name: str | None = None, version: str = "", message: str = "", stacklevel: int = 2
) -> Callable[[Callable[..., Any]], classproperty]:
    """Return a decorator to a classproperty that warns when it is read, see ``deprecated``."""

    def decorate(function: Callable[..., Any]) -> classproperty:
        plain = function.__func__ if isinstance(function, (classmethod, staticmethod)) else function
        return classproperty(deprecated(name, version, message, stacklevel + 1)(plain))

    return decorate
