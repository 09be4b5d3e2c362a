"""Decompression of Snappy's raw format: https://github.com/google/snappy/blob/main/format_description.txt."""

from __future__ import annotations

from hetero.frontend.protobuf import WireError, read_varint

# A copy of 64 bytes takes three bytes at least, one of 11 bytes two.
_MAX_RATIO = 22


def decompress(data: memoryview) -> memoryview:
    """Return the uncompressed bytes. Raises WireError if the data is damaged."""
    length, offset = read_varint(data, 0, len(data))
    if length > _MAX_RATIO * len(data):
        raise WireError(f"{len(data)} bytes of Snappy cannot have {length} bytes of contents")
    contents = bytearray()
    while offset < len(data):
        tag, offset = data[offset], offset + 1
        kind, size = tag & 3, (tag >> 2) + 1
        if kind == 0:
            if size > 60:
                size, offset = _number(data, offset, size - 60)
                size += 1
            if offset + size > len(data):
                raise WireError("a literal of Snappy ends after the end of the data")
            contents += data[offset : offset + size]
            offset += size
        elif kind == 1:
            low, offset = _number(data, offset, 1)
            _copy(contents, (tag >> 5 << 8) + low, 4 + (tag >> 2 & 7))
        else:
            distance, offset = _number(data, offset, 2 if kind == 2 else 4)
            _copy(contents, distance, size)
        if len(contents) > length:
            break
    if len(contents) != length:
        raise WireError(f"the contents of Snappy have not {length} bytes, as they should")
    return memoryview(bytes(contents))


def _number(data: memoryview, offset: int, size: int) -> tuple[int, int]:
    if offset + size > len(data):
        raise WireError("the data of Snappy ends within a number")
    return int.from_bytes(data[offset : offset + size], "little"), offset + size


def _copy(contents: bytearray, distance: int, size: int) -> None:
    """Append bytes from a distance before the end; a distance less than the size repeats them."""
    if not 0 < distance <= len(contents):
        raise WireError(f"a copy of Snappy begins {distance} bytes before byte {len(contents)}")
    start = len(contents) - distance
    part = contents[start : start + size]
    contents += (part * (size // len(part) + 1))[:size]
