"""The key of the code of a class, so that what an older version of it made is not used again."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Folders of installed modules, of which an installation writes all files: the size and time of one stand for them.
_LIBRARIES = ("site-packages", "dist-packages")
# Modules that the versions of hetero and of Python stand for.
_KNOWN = frozenset({"hetero", "builtins", "abc"}) | sys.stdlib_module_names
# What an import statement imports. In a text it may look so, too, which only makes the key depend on more.
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE)


@functools.cache
def code_key(cls: type) -> str:
    """Return a hash of the Python files of a class and its bases, and of all modules that these import.

    Modules of hetero itself and of Python do not count. A class without a known file, such as one defined in a function
    or in an interactive session, gets a random key: it never matches the key of another class or process.
    """
    key = hashlib.sha256()
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in _KNOWN:
            continue
        try:
            files = _files_of(base)
            for path in _with_imports(files):
                key.update(_content(path))
        except (OSError, ValueError):
            files = []
        if not files:
            return secrets.token_hex()
    return key.hexdigest()


def _files_of(cls: type) -> list[Path]:
    """Return the file of the class's module, or all Python files below the folder of its package; none if unknown."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or "<locals>" in cls.__qualname__:
        return []
    return list(Path(file).parent.rglob("*.py")) if module.__package__ in sys.modules else [Path(file)]


def _with_imports(files: Iterable[Path]) -> list[Path]:
    """Return files and those of all modules that they import, but not those that installed modules import."""
    found = set(files)
    waiting = list(found)
    seen: set[tuple[str, Path]] = set()
    while waiting:
        path = waiting.pop()
        names = set() if _is_installed(path) else {(name, path.parent) for name in _imports(path)} - seen
        seen |= names
        new = {file for name, folder in names for file in _module(name, folder)} - found
        found |= new
        waiting += new
    return sorted(found)


def _content(path: Path) -> bytes:
    if not _is_installed(path):
        return path.read_bytes()
    status = path.stat()
    return f"{path.name} {status.st_size} {status.st_mtime_ns}".encode()


def _is_installed(path: Path) -> bool:
    return any(folder in path.parts for folder in _LIBRARIES)


def _imports(path: Path) -> Iterator[str]:
    """Yield the names of the top-level modules that a file imports."""
    for source, names in _IMPORT.findall(path.read_bytes()):
        for name in [source] if source else names.split(b","):
            top = name.partition(b" as ")[0].strip().partition(b".")[0].decode()
            if top and top not in _KNOWN:
                yield top


def _module(name: str, folder: Path) -> list[Path]:
    """Return the files of a module that a file in ``folder`` imports; of an installed one the file that runs first."""
    candidates = [folder / f"{name}.py", folder / name / "__init__.py"]
    origin = next((path for path in candidates if path.is_file()), None) or _found_by_python(name)
    if origin is None:
        return []
    is_package = origin.name == "__init__.py" and not _is_installed(origin)
    return list(origin.parent.rglob("*.py")) if is_package else [origin]


def _found_by_python(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: a module that its program made itself
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None
