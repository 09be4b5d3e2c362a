"""Reading of model sources: paths, bytes and open files as one view of bytes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from hetero.frontend.frontend import ModelSource
from hetero.system.errors import FrontendError
from hetero.system.files import open_regular
from hetero.system.mapped_file import map_read_only

Stamp = tuple[int, int]
_recorded: ContextVar[dict[str, Stamp] | None] = ContextVar("recorded files", default=None)


class SourceBytes(NamedTuple):
    """The name of a source in messages, its bytes, and its path if it is a file."""

    label: str
    data: memoryview
    path: Path | None


def read_source(source: ModelSource, format_name: str, keep_position: bool = False) -> SourceBytes:
    """Return the bytes of a path (memory-mapped), of a bytes object or of an open binary file.

    ``keep_position``: restore the position of an open file afterwards. Raises FrontendError for a source that cannot be
    read or is of another type.
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
    position = source.tell() if keep_position else 0
    content = source.read()
    if keep_position:
        source.seek(position)
    if not isinstance(content, bytes):
        raise FrontendError("the model file must be opened in binary mode")
    return SourceBytes(label, memoryview(content), None)


@contextlib.contextmanager
def record_files() -> Iterator[dict[str, Stamp]]:
    """Record the files that are mapped within the ``with`` block: a dict from absolute paths to their stamps."""
    recorded: dict[str, Stamp] = {}
    token = _recorded.set(recorded)
    try:
        yield recorded
    finally:
        _recorded.reset(token)


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the size of a file in bytes and the time of its last change in nanoseconds."""
    return status.st_size, status.st_mtime_ns


def map_file(path: Path) -> memoryview:
    """Map a regular file into memory for reading. An empty file gives an empty view. Raises OSError."""
    with open_regular(path) as file:
        recorded = _recorded.get()
        if recorded is not None:
            recorded[os.path.abspath(path)] = stamp_of(os.fstat(file.fileno()))
        try:
            return map_read_only(file)
        except ValueError:
            return memoryview(b"")


class Companion(NamedTuple):
    """A file that belongs to a model: its path, and that of the model file.

    It must be in the folder of the model, or in that of the file which the model's path links to: in a cache of
    downloads such as Hugging Face's, all files of a model are links into one folder. Otherwise a model could read any
    file of the user.
    """

    path: Path
    model: Path

    def is_inside(self) -> bool:
        """Return whether the file is in one of the two folders after links are followed."""
        folders = self.model.parent.resolve(), self.model.resolve().parent
        return any(self.path.resolve().is_relative_to(folder) for folder in folders)

    def map(self) -> memoryview:
        """Map the file. Raises FrontendError if it is missing or a link out of the model's folders."""
        try:
            if not self.is_inside():
                raise FrontendError(f"the file {self.path} is a link to a file outside of the model's folder")
            return map_file(self.path)
        except OSError as error:
            raise FrontendError(f"the file {self.path} cannot be read: {error.strerror}") from error
