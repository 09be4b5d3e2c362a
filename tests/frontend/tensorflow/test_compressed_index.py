"""Checkpoint indices that are compressed with Snappy, from bytes written by the specifications."""

import struct

import pytest

from hetero.frontend.protobuf import WireError
from hetero.frontend.tensorflow.decoding.snappy import decompress
from hetero.frontend.tensorflow.decoding.string_table import read_string_table
from hetero.system.errors import FrontendError

# The compressed bytes and their contents: literals with lengths of one to three bytes, copies with offsets of one, two
# and four bytes, a copy that overlaps itself.
STREAMS = {
    "empty": (b"\x00", b""),
    "literal": (b"\x05\x10hello", b"hello"),
    "long literal": (b"\xc8\x01\xf0\xc7" + b"x" * 200, b"x" * 200),
    "longer literal": (b"\xac\x02\xf4\x2b\x01" + b"y" * 300, b"y" * 300),
    "copy of one byte": (b"\x0a\x10abcde\x05\x05", b"abcdeabcde"),
    "copy of two bytes": (b"\x08\x0cabcd\x0e\x04\x00", b"abcdabcd"),
    "copy of four bytes": (b"\x08\x0cabcd\x0f\x04\x00\x00\x00", b"abcdabcd"),
    "overlapping": (b"\x0c\x04ab\x26\x02\x00", b"ab" * 6),
}  # fmt: skip
DAMAGED = {
    "no length": b"",
    "too large": b"\xff\xff\xff\xff\x0f\x00a",
    "truncated literal": b"\x05\x10hel",
    "truncated length": b"\xc8\x01\xf0",
    "before the beginning": b"\x08\x0cabcd\x0e\x05\x00",
    "distance 0": b"\x08\x0cabcd\x0e\x00\x00",
    "too short": b"\x06\x10hello",
    "too long": b"\x04\x10hello",
}


@pytest.mark.parametrize(("data", "contents"), STREAMS.values(), ids=STREAMS)
def test_decompress(data, contents):
    assert bytes(decompress(memoryview(data))) == contents


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_damaged_stream(data):
    with pytest.raises(WireError):
        decompress(memoryview(data))


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def table(entries):
    """Return a table of one block with short keys and values; both blocks are compressed as one literal each."""

    def block(pairs):
        # Each entry shares no prefix with the one before; there is one restart point, at 0.
        plain = b"".join(bytes([0, len(key), len(value)]) + key + value for key, value in pairs)
        plain += struct.pack("<II", 0, 1)
        data = bytes([len(plain), (len(plain) - 1) << 2]) + plain
        return data, data + b"\x01" + struct.pack("<I", masked_crc32c(data + b"\x01"))

    data, stored = block(entries)
    index, stored_index = block([(b"z", bytes([0, len(data)]))])
    footer = bytes([0, 0, len(stored), len(index)]).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)
    return stored + stored_index + footer


def test_table():
    entries = [(b"a", b"first"), (b"bb", b"second")]
    found = read_string_table(memoryview(table(entries)))
    assert {key: bytes(value) for key, value in found.items()} == dict(entries)


def test_damaged_table():
    data = bytearray(table([(b"a", b"first")]))
    data[3] ^= 1
    with pytest.raises(FrontendError, match="a checksum differs"):
        read_string_table(memoryview(bytes(data)))
