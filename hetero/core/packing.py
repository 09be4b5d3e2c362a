"""Packing of sub-byte elements as ONNX and OpenVINO store them in files; in numpy each element takes a byte."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.core.types import Type
from hetero.system.errors import TensorError

# How the bits of an element are divided into separately stored parts, lowest first, by the width of the element.
_PARTS = {1: (1,), 2: (2,), 3: (2, 1), 4: (4,), 6: (4, 2)}

# Types stored as one contiguous bit stream.
_STREAMS = (Type.f6e2m3, Type.f6e3m2)

# The values of the nf4 codes: T. Dettmers et al., "QLoRA", 2023, appendix E.
NF4_VALUES = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
], np.float32)  # fmt: skip


def is_packed(element_type: Type) -> bool:
    """Return whether several elements share a byte in files."""
    return element_type.is_static() and element_type.bitwidth < 8


def packed_size(count: int, element_type: Type) -> int:
    """Return the number of bytes that ``count`` elements take in a file."""
    if not is_packed(element_type):
        return count * element_type.size
    # Elements of u3 and u6 are stored in groups that fill whole bytes.
    group = {Type.u3: 8, Type.u6: 4}.get(element_type, 1)
    return (-(-count // group) * group * element_type.bitwidth + 7) // 8


def pack(array: np.ndarray, element_type: Type) -> np.ndarray:
    """Pack the elements into a 1-D u8 array.

    The first element is in the lowest bits of a byte for u2, u4, i4 …, and in the highest bits for u1, u3 and u6, as
    in OpenVINO. The f6 types are one contiguous bit stream, as in ONNX.
    """
    width = element_type.bitwidth
    if not array.size:
        return np.empty(0, np.uint8)
    codes = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & np.uint8((1 << width) - 1)
    if element_type in _STREAMS:
        return np.packbits(np.unpackbits(codes[:, None], axis=1, count=width, bitorder="little"), bitorder="little")
    group = _group(width)
    codes = np.pad(codes, (0, -codes.size % group)).reshape(-1, group)
    parts, low = [], 0
    for bits in _PARTS[width]:
        parts.append(_join((codes >> low) & np.uint8((1 << bits) - 1), bits, _first_is_high(width)))
        low += bits
    return np.concatenate(parts, axis=1).reshape(-1)[: packed_size(array.size, element_type)]


def unpack(content: np.ndarray | memoryview, element_type: Type, shape: tuple[int, ...]) -> np.ndarray:
    """Unpack bytes into an array of the given shape. Raises ValueError if the number of bytes does not match."""
    width, count = element_type.bitwidth, int(np.prod(shape, dtype=np.int64))
    data, expected = np.frombuffer(content, np.uint8), packed_size(count, element_type)
    if data.size != expected:
        raise ValueError(f"{count} elements of {element_type} take {expected} bytes, not {data.size}")
    if not count:
        return np.empty(shape, element_type.to_dtype())
    if element_type in _STREAMS:
        rows = np.unpackbits(data, count=count * width, bitorder="little").reshape(count, width)
        return np.packbits(rows, axis=1, bitorder="little").view(element_type.to_dtype()).reshape(shape)
    group = _group(width)
    size = group * width // 8
    data = np.pad(data, (0, -data.size % size)).reshape(-1, size)
    codes, low, start = np.zeros((len(data), group), np.uint8), 0, 0
    for bits in _PARTS[width]:
        length = group * bits // 8
        codes |= _split(data[:, start : start + length], bits, _first_is_high(width)) << low
        low, start = low + bits, start + length
    if element_type in (Type.i2, Type.i4):
        codes = _sign_extend(codes, width)
    return codes.reshape(-1)[:count].view(element_type.to_dtype()).reshape(shape)


def _group(width: int) -> int:
    """Return the smallest number of elements that fills whole bytes."""
    return {1: 8, 2: 4, 3: 8, 4: 2, 6: 4}[width]


def _first_is_high(width: int) -> bool:
    return width in (1, 3, 6)


def _shifts(bits: int, first_is_high: bool) -> np.ndarray:
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return shifts[::-1] if first_is_high else shifts


def _join(codes: np.ndarray, bits: int, first_is_high: bool) -> np.ndarray:
    """Join codes ``[groups, count]`` of ``bits`` bits each into bytes ``[groups, count * bits / 8]``."""
    parts = codes.reshape(len(codes), -1, 8 // bits) << _shifts(bits, first_is_high)
    return np.bitwise_or.reduce(parts, axis=2)


def _split(data: np.ndarray, bits: int, first_is_high: bool) -> np.ndarray:
    """Split bytes ``[groups, size]`` into codes ``[groups, size * 8 / bits]``: the inverse of ``_join``."""
    parts = data[:, :, None] >> _shifts(bits, first_is_high) & np.uint8((1 << bits) - 1)
    return parts.reshape(len(data), -1)


def _sign_extend(codes: np.ndarray, width: int) -> np.ndarray:
    """Sign-extend two's complement codes to whole bytes, as ml_dtypes stores them."""
    sign = np.uint8(1 << width - 1)
    return (codes ^ sign) - sign


