"""The binary file of an IR: the contents of all constants, one after another."""

from __future__ import annotations

import hashlib
import math
from itertools import pairwise
from typing import BinaryIO

import numpy as np

from hetero.core.compressed import CompressedArray, PackedArray
from hetero.core.packing import is_packed, pack, packed_size
from hetero.core.types import Type
from hetero.system.allocation import string_array

# Alignment of each constant in bytes, so that a memory-mapped file can be used without a copy.
ALIGNMENT = 16


class WeightsWriter:
    """Writer of the weights file. Constants with equal contents share one copy."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._end = file, 0
        # Offset by (digest, size) of the contents.
        self._offsets: dict[tuple[bytes, int], int] = {}

    def add(self, array: np.ndarray | CompressedArray, element_type: Type) -> tuple[int, int]:
        """Write the contents of an array unless the file has them already; return their offset and size in bytes."""
        content = encode(array, element_type)
        size = content.nbytes
        key = (hashlib.blake2b(content).digest(), size)
        if key not in self._offsets:
            padding = -self._end % ALIGNMENT
            self._file.write(b"\0" * padding)
            self._file.write(content)
            self._offsets[key] = self._end + padding
            self._end += padding + size
        return self._offsets[key], size


def encode(array: np.ndarray | CompressedArray, element_type: Type) -> memoryview:
    """Return the bytes of an array as the weights file stores them."""
    if isinstance(array, CompressedArray):
        if isinstance(array, PackedArray):
            return np.ascontiguousarray(array.content).data
        array = array.decode()
    if element_type is Type.string:
        return memoryview(_encode_strings(array))
    if is_packed(element_type):
        return pack(array, element_type).data
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def decode(content: memoryview, element_type: Type, shape: tuple[int, ...]) -> np.ndarray | PackedArray:
    """Return the array stored in the bytes, as a view where possible. Raises ValueError if the size does not match."""
    if element_type is Type.string and 0 not in shape:
        return _decode_strings(content).reshape(shape)
    count = math.prod(shape)
    if len(content) != packed_size(count, element_type):
        raise ValueError(
            f"{element_type}{list(shape)} takes {packed_size(count, element_type)} bytes, not {len(content)}"
        )
    if is_packed(element_type):
        return PackedArray(np.frombuffer(content, np.uint8), element_type, shape)
    return np.frombuffer(content, element_type.to_dtype()).reshape(shape)


def _encode_strings(array: np.ndarray) -> bytes:
    """Encode strings as their count, the offset of each and of the end (all i32), and the UTF-8 text."""
    encoded = [text.encode() for text in array.reshape(-1).tolist()]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return np.array([len(encoded), *offsets], np.int32).tobytes() + b"".join(encoded)


def _decode_strings(content: memoryview) -> np.ndarray:
    count = int.from_bytes(content[:4], "little", signed=True)
    if not 0 <= count <= len(content) // 4 - 2:
        raise ValueError(f"{count} strings do not fit into {len(content)} bytes")
    offsets = np.frombuffer(content[4 : 4 * (count + 2)], np.int32)
    text = content[4 * (count + 2) :]
    if offsets[0] < 0 or (np.diff(offsets) < 0).any() or offsets[-1] > len(text):
        raise ValueError("the offsets of its strings must ascend and lie within its bytes")
    return string_array([bytes(text[begin:end]).decode() for begin, end in pairwise(offsets)])
