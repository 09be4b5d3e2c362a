"""The public names of the openvino package that hetero lacks.

A name is ``module.NAME``, ``module.Class.member``, or ``module.function(parameter)``. Parameters come from Python's
signatures, and from the docstrings of pybind11's functions, which begin with a signature for each overload.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

# Special methods that programs use by an operator or a built-in function; every object has __eq__ and __hash__.
_OPERATORS = {
    f"__{name}__"
    for name in (
        "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow", "mod", "rmod", "matmul",
        "neg", "abs", "and", "or", "xor", "invert", "lt", "len", "getitem", "setitem", "delitem", "iter", "contains",
        "call", "int", "float", "enter", "exit", "copy", "deepcopy",
    )
}  # fmt: skip


def missing_names(theirs: ModuleType, ours: ModuleType) -> list[str]:
    """Return the public names of a package, of its submodules and of its classes that the other one lacks."""
    for submodule in pkgutil.iter_modules(theirs.__path__):  # a package has only those that were imported
        with contextlib.suppress(ImportError):  # openvino.torch needs torch
            importlib.import_module(f"{theirs.__name__}.{submodule.name}")
    return list(_missing_in_module(theirs, ours, "", set()))


def _missing_in_module(theirs: ModuleType, ours: ModuleType, path: str, seen: set[Any]) -> Iterator[str]:
    seen.add(theirs)
    for name in _public_names(theirs):
        value, where = getattr(theirs, name), f"{path}{name}"
        if isinstance(value, ModuleType):
            if value.__name__.startswith("openvino") and value not in seen:
                module = _submodule(ours, name)
                if module is None:
                    seen.add(value)
                    yield where
                else:
                    yield from _missing_in_module(value, module, f"{where}.", seen)
        elif not hasattr(ours, name):
            yield where
        elif inspect.isclass(value):
            if value not in seen and value.__module__.startswith("openvino"):
                seen.add(value)
                yield from _missing_in_class(value, getattr(ours, name), where, seen)
        elif callable(value):
            yield from _missing_parameters(value, getattr(ours, name), where)


def _public_names(module: ModuleType) -> Iterator[str]:
    """Yield the names of a package, and those that a module defines but not those that it only imports."""
    for name in dir(module):
        value = getattr(module, name)
        origin = getattr(value, "__module__", module.__name__)
        if name.startswith("_") or origin.partition(".")[0] != "openvino":
            continue
        if hasattr(module, "__path__") or isinstance(value, ModuleType) or origin == module.__name__:
            yield name


def _submodule(module: ModuleType, name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"{module.__name__}.{name}")
    except ImportError:
        return getattr(module, name, None)


def _missing_in_class(theirs: type, ours: Any, path: str, seen: set[Any]) -> Iterator[str]:
    yield from _missing_parameters(theirs.__init__, ours, path)
    for name in dir(theirs):
        try:
            value = getattr(theirs, name)
        except TypeError:  # a static property of pybind11 that fails
            continue
        if name.startswith("_") and (name not in _OPERATORS or getattr(object, name, None) is value):
            continue
        if issubclass(theirs, enum.Enum) and hasattr(enum.Enum, name):
            continue
        if not _has_member(ours, name):
            if not any((base, name) in seen for base in theirs.__mro__):  # listed for a base
                seen.add((theirs, name))
                yield f"{path}.{name}"
        elif callable(value) and not name.startswith("_"):
            yield from _missing_parameters(value, getattr(ours, name, None), f"{path}.{name}")


def _has_member(cls: Any, name: str) -> bool:
    """Return whether a class or its instances have a member that not every object has."""
    if any(name in vars(base).get("__annotations__", {}) for base in inspect.getmro(cls)):
        return True
    missing = object()
    member = inspect.getattr_static(cls, name, missing)
    return member is not missing and member is not vars(object).get(name)


def _missing_parameters(theirs: Any, ours: Any, path: str) -> Iterator[str]:
    accepted = _accepted(ours)
    if accepted is not None:
        yield from (f"{path}({name})" for name in _parameters(theirs) if name not in accepted)


def _accepted(function: Any) -> set[str] | None:
    """Return the names of a function's parameters; None if it takes any, or its signature is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {parameter.name for parameter in parameters}


def _parameters(function: Any) -> list[str]:
    """Return the parameters that can be given by name."""
    if not hasattr(function, "__wrapped__") and not inspect.isfunction(function):
        signatures = re.findall(r"^(?:\d+\. )?\w+\((.*)\) -> ", function.__doc__ or "", re.MULTILINE)
        names = [name for signature in signatures for name in re.findall(r"(?:^|, )(\w+): ", signature)]
        return [name for name in dict.fromkeys(names) if name != "self" and not re.match(r"arg\d", name)]
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.name != "self" and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