def as_numbers(x: np.ndarray) -> np.ndarray:
    """Return the array, or for types that are codes in numpy (nf4, u3, u6) the numbers that they represent."""
    if not x.dtype.names:
        return x
    codes = np.ascontiguousarray(x).view(np.uint8).reshape(x.shape)
    return NF4_VALUES[codes] if x.dtype.names[0] == "nf4" else codes


def pack_data(array: np.ndarray, type: Type) -> np.ndarray:
    """Return the elements of an array packed as OpenVINO's helpers do it: the first one in the highest bits of a byte.

    Raises TensorError unless the elements have 1, 2 or 4 bits.
    """
    codes = np.asarray(array).astype(np.int8).view(np.uint8).reshape(-1, 1)
    return np.packbits(np.unpackbits(codes, axis=1)[:, -_width(type) :].reshape(-1))


def unpack_data(array: np.ndarray, type: Type, shape: Sequence[int]) -> np.ndarray:
    """Return the elements in packed bytes as an array of a shape: i8 for signed integers, else u8.

    Constant.data, which has an element in each byte, is packed first, as OpenVINO's is. Raises TensorError if there are
    too few bytes, or unless the elements have 1, 2 or 4 bits.
    """
    width, count = _width(type), math.prod(shape)
    array = np.asarray(array)
    if array.dtype == type.to_dtype():
        array = pack(array, type)
    elif array.dtype == np.int8:
        array = array.view(np.uint8)
    bits = np.unpackbits(np.ascontiguousarray(array, np.uint8))
    if bits.size < count * width:
        raise TensorError(f"{bits.size // 8} bytes do not have {count} elements of {type}")
    codes = np.packbits(np.pad(bits[: count * width].reshape(count, width), ((0, 0), (8 - width, 0)))).reshape(shape)
    if not (type.is_integral() and type.is_signed()):
        return codes
    sign = np.uint8(1 << width - 1)
    return ((codes ^ sign) - sign).view(np.int8)


def _width(kind: Type) -> int:
    if kind.is_dynamic() or kind.bitwidth not in (1, 2, 4):
        raise TensorError(f"elements of {kind} are not packed: it takes a type of 1, 2 or 4 bits")
    return kind.bitwidth


class PackedBytes(np.ndarray):
    """A 1-D array of packed elements, as OpenVINO's Tensor.data. Assigning to items also changes the tensor."""

    _on_change: Callable[[np.ndarray], None] | None = None

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if self._on_change is not None:
            self._on_change(np.asarray(self).view(np.uint8))


def packed_bytes(array: np.ndarray, kind: Type, padding: int, on_change: Callable[[np.ndarray], None]) -> PackedBytes:
    """Return the elements of an array packed into bytes, of i8 for signed integers.

    ``padding``: the bits of the last byte after the last element. ``on_change`` is called with the changed bytes.
    """
    content = pack(array, kind)
    content[-1:] |= np.uint8(padding)
    data = content.view(np.int8 if kind.is_integral() and kind.is_signed() else np.uint8).view(PackedBytes)
    data._on_change = on_change
    return data
