"""Blobs: exported models as bytes. Untrusted content is checked here, once for all devices.

A blob begins with a little-endian prefix: the magic bytes (8), the format version (u32), the CRC-32 of everything
after it (u32), the size of the whole blob (u64) and that of the header (u64). The header is JSON: the device's name and
architecture, the versions of hetero and of the device's package, the options of the compilation, and the name and size
of each section. The sections follow in order, each at the next multiple of ``ALIGNMENT`` bytes.
"""

from __future__ import annotations

import functools
import importlib.metadata
import io
import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from hetero.frontend.source import map_file
from hetero.system.errors import BlobError
from hetero.system.mapped_file import map_read_only

# Bytes, or a sequence of pieces to be concatenated.
Section = bytes | memoryview | Sequence[bytes | memoryview]
BlobSource = bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO

MAGIC = b"\x89HETERO\n"
FORMAT = 4
ALIGNMENT = 64
_PREFIX = struct.Struct("<8sIIQQ")
_CHECKED_FROM = 16  # offset of the first byte that the checksum covers
# A stream is read in pieces of this size, so that a header with a false size does not allocate memory.
_PIECE = 2**24
_LABEL = "the exported model"


@dataclass(frozen=True)
class Blob:
    """An exported model: its device, the options of its compilation, and the device's sections."""

    device: str
    architecture: str
    version: str
    package: str
    options: dict[str, Any]
    sections: dict[str, memoryview]
    label: str = _LABEL

    def check_fits(self, device: str, architecture: str, package: str) -> None:
        """Raise BlobError unless the blob is for this device, architecture, version of hetero and device package."""
        if self.device != device:
            raise BlobError(f"{self.label} is for device {self.device}, not for {device}: import it there")
        if self.architecture != architecture:
            problem = f"is for the architecture '{self.architecture}', but {device} is '{architecture}'"
        elif self.version != hetero_version():
            problem = f"was exported by hetero {self.version}, but this is hetero {hetero_version()}"
        elif self.package != package:
            problem = f"was exported by {self.package}, but {device} is from {package}"
        else:
            return
        raise BlobError(f"{self.label} {problem}: compile and export the model again")


@functools.cache
def hetero_version() -> str:
    """Return the version of the installed package."""
    return importlib.metadata.version("hetero")


def pack_blob(
    device: str, architecture: str, package: str, options: Mapping[str, Any], sections: Mapping[str, Section]
) -> list[bytes | memoryview]:
    """Return the pieces of a blob, to be concatenated. ``package``: name and version of the device's package.

    The contents of sections are not copied.
    """
    parts = {
        name: [section] if isinstance(section, (bytes, memoryview)) else [*section]
        for name, section in sections.items()
    }
    sizes = {name: sum(memoryview(piece).nbytes for piece in pieces) for name, pieces in parts.items()}
    fields = {
        "device": device, "architecture": architecture, "hetero": hetero_version(), "package": package,
        "options": dict(options), "sections": list(sizes.items()),
    }  # fmt: skip
    header = json.dumps(fields, default=_plain).encode()
    body: list[bytes | memoryview] = [header]
    end = _PREFIX.size + len(header)
    for name, pieces in parts.items():
        padding = -end % ALIGNMENT
        body += [bytes(padding), *pieces]
        end += padding + sizes[name]
    checksum = zlib.crc32(_PREFIX.pack(MAGIC, FORMAT, 0, end, len(header))[_CHECKED_FROM:])
    for piece in body:
        checksum = zlib.crc32(piece, checksum)
    return [_PREFIX.pack(MAGIC, FORMAT, checksum, end, len(header)), *body]


