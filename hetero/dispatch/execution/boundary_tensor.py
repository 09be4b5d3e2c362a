"""BoundaryTensor: a tensor in host memory between steps that holds memory only while it is needed.

ReadOnlyTensor is the view of a tensor that is bound to the steps that read it. Outputs that a device leaves unwritten
are detected, so that old memory is not passed on as a result: before a step the first elements of each of its outputs
are overwritten with a pattern. If they are the same afterwards, the device did not write the output. The cost is a copy
of a few bytes.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.core.containers import ElementType, box
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.dispatch.cutting.plan import smallest_shape
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
    return row[: max(len(PATTERNS[0]) // data.itemsize, 1)]


def write_pattern(elements: np.ndarray, pattern: bytes) -> None:
    """Overwrite elements that ``first_elements`` returned."""
    elements[...] = _as_elements(pattern, elements.dtype)[: len(elements)]


def holds_pattern(elements: np.ndarray, pattern: bytes) -> bool:
    """Return whether elements are as ``write_pattern`` left them; False if there are none."""
    if elements.dtype.kind in "OU":
        pattern = _as_elements(pattern, elements.dtype)[: len(elements)].tobytes()
    return len(elements) > 0 and elements.tobytes() == pattern[: elements.nbytes]


@functools.cache
def _as_elements(pattern: bytes, dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "U":  # characters for private use, as many as a string has room for
        return np.array(["".join(chr(0xF0000 + byte) for byte in pattern)] * len(pattern), dtype)
    if dtype.kind == "O":  # the box of a sequence or an optional: a list that is no other one
        return box([])[np.newaxis]
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
            is_number = self._elements.dtype.kind not in "OU"
            # No string or list equals the pattern by chance.
            self.marked_bytes = self._elements.nbytes if is_number else len(self._elements) * len(pattern)
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


class BoundaryTensor(Tensor):
    """A tensor that allocates memory on first use and frees it in ``release``, with its contents.

    It is the output of the step that writes it. Readers have a ReadOnlyTensor of it.
    """

    def __init__(self, kind: Type, shape: Sequence[int]) -> None:
        self._kind, self._dtype = kind, kind.to_dtype()
        self._element_type = kind
        self._shape = self._first_shape = tuple(shape)
        self._array: np.ndarray | None = None
        self._pattern = b""
        self._marked: np.ndarray | None = None  # the elements with the pattern
        self._whole, self._owns_memory = None, True

    @property
    def array(self) -> np.ndarray:
        if self._array is None:
            self._array = np.empty(self._shape, self._dtype)
            if self._pattern:
                self._marked = first_elements(self._array)
                write_pattern(self._marked, self._pattern)
        return self._array

    @property
    def lengths(self) -> tuple[int, ...]:
        return self._shape

    def has(self, kind: ElementType, lengths: tuple[int, ...] | None) -> bool:
        return self._element_type is kind and self._shape == lengths

    def set_shape(self, shape: Sequence[int]) -> None:
        if tuple(shape) != self._shape:
            self._shape, self._array = tuple(shape), None

    def take(self, array: np.ndarray) -> None:
        # A type that differs is kept, so that the check of the device's outputs reports it.
        self._element_type = self._kind if array.dtype == self._dtype else Type(array.dtype)
        self._shape, self._array, self._marked = array.shape, array, None

    def release(self) -> None:
        self._array = self._marked = None

    def mark(self, pattern: bytes) -> None:
        """Free the memory, and write a pattern to the memory that is allocated next."""
        self._array = self._marked = None
        self._shape, self._pattern = self._first_shape, pattern

    @property
    def marked_bytes(self) -> int:
        """The number of bytes with the pattern; that of a whole pattern if no memory was allocated since ``mark``."""
        return len(self._pattern) if self._marked is None else self._marked.nbytes

    def is_valid(self) -> bool:
        """Return whether the tensor was written since ``mark``, with its first type and shape.

        False for the other shapes of a dynamic output, which take the full checks.
        """
        return (
            (array := self._array) is not None
            and array.shape == self._first_shape
            and array.dtype == self._dtype
            and (self._marked is None or not holds_pattern(self._marked, self._pattern))
        )

    def is_unwritten(self) -> bool:
        """Return whether nothing was written since ``mark``. A tensor without elements was given another shape."""
        if self._array is None:
            return 0 not in self._shape
        return self._marked is not None and holds_pattern(self._marked, self._pattern)


class ReadOnlyTensor(Tensor):
    """Another tensor, whose contents cannot be changed through this one.

    Writing to ``array`` or ``data`` raises ValueError, as numpy does for read-only arrays. So a device that writes to
    its inputs fails and does not damage what other steps or the user read.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._whole, self._owns_memory = None, False

    @property
    def array(self) -> np.ndarray:
        view = self._tensor.array.view()
        # By position, which the stub does not allow: by keyword, the call takes three times as long.
        view.setflags(False)  # type: ignore[call-arg]
        return view

    @property
    def element_type(self) -> ElementType:
        return self._tensor.element_type

    @property
    def lengths(self) -> tuple[int, ...]:
        return self._tensor.lengths

    def has(self, kind: ElementType, lengths: tuple[int, ...] | None) -> bool:
        return self._tensor.has(kind, lengths)

    def set_shape(self, shape: Sequence[int]) -> None:
        """Raise ValueError if the shape differs from the present one."""
        if tuple(shape) != self.lengths:
            raise ValueError(f"an input of the shape {list(self.shape)} is read-only and cannot take {list(shape)}")

    def __dlpack__(self, **arguments: Any) -> Any:
        # DLPack before version 1 has no read-only flag, and numpy refuses to export a read-only array.
        return self._tensor.__dlpack__(**arguments)
