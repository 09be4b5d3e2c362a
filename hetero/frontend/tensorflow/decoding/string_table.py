"""Reading of string tables, the sorted key-value files that index checkpoints.

Format: https://github.com/google/leveldb/blob/main/doc/table_format.md.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator

from hetero.frontend.protobuf import WireError, read_varint
from hetero.frontend.tensorflow.decoding.snappy import decompress
from hetero.system.errors import FrontendError

_FOOTER_SIZE = 48
_MAGIC = 0xDB4775248B80FB57
# After the contents of a block: a byte for the compression, and a checksum.
_TRAILER = struct.Struct("<BI")
_UNCOMPRESSED, _SNAPPY = 0, 1
# Keys share prefixes, so that a small file could have very much text in its keys.
_KEY_BYTES_PER_FILE_BYTE = 64


def is_string_table(data: memoryview) -> bool:
    return len(data) >= _FOOTER_SIZE and struct.unpack("<Q", data[-8:])[0] == _MAGIC


def read_string_table(data: memoryview) -> dict[bytes, memoryview]:
    """Return the values of a table by their keys. Raises FrontendError if it is damaged."""
    if not is_string_table(data):
        raise FrontendError("the index of the checkpoint is damaged or truncated")
    try:
        _, offset = _handle(data[-_FOOTER_SIZE:-8], 0)
        index, _ = _handle(data[-_FOOTER_SIZE:-8], offset)
        budget = _KEY_BYTES_PER_FILE_BYTE * len(data)
        values: dict[bytes, memoryview] = {}
        for _, value in _entries(_block(data, *index)):
            handle, _ = _handle(value, 0)
            for key, content in _entries(_block(data, *handle)):
                budget -= len(key)
                if budget < 0 or key in values:
                    raise FrontendError("the index of the checkpoint is damaged")
                values[key] = content
        return values
    except (WireError, struct.error) as error:
        raise FrontendError(f"the index of the checkpoint is damaged: {error}") from error


def _handle(data: memoryview, offset: int) -> tuple[tuple[int, int], int]:
    """Return the offset and the size of a block, and the offset after these numbers."""
    begin, offset = read_varint(data, offset, len(data))
    size, offset = read_varint(data, offset, len(data))
    return (begin, size), offset


def _block(data: memoryview, begin: int, size: int) -> memoryview:
    end = begin + size
    if end + _TRAILER.size > len(data):
        raise FrontendError("the index of the checkpoint is truncated")
    compression, checksum = _TRAILER.unpack(data[end : end + _TRAILER.size])
    if compression not in (_UNCOMPRESSED, _SNAPPY) or _masked(_crc32c(bytes(data[begin : end + 1]))) != checksum:
        raise FrontendError("the index of the checkpoint is damaged: a checksum differs")
    return decompress(data[begin:end]) if compression == _SNAPPY else data[begin:end]


def _entries(block: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """Yield the keys and values of a block. A key is stored without the prefix that it shares with the one before."""
    (restarts,) = struct.unpack("<I", block[-4:])
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise WireError("a block has more restart points than bytes")
    offset, key = 0, b""
    while offset < end:
        shared, offset = read_varint(block, offset, end)
        unshared, offset = read_varint(block, offset, end)
        length, offset = read_varint(block, offset, end)
        if shared > len(key) or offset + unshared + length > end:
            raise WireError("an entry of a block is longer than the block")
        key = key[:shared] + bytes(block[offset : offset + unshared])
        offset += unshared
        yield key, block[offset : offset + length]
        offset += length


@functools.cache
def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


def _crc32c(data: bytes) -> int:
    table, crc = _crc_table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _masked(crc: int) -> int:
    """Return a checksum as the format stores it."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
