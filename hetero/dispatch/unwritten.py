"""Detect outputs that a device leaves unwritten, so that old memory is not passed on as a result.

Before a step the first elements of each of its outputs are overwritten with a pattern; if they are the same afterwards,
the device did not write the output. The cost is a copy of a few bytes.
"""

from __future__ import annotations

import contextlib
import functools

import numpy as np

from hetero.dispatch.boundaries import smallest_shape
from hetero.errors import TensorError
from hetero.graph import Output
from hetero.tensor import Tensor

# A result may begin with one of them, such as a single int8 of this value, but not with both: the device is run again
# with the second pattern before it is accused. No byte is 0 or 1, so that none is a boolean.
PATTERNS = (bytes(range(0xA3, 0xB3)), bytes(range(0x53, 0x63)))


def write_pattern(data: np.ndarray, pattern: bytes) -> int:
    """Overwrite as many of the first elements of an array as the pattern has bytes for. Return the number of bytes."""
    values = _elements(pattern, data.dtype)
    if data.size < len(values):
        values = values[: data.size]
    data.flat[: len(values)] = values
    return values.nbytes


def begins_with(data: np.ndarray, pattern: bytes) -> bool:
    """Return whether an array begins with these bytes; False if there are none."""
    return pattern != b"" and data.flat[: len(pattern) // data.itemsize].tobytes() == pattern


@functools.cache
def _elements(pattern: bytes, dtype: np.dtype) -> np.ndarray:
    return np.frombuffer(pattern, dtype, len(pattern) // dtype.itemsize)


class MarkedOutput:
    """An output of a step in memory that the host sees."""

    def __init__(self, port: Output, tensor: Tensor) -> None:
        self._port, self._tensor = port, tensor
        self._written = b""

    def mark(self, pattern: bytes) -> None:
        """Write a pattern to the tensor. One without elements gets some, unless its memory is the user's."""
        data = self._tensor.data
        if not data.size:
            with contextlib.suppress(TensorError):
                self._tensor.set_shape(smallest_shape(self._port))
            data = self._tensor.data
        # To read-only memory of the user's the device cannot write either, and says so itself.
        self._written = pattern[: write_pattern(data, pattern)] if data.flags.writeable else b""

    def is_unwritten(self) -> bool:
        """Return whether the tensor is as ``mark`` left it."""
        return begins_with(self._tensor.data, self._written)
