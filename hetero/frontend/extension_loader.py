"""What can be given for extensions: objects, classes of operations, lists of them, and Python files with them."""

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

from hetero.errors import FrontendError, GraphError, HeteroError
from hetero.frontend.extension import Extension, is_part_of_hetero
from hetero.frontend.framework_map import framework_maps
from hetero.frontend.op_extension import OpExtension
from hetero.graph import Op

# How files end that are no modules, though their names look like those of modules.
_FILES = {".py", ".so", ".dll", ".dylib", ".pyd"}


def as_extensions(given: Any) -> list[Extension]:
    """Extensions from one, an operation's class, the name of a module or file of them, or a sequence of these.

    Raises GraphError for what is none, FrontendError for a module that cannot be loaded.
    """
    if isinstance(given, Extension):
        return [given]
    if isinstance(given, type) and issubclass(given, Op):
        return list(framework_maps(given)) or [_extension_of(given)]
    if isinstance(given, (list, tuple)):
        return [extension for item in given for extension in as_extensions(item)]
    if isinstance(given, (str, os.PathLike)):
        return _in_module(load_module(given))
    raise GraphError(
        f"{given!r} cannot be an extension: give an extension, an operation's class, a Python file, or a list of them"
    )


def is_module_name(text: str) -> bool:
    """Whether it is the dotted name of a module, not the path of a file."""
    return re.fullmatch(r"\w+(\.\w+)*", text) is not None and Path(text).suffix not in _FILES


def load_module(given: str | os.PathLike[str]) -> ModuleType:
    """The module of a Python file, run anew, or one that Python finds by its dotted name. Raises FrontendError."""
    text = os.fspath(given)
    is_name = isinstance(given, str) and is_module_name(text)
    if not is_name:
        _check_file(Path(text))
    try:
        return importlib.import_module(text) if is_name else _run_file(Path(text))
    except Exception as error:
        problem = str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"
        raise FrontendError(f"the extensions of {text} cannot be loaded{_place_in(error)}: {problem}") from error


def _check_file(path: Path) -> None:
    if path.suffix != ".py":
        raise FrontendError(f"{path} cannot hold extensions: give a Python file, or the dotted name of a module")
    if not path.is_file():
        raise FrontendError(f"there is no file of extensions {path}")


def _run_file(path: Path) -> ModuleType:
    # The name is the path, so that it is no other module's; classes find their source by it.
    name = str(path.resolve())
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _in_module(module: ModuleType) -> list[Extension]:
    """What its ``extensions`` holds; without it all its Extension objects, and the classes of operations it defines."""
    if hasattr(module, "extensions"):
        return as_extensions(module.extensions)
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, Extension)
        or (isinstance(value, type) and issubclass(value, Op) and value.__module__ == module.__name__)
    ]
    # A class that an extension is made of already has no need of another.
    mapped = {extension.operation for extension in own if isinstance(extension, OpExtension)}
    found = as_extensions([value for value in own if value not in mapped])
    if not found:
        raise FrontendError(f"{module.__file__} holds no extensions: no Extension, no class of an operation")
    return found


def _extension_of(operation: type[Op]) -> OpExtension:
    """The extension of a class, whose place is that of the class where its source can be found."""
    extension = OpExtension(operation)
    with contextlib.suppress(OSError, TypeError):
        extension.place = f"{inspect.getsourcefile(operation)}:{inspect.getsourcelines(operation)[1]}"
    return extension


def _place_in(error: Exception) -> str:
    """The file and line where a module failed: the last that is not hetero's, or Python's for imports."""
    place = f"{error.filename}:{error.lineno}" if isinstance(error, SyntaxError) else ""
    for frame, line in traceback.walk_tb(None if place else error.__traceback__):
        module = frame.f_globals.get("__name__", "")
        if not is_part_of_hetero(module) and "importlib" not in module:
            place = f"{frame.f_code.co_filename}:{line}"
    return f" ({place})" if place else ""
