"""What the code of a class is, in so far as it can be told: the files that it and its bases are written in."""

from __future__ import annotations

import functools
import hashlib
import secrets
import sys
from pathlib import Path


@functools.cache
def code_key(cls: type) -> str:
    """A text that changes whenever the Python files of a class, or of a base that is not hetero's, may have changed.

    A class of which that cannot be told, as one that was made in a function or at a prompt, has a key that no other
    class, and no other process, has.
    """
    found = hashlib.sha256()
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
            found.update(content)
    return found.hexdigest()


def _files_of(cls: type) -> list[Path]:
    """Those in the folder of the class's module and below where that is in a package, else the module's own."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if file is None or "<locals>" in cls.__qualname__:
        return []
    return sorted(Path(file).parent.rglob("*.py")) if module.__package__ else [Path(file)]
