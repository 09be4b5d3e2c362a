"""The key of the code of a class, so that what an older version of it made is not used again."""

from __future__ import annotations

import ast
import functools
import hashlib
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

# Folders of modules that have nothing to do with each other.
_LIBRARIES = ("site-packages", "dist-packages", Path(ast.__file__).parent.name)


@functools.cache
def code_key(cls: type) -> str:
    """Return a hash of the Python files of a class and its bases. Bases of hetero itself do not count.

    A class without a known file, such as one defined in a function or in an interactive session, gets a random key:
    it never matches the key of another class or process.
    """
    key = hashlib.sha256()
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("hetero", "builtins", "abc"):
            continue
        try:
            contents = [path.read_bytes() for path in _files_of(base)]
        except (OSError, SyntaxError, ValueError):
            contents = []
        if not contents:
            return secrets.token_hex()
        for content in contents:
            key.update(content)
    return key.hexdigest()


def _files_of(cls: type) -> list[Path]:
    """Return all Python files below the folder of the class's package.

    Without a package, these are the file of its module and those beside it that this imports.
    """
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or "<locals>" in cls.__qualname__:
        return []
    if module.__package__ in sys.modules:
        return sorted(Path(file).parent.rglob("*.py"))
    found, waiting = {Path(file)}, [Path(file)]
    while waiting:
        new = set(_imported_files(waiting.pop())) - found
        found |= new
        waiting += new
    return sorted(found)


def _imported_files(path: Path) -> Iterator[Path]:
    """Yield the files of the modules and packages in the same folder that a file imports."""
    if path.parent.name in _LIBRARIES:
        return
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            beside = path.parent / name.partition(".")[0]
            if beside.with_suffix(".py").is_file():
                yield beside.with_suffix(".py")
            elif beside.name and (beside / "__init__.py").is_file():
                yield from beside.rglob("*.py")
