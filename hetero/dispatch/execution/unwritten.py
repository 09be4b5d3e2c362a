"""Detect outputs that a device leaves unwritten, so that old memory is not passed on as a result.

Before a step the first elements of each of its outputs are overwritten with a pattern. If they are the same afterwards,
the device did not write the output. The cost is a copy of a few bytes.
"""

from __future__ import annotations

import contextlib
import functools

import numpy as np

from hetero.core.tensor import Tensor
from hetero.dispatch.cutting.boundaries import smallest_shape
from hetero.graph import Output
from hetero.plugin import Region, SharedTensor
from hetero.system.errors import TensorError

# A result may begin with one of the patterns, such as a single int8 of this value, but not with both: the step runs
# again with the second pattern before the device is accused. No byte is 0 or 1, so no element is a valid boolean.
PATTERNS = (bytes(range(0xA3, 0xB3)), bytes(range(0x53, 0x63)))


def first_elements(data: np.ndarray) -> np.ndarray:
    """Return a view of the first elements of the first row of an array, as many as a pattern has bytes for."""
    if not data.size:
        return data.reshape(-1)
    row = data[(0,) * (data.ndim - 1)] if data.ndim else data.reshape(1)
    return row[: len(PATTERNS[0]) // data.itemsize]


def write_pattern(elements: np.ndarray, pattern: bytes) -> None:
    """Overwrite elements that ``first_elements`` returned."""
    elements[...] = _as_elements(pattern, elements.dtype)[: len(elements)]


def holds_pattern(elements: np.ndarray, pattern: bytes) -> bool:
    """Return whether elements are as ``write_pattern`` left them; False if there are none."""
    return len(elements) > 0 and elements.tobytes() == pattern[: elements.nbytes]


@functools.cache
def _as_elements(pattern: bytes, dtype: np.dtype) -> np.ndarray:
    return np.frombuffer(pattern, dtype, len(pattern) // dtype.itemsize)


class MarkedOutput:
    """An output of a step in memory that the host sees."""

    def __init__(self, port: Output, tensor: Tensor) -> None:
        self._port, self._tensor = port, tensor
        # The memory of the tensor and the first elements there. Finding the elements takes longer than writing them,
        # so they are kept until the tensor gets other memory.
        self._memory: np.ndarray | Region | None = None
        self._elements = np.empty(0)
        self._pattern = b""
        #: The number of bytes that ``mark`` overwrote.
        self.marked_bytes = 0

    def mark(self, pattern: bytes) -> None:
        """Write a pattern to the tensor. A tensor without elements gets some, unless its memory is the user's."""
        memory = self._tensor.region if isinstance(self._tensor, SharedTensor) else self._tensor.array
        if memory is not self._memory:
            self._memory, self._elements = memory, self._find_elements()
            self.marked_bytes = self._elements.nbytes
        write_pattern(self._elements, pattern)
        self._pattern = pattern

    def _find_elements(self) -> np.ndarray:
        if 0 in self._tensor.shape:
            with contextlib.suppress(TensorError):
                self._tensor.set_shape(smallest_shape(self._port))
        data = self._tensor.array
        # The device cannot write to read-only memory of the user either, and raises its own error.
        return first_elements(data if data.flags.writeable else data.reshape(-1)[:0])

    def is_valid(self) -> bool:
        """Return False: whether the output was written, with a type and shape that fit, takes the full checks."""
        return False

    def is_unwritten(self) -> bool:
        """Return whether the tensor is as ``mark`` left it."""
        if not holds_pattern(self._elements, self._pattern):
            return False
        self._memory = None
        # The tensor may have got other memory.
        return holds_pattern(first_elements(self._tensor.array), self._pattern)


class UnmarkedOutput:
    """An output of a step that is not checked for being written: in memory of a device, or in that of an input."""

    marked_bytes = 0

    def mark(self, pattern: bytes) -> None:
        """Do nothing."""

    def is_valid(self) -> bool:
        """Return False, as type and shape take the full checks."""
        return False

    def is_unwritten(self) -> bool:
        return False
