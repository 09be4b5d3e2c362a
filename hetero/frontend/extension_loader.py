"""Loading of extensions from objects, operation classes, sequences of these, and Python modules."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from hetero.frontend.extension import Extension, is_part_of_hetero
from hetero.frontend.op_extension import OpExtension, framework_maps
from hetero.graph import Op
from hetero.system.errors import FrontendError, GraphError, reason_of

_NATIVE_SUFFIXES = {".so", ".dll", ".dylib", ".pyd"}
# Suffixes of file names that would otherwise look like dotted module names.
_FILE_SUFFIXES = {".py", *_NATIVE_SUFFIXES}


def as_extensions(source: Any) -> list[Extension]:
    """Return the extensions of an Extension, an operation class, a module name, a Python file, or a sequence of these.

    Raises GraphError for any other object, FrontendError for a module that cannot be loaded.
    """
    if isinstance(source, OpExtension):
        return [*source.attached()]
    if isinstance(source, Extension):
        return [source]
    if isinstance(source, type) and issubclass(source, Op):
        return list(framework_maps(source)) or [_extension_of(source)]
    if isinstance(source, (list, tuple)):
        return [extension for item in source for extension in as_extensions(item)]
    if isinstance(source, (str, os.PathLike)):
        return _in_module(load_module(source))
    raise GraphError(
        f"{source!r} cannot be an extension: give an extension, an operation's class, a Python file, or a list of them"
    )


def is_module_name(text: str) -> bool:
    """Return whether a text is a dotted module name, not the path of a file."""
    return re.fullmatch(r"\w+(\.\w+)*", text) is not None and Path(text).suffix not in _FILE_SUFFIXES


def load_module(source: str | os.PathLike[str], content: str = "extensions") -> ModuleType:
    """Import a module by its dotted name, or execute a Python file as a new module.

    ``content`` says in messages what the module holds. Raises FrontendError, also for a native library.
    """
    text = os.fspath(source)
    is_name, path = isinstance(source, str) and is_module_name(text), Path(text)
    if not is_name and path.suffix != ".py":
        is_native = path.suffix in _NATIVE_SUFFIXES
        reason = ", as it is a native library, which hetero does not load" if is_native else ""
        accepted = "give a Python file, or the dotted name of a module"
        raise FrontendError(f"{path} cannot hold {content}{reason}: {accepted}")
    if not is_name and not path.is_file():
        raise FrontendError(f"there is no file of {content} {path}")
    try:
        return importlib.import_module(text) if is_name else _run_file(path)
    except Exception as error:
        problem = f"the {content} of {text} cannot be loaded{_error_location(error)}"
        raise FrontendError(f"{problem}: {reason_of(error)}") from error


def _run_file(path: Path) -> ModuleType:
    # The absolute path is a unique module name. inspect finds the source of classes by it.
    name = str(path.resolve())
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # as for any file whose name ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _in_module(module: ModuleType) -> list[Extension]:
    """Return a module's ``extensions``, or else all its Extension objects and the operation classes that it defines."""
    if hasattr(module, "extensions"):
        return as_extensions(module.extensions)
    candidates = [
        value
        for value in vars(module).values()
        if isinstance(value, Extension)
        or (isinstance(value, type) and issubclass(value, Op) and value.__module__ == module.__name__)
    ]
    # A class that has an explicit OpExtension gets no default one.
    mapped = {extension.operation for extension in candidates if isinstance(extension, OpExtension)}
    extensions = as_extensions([value for value in candidates if value not in mapped])
    if not extensions:
        raise FrontendError(f"{module.__file__} holds no extensions: it needs an Extension or an operation's class")
    return extensions


def _extension_of(operation: type[Op]) -> OpExtension:
    """Return an OpExtension of a class, located at the source of the class if that can be found."""
    extension = OpExtension(operation)
    with contextlib.suppress(OSError, TypeError):
        extension.source_location = f"{inspect.getsourcefile(operation)}:{inspect.getsourcelines(operation)[1]}"
    return extension


def _error_location(error: Exception) -> str:
    """Return " (file:line)" of the innermost frame outside hetero and importlib, or "" if there is none."""
    location = f"{error.filename}:{error.lineno}" if isinstance(error, SyntaxError) else ""
    for frame, line in traceback.walk_tb(None if location else error.__traceback__):
        module = frame.f_globals.get("__name__", "")
        if not is_part_of_hetero(module) and "importlib" not in module:
            location = f"{frame.f_code.co_filename}:{line}"
    return f" ({location})" if location else ""
