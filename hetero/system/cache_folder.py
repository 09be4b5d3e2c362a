"""Cache folders. Caches only save time, so an unusable folder is logged and does not raise."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from hetero.system.files import atomic_write
from hetero.system.mapped_file import release_pages
from hetero.system.messages import get_logger

log = get_logger("hetero.cache")


def cache_folder(path: str | Path) -> Path | None:
    """Return the path of a cache folder, after creating it with mode 0700 if it is missing.

    Returns None if the folder cannot be created or read, or if it belongs to another user, because kernels loaded from
    it would run as this user. Each folder and reason is logged once.
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
    """Write a file into a cache folder atomically. Each folder and reason of a failure is logged once."""
    with _failure_logged(file.parent), atomic_write(file) as (stream,):
        for piece in pieces:
            stream.write(piece)
            release_pages(piece)


def has_space(folder: Path, byte_size: int) -> bool:
    """Return whether a file of this size can be written into a cache folder. A failure is logged once."""
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
