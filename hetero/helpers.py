"""Packing of elements smaller than a byte, like ``openvino.helpers``: the first element is in the highest bits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero.core.packing import pack
from hetero.core.types import Type
from hetero.system.errors import TensorError


def pack_data(array: np.ndarray, type: Type) -> np.ndarray:
    """Return the elements of an array packed into bytes. Raises TensorError unless they have 1, 2 or 4 bits."""
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