def read_blob(source: BlobSource) -> Blob:
    """Read a blob from bytes, from the file of a path, or from the position of a binary stream. Files are mapped.

    A mapped file must not change while the model lives; replacing it is safe. Raises BlobError if the blob is
    incomplete or altered.
    """
    label = f"{_LABEL} {os.fspath(source)}" if isinstance(source, (str, os.PathLike)) else _LABEL
    try:
        if isinstance(source, (bytes, bytearray, memoryview)):
            content = memoryview(source).cast("B")
        elif isinstance(source, (str, os.PathLike)):
            content = map_file(Path(source))
        elif hasattr(source, "read"):
            content = _map_rest(source) if _is_file(source) else _read_stream(source)
        else:
            kind = type(source).__name__
            raise BlobError(f"{kind} is not an exported model: give its bytes, its path or a binary stream")
    except (OSError, ValueError, TypeError) as error:
        raise BlobError(f"{label} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    prefix = _read_prefix(content, label)
    if len(content) != prefix.size:
        problem = "cut short" if len(content) < prefix.size else "altered"
        raise BlobError(f"{label} is {problem}: it has {len(content)} bytes, but should have {prefix.size}")
    checksum = zlib.crc32(content[_CHECKED_FROM:])
    if checksum != prefix.checksum:
        raise BlobError(f"{label} is altered: its checksum is {checksum:08x}, but should be {prefix.checksum:08x}")
    return _read_content(content, prefix.header_size, label)


class _Prefix(NamedTuple):
    magic: bytes
    version: int
    checksum: int
    size: int
    header_size: int


def _read_prefix(content: memoryview, label: str = _LABEL) -> _Prefix:
    if not content:
        raise BlobError(f"{label} is empty, or a stream that stands at its end")
    if content[: len(MAGIC)] != MAGIC[: len(content)]:
        raise BlobError(f"{label} is not a blob of hetero: it does not begin with {MAGIC!r}")
    if len(content) < _PREFIX.size:
        raise BlobError(f"{label} is cut short: {len(content)} bytes do not hold its header")
    prefix = _Prefix(*_PREFIX.unpack_from(content))
    if prefix.version != FORMAT:
        raise BlobError(
            f"{label} has format {prefix.version}, but this version of hetero reads format {FORMAT}: "
            "import it with the version that exported it"
        )
    if prefix.size < _PREFIX.size + prefix.header_size:
        raise BlobError(f"{label} is altered: {prefix.size} bytes cannot hold a header of {prefix.header_size}")
    return prefix


def _is_file(stream: BinaryIO) -> bool:
    """Return whether a stream is a file that can be mapped."""
    raw = stream.raw if isinstance(stream, (io.BufferedReader, io.BufferedRandom)) else stream
    return isinstance(raw, io.FileIO) and stream.seekable()


def _map_rest(file: BinaryIO) -> memoryview:
    """Map the blob at the position of a file, or as much of it as exists, and move the position to its end."""
    begin = file.tell()
    file.seek(0, os.SEEK_END)
    if file.tell() <= begin:
        return memoryview(b"")
    content = map_read_only(file)[begin:]
    content = content[: _read_prefix(content).size]
    file.seek(begin + len(content))
    return content


def _read_stream(stream: BinaryIO) -> memoryview:
    """Read the blob at the position of a stream, or as much of it as exists."""
    content, needed = bytearray(), _PREFIX.size
    while len(content) < needed and (piece := stream.read(min(needed - len(content), _PIECE))):
        content += piece
        if len(content) == _PREFIX.size:
            needed = _read_prefix(memoryview(bytes(content))).size
    return memoryview(content).toreadonly()


def _read_content(content: memoryview, header_size: int, label: str) -> Blob:
    end = _PREFIX.size + header_size
    sections: dict[str, memoryview] = {}
    try:
        fields = json.loads(content[_PREFIX.size : end].tobytes())
        device, architecture, version, package = (
            _typed(fields[key], str) for key in ("device", "architecture", "hetero", "package")
        )
        options = _typed(fields["options"], dict)
        for name, size in fields["sections"]:
            begin = end + -end % ALIGNMENT
            end = begin + _typed(size, int)
            if not begin <= end <= len(content) or name in sections:
                raise ValueError(f"its section {name} cannot have {size} bytes")
            sections[_typed(name, str)] = content[begin:end]
        if end != len(content):
            raise ValueError(f"its sections have {end} bytes of {len(content)}")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BlobError(f"the header of {label} cannot be understood: {error!r}") from error
    return Blob(device, architecture, version, package, options, sections, label)


def _plain(value: Any) -> Any:
    """Return the JSON form of an option, from which its property restores the value."""
    return sorted(f"{item}" for item in value) if isinstance(value, (set, frozenset)) else f"{value}"


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, not {type(value).__name__}")
    return value
