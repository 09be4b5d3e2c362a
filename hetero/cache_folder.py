"""Cache folders. Their files only save time: a folder that cannot be used is reported in the log and is no error."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from hetero.files import replacing
from hetero.messages import get_logger

log = get_logger("hetero.cache")


def cache_folder(path: str | Path) -> Path | None:
    """Return the path of a folder that belongs to this user, created with mode 0700 if it is missing.

    Returns None, and logs one warning for each folder and reason, if it cannot be created or read, or if it belongs
    to another user: kernels loaded from a cache run as this user.
    """
    path = Path(path)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "geteuid") and path.stat().st_uid != os.geteuid():
            problem = "it belongs to another user"
        elif not os.access(path, os.R_OK | os.X_OK):
            problem = "it cannot be read"
        else:
            return path
    except (OSError, ValueError) as error:
        problem = str(getattr(error, "strerror", None) or error)
    _warn_once(f"the cache folder {path} is not used: {problem}")
    return None


def write_cached(file: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Write a file of a cache folder, whole or not at all. A failure is logged once for each folder and reason."""
    with _failure_logged(file.parent), replacing(file) as (stream,):
        stream.writelines(pieces)


def has_space(folder: Path, byte_size: int) -> bool:
    """Return whether a file of this size can be written into a cache folder. A failure is logged as above."""
    with _failure_logged(folder):
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(byte_size))
        return True
    return False


@contextlib.contextmanager
def _failure_logged(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _warn_once(f"cannot write to the cache folder {folder}: {error.strerror or error}")


@functools.cache
def _warn_once(message: str) -> None:
    log.warning(message)
