"""A hash of the source files of a class, for the key of the model cache."""

from __future__ import annotations

import functools
import hashlib
import secrets
import sys
from pathlib import Path


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
        except OSError:
            contents = []
        if not contents:
            return secrets.token_hex()
        for content in contents:
            key.update(content)
    return key.hexdigest()


def _files_of(cls: type) -> list[Path]:
    """Return all Python files below the folder of the class's package, or the file of its module without a package."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if file is None or "<locals>" in cls.__qualname__:
        return []
    return sorted(Path(file).parent.rglob("*.py")) if module.__package__ else [Path(file)]
