"""The real openvino, for plugins: its modules are in a table here and not in ``sys.modules``, where hetero's are.

A module is loaded when a plugin, or another module of it, first reads a name of it.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any

_modules: dict[str, ModuleType] = {}
_lock = threading.RLock()


def real_attribute(module_name: str, name: str) -> Any:
    """Return an attribute of a module of the real package; submodules are loaded. Raises AttributeError, ImportError"""
    module = real_module(module_name)
    try:
        return getattr(module, name)
    except AttributeError:
        submodule = f"{module_name}.{name}"
        if name.startswith("__") or not has_real_module(submodule):
            raise
        return real_module(submodule)


def has_real_module(name: str) -> bool:
    with _lock:
        return name in _modules or _find(name) is not None or name in _modules  # loaded with its package


def real_module(name: str) -> ModuleType:
    """Return a module of the real package. Raises ImportError if it is not installed or fails."""
    with _lock:
        if name in _modules:
            return _modules[name]
        spec = _find(name)
        if name in _modules:  # loaded with the package that it is in
            return _modules[name]
        if spec is None or spec.loader is None:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        with _own_entries(name) if isinstance(spec.loader, ExtensionFileLoader) else _nothing():
            module = _modules[name] = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(module)
            except BaseException:
                del _modules[name]
                raise
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(_modules[parent], child, module)
        return module


def _find(name: str) -> ModuleSpec | None:
    parent = name.rpartition(".")[0]
    path = getattr(real_module(parent), "__path__", None) if parent else None
    if parent and path is None:
        return None
    others = (finder for finder in sys.meta_path if not type(finder).__module__.startswith(f"{__package__}."))
    return next((spec for finder in others if (spec := finder.find_spec(name, path))), None)


@contextmanager
def _own_entries(name: str) -> Iterator[None]:
    """Take what a module written in C adds to ``sys.modules`` into the table: itself, and modules that it defines."""

    def entries() -> list[str]:
        return [key for key in list(sys.modules) if key == name or key.startswith(f"{name}.")]

    hidden = {key: sys.modules.pop(key) for key in entries()}
    try:
        yield
    finally:
        _modules.update({key: sys.modules.pop(key) for key in entries()})
        sys.modules.update(hidden)


@contextmanager
def _nothing() -> Iterator[None]:
    yield
