"""The bytes of a model, from wherever the user has it."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from hetero.errors import FrontendError
from hetero.files import open_regular
from hetero.frontend.frontend import ModelSource

Stamp = tuple[int, int]
_noted: ContextVar[dict[str, Stamp] | None] = ContextVar("noted files", default=None)


class SourceBytes(NamedTuple):
    """What a message calls the source, its bytes, and the path where it is a file."""

    label: str
    data: memoryview
    path: Path | None


def read_source(source: ModelSource, format_name: str, keep_place: bool = False) -> SourceBytes:
    """The bytes of a path, mapped, of bytes or of an open binary file, which ``keep_place`` leaves where it was.

    Raises FrontendError where it cannot be read or is none of these.
    """
    label = f"the {format_name} model"
    if isinstance(source, (bytes, bytearray, memoryview)):
        return SourceBytes(label, memoryview(source).cast("B"), None)
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        try:
            return SourceBytes(str(path), map_file(path), path)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise FrontendError(f"the model file {path} cannot be read: {reason}") from error
    if not hasattr(source, "read"):
        raise FrontendError(f"{type(source).__name__} cannot hold {label}: give a path, bytes or an open file")
    place = source.tell() if keep_place else 0
    content = source.read()
    if keep_place:
        source.seek(place)
    if not isinstance(content, bytes):
        raise FrontendError("the model file must be opened in binary mode")
    return SourceBytes(label, memoryview(content), None)


@contextlib.contextmanager
def noting_files() -> Iterator[dict[str, Stamp]]:
    """The files that are mapped within the ``with`` block, by their absolute paths."""
    noted: dict[str, Stamp] = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def stamp_of(status: os.stat_result) -> Stamp:
    """What changes when a file does: its size in bytes and the time of its last change in nanoseconds."""
    return status.st_size, status.st_mtime_ns


def map_file(path: Path) -> memoryview:
    """The contents of a regular file, mapped for reading; an empty file gives an empty view. Raises OSError."""
    with open_regular(path) as file:
        noted = _noted.get()
        if noted is not None:
            noted[os.path.abspath(path)] = stamp_of(os.fstat(file.fileno()))
        try:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError:
            return memoryview(b"")
