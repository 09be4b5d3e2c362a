"""BoundaryTensor: a tensor in host memory between steps, which keeps its memory between inferences.

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
from hetero.dispatch.cutting.plan import MIN_RELEASED, smallest_shape
from hetero.graph import Output
from hetero.plugin import Region, RemoteTensor, SharedTensor
from hetero.system.errors import TensorError

# A result may begin with one of the patterns, such as a single int8 of this value, but not with both: the step runs
# again with the second pattern before the device is accused. No byte is 0 or 1, so no element is a valid boolean.
PATTERNS = (bytes(range(0xA3, 0xB3)), bytes(range(0x53, 0x63)))


class Mark:
    """The first elements of the first row of an array, as many as a pattern has bytes for, and both patterns there.

    Finding the elements takes longer than writing them, so they are kept as long as the array is.
    """

    __slots__ = ("byte_count", "elements", "expected", "patterns")

    def __init__(self, data: np.ndarray) -> None:
        row = data[(0,) * (data.ndim - 1)] if data.size and data.ndim else data.reshape(-1)
        self.elements = row[: max(len(PATTERNS[0]) // data.itemsize, 1)]
        kind, count = data.dtype.kind, len(self.elements)
        self.patterns = [_as_elements(pattern, data.dtype)[:count] for pattern in PATTERNS]
        #: The bytes of the elements with each pattern. An array without elements holds none.
        self.expected = [pattern.tobytes() if count else None for pattern in self.patterns]
        #: The number of bytes that are overwritten. No string or list equals the pattern by chance.
        self.byte_count = count * len(PATTERNS[0]) if kind in "OU" else self.elements.nbytes


@functools.cache
def _as_elements(pattern: bytes, dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "U":  # characters for private use, as many as a string has room for
        return np.array(["".join(chr(0xF0000 + byte) for byte in pattern)] * len(pattern), dtype)
    if dtype.kind == "O":  # the box of a sequence or an optional: a list that is no other one
        return box([])[np.newaxis]
    whole = len(pattern) // dtype.itemsize * dtype.itemsize
    return np.frombuffer(pattern[:whole], dtype)


class MarkedOutput:
    """An output of a step in memory that the host sees, other than a BoundaryTensor."""

    def __init__(self, port: Output, tensor: Tensor) -> None:
        self._port, self._tensor = port, tensor
        self._is_shared = isinstance(tensor, SharedTensor)
        self._memory: np.ndarray | Region | None = None  # what is marked
        self._fits = False  # whether its type and shape fit the port
        self._mark = Mark(np.empty(0))
        self._number = 0

    @property
    def marked_bytes(self) -> int:
        """The number of bytes that ``mark`` overwrote."""
        return self._mark.byte_count

    def mark(self, number: int) -> None:
        """Write a pattern to the tensor. A tensor without elements gets some, unless its memory is the user's."""
        tensor: Any = self._tensor
        if (tensor.region if self._is_shared else tensor.array) is not self._memory:
            self._find_elements()
        self._number = number
        self._mark.elements[...] = self._mark.patterns[number]

    def _find_elements(self) -> None:
        if 0 in self._tensor.shape:
            with contextlib.suppress(TensorError):
                self._tensor.set_shape(smallest_shape(self._port))
        data = self._tensor.array
        # The device cannot write to read-only memory of the user either, and raises its own error.
        self._mark = Mark(data if data.flags.writeable else data.reshape(-1)[:0])
        self._memory = self._tensor.region if isinstance(self._tensor, SharedTensor) else data
        self._fits = self._port.is_as_before(self._tensor)

    def is_valid(self) -> bool:
        """Return whether the output was written where the mark is; False for other memory, which takes the full check.

        The memory was checked when it was found, so its identity is enough.
        """
        tensor: Any = self._tensor
        return (
            self._fits
            and (tensor.region if self._is_shared else tensor.array) is self._memory
            and self._mark.elements.tobytes() != self._mark.expected[self._number]
        )

    def is_unwritten(self) -> bool:
        """Return whether the tensor is as ``mark`` left it."""
        expected = self._mark.expected[self._number]
        if self._mark.elements.tobytes() != expected:
            return False
        self._memory = None
        # The tensor may have got other memory.
        return Mark(self._tensor.array).elements.tobytes() == expected


class UnmarkedOutput:
    """An output of a step of which only type and shape are checked.

    It is in memory of a device or in that of an input, or the device promises to write it.
    """

    marked_bytes = 0

    def __init__(self, port: Output, tensor: Tensor) -> None:
        self._port, self._tensor = port, tensor
        self._region: Region | None = None  # that of a tensor in device memory when it was checked last

    def mark(self, number: int) -> None:
        """Do nothing."""

    def is_valid(self) -> bool:
        """Return whether type and shape fit the port for certain; else they take the full check."""
        tensor: Any = self._tensor
        region = tensor.region if isinstance(tensor, (RemoteTensor, SharedTensor)) else None
        if region is None or region is not self._region:
            if not self._port.is_as_before(tensor):
                return False
            self._region = region
        return True

    def is_unwritten(self) -> bool:
        return False


class HostMemory:
    """A slot in host memory for values of known size that are used one after the other. It is allocated on first use.

    A device that gives arrays of its own by ``Tensor.take`` may never use it.
    """

    def __init__(self, byte_size: int) -> None:
        self._byte_size = byte_size
        self._bytes: np.ndarray | None = None

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return an array at the start of the memory."""
        if self._bytes is None:
            self._bytes = np.empty(self._byte_size, np.uint8)
        return np.ndarray(shape, dtype, self._bytes)


class BoundaryTensor(Tensor):
    """A tensor that allocates memory on first use, in ``slot`` if given, and keeps it while the shape is the same.

    It is the output of the step that writes it. Readers have a ReadOnlyTensor of it. Large arrays are dropped in
    ``release``, unless they are in the slot, and all arrays in ``mark`` if ``is_lent``: a sequence may hold them.
    """

    def __init__(self, kind: Type, shape: Sequence[int], slot: HostMemory | None = None, is_lent: bool = False) -> None:
        self.is_lent = is_lent
        self._kind, self._dtype = kind, kind.to_dtype()
        self._element_type: ElementType = kind
        self._shape = self._first_shape = tuple(shape)
        self._slot = slot
        self._home: np.ndarray | None = None  # the array that was allocated last
        # The same if it is small and has the first shape: then ``take`` copies to it, as readers would have to bind
        # another address, which takes longer.
        self._target: np.ndarray | None = None
        self._mark = Mark(np.empty(0))  # that of ``_home``
        #: The array, None if it was neither read nor written since ``mark``.
        self.present: np.ndarray | None = None
        self._is_marked = False  # whether the array is not known to be written
        self._number = 0
        #: Whether another type or shape raises at once, as no check follows.
        self.is_fixed = False
        self._whole, self._owns_memory = None, True

    @property
    def array(self) -> np.ndarray:
        if self.present is None:
            if self._home is None or self._home.shape != self._shape:
                self._allocate()
            self.present, self._is_marked = self._home, True
            self._mark.elements[...] = self._mark.patterns[self._number]
        return self.present  # type: ignore[return-value]

    def _allocate(self) -> None:
        is_in_slot = self._slot is not None and self._shape == self._first_shape
        make = self._slot.array if self._slot is not None and is_in_slot else np.empty
        self._home = make(self._shape, self._dtype)
        self._mark = Mark(self._home)
        self._target = self._home if self._shape == self._first_shape and not _is_large(self._home) else None

    @property
    def lengths(self) -> tuple[int, ...]:
        return self._shape

    @property
    def is_kept(self) -> bool:
        """Whether the next inference uses the present array again."""
        is_small = not (self.is_lent or _is_large(self.present))
        return self.present is self._home and (self._slot is not None or is_small)

    def has(self, kind: ElementType, lengths: tuple[int, ...] | None) -> bool:
        return self._element_type is kind and self._shape == lengths

    def set_shape(self, shape: Sequence[int]) -> None:
        if tuple(shape) != self._shape:
            if self.is_fixed:
                self._refuse(self._kind, tuple(shape))
            self._shape, self.present = tuple(shape), None

    def take(self, array: np.ndarray) -> None:
        target = self._target
        if target is not None and array.shape == self._first_shape and array.dtype is self._dtype:
            target[...] = array
            self.present, self._shape = target, self._first_shape
            self._element_type, self._is_marked = self._kind, False
            return
        fits = array.shape == self._first_shape and array.dtype == self._dtype
        if self.is_fixed and not fits:
            self._refuse(Type(array.dtype), array.shape)
        # A type that differs is kept, so that the check of the device's outputs reports it.
        self._element_type = self._kind if array.dtype == self._dtype else Type(array.dtype)
        self.present, self._shape, self._is_marked = array, array.shape, False
        if fits and array.nbytes < MIN_RELEASED:
            self._allocate()
            self.present = self._home
            self._home[...] = array  # type: ignore[index]

    def _refuse(self, kind: Type, shape: tuple[int, ...]) -> None:
        wanted = f"{self._kind}{list(self._first_shape)}"
        raise TensorError(f"an output of {wanted} cannot become {kind}{list(shape)}")

    def release(self) -> None:
        """Free the memory with its contents, unless it is in the slot or small."""
        self.present = None
        if self._slot is None and _is_large(self._home):
            self._home = None

    def mark(self, number: int) -> None:
        """Let the memory have a pattern when it is used next, and the tensor its first shape."""
        self.present, self._shape, self._number = None, self._first_shape, number
        if self.is_lent:
            self._home = self._target = None

    @property
    def marked_bytes(self) -> int:
        """The number of bytes with the pattern; that of a whole pattern if no memory was used since ``mark``."""
        return len(PATTERNS[0]) if self.present is None else self._mark.byte_count

    def is_valid(self) -> bool:
        """Return whether the tensor was written since ``mark``, with its first type and shape.

        False for the other shapes of a dynamic output, which take the full checks.
        """
        array, mark = self.present, self._mark
        return (
            array is not None
            and array.shape == self._first_shape
            and array.dtype == self._dtype
            and not (self._is_marked and mark.elements.tobytes() == mark.expected[self._number])
        )

    def is_unwritten(self) -> bool:
        """Return whether nothing was written since ``mark``. A tensor without elements was given another shape."""
        if self.present is None:
            return 0 not in self._shape
        mark = self._mark
        return self._is_marked and mark.elements.tobytes() == mark.expected[self._number]


def _is_large(array: np.ndarray | None) -> bool:
    return array is not None and array.nbytes >= MIN_RELEASED


class ReadOnlyTensor(Tensor):
    """Another tensor, whose contents cannot be changed through this one.

    Writing to ``array`` or ``data`` raises ValueError, as numpy does for read-only arrays. So a device that writes to
    its inputs fails and does not damage what other steps or the user read.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._boundary = tensor if isinstance(tensor, BoundaryTensor) else None
        # The view of the array that the tensor had last, so that devices find the same object at the same address.
        self._source = self._view = np.empty(0)
        self._whole, self._owns_memory = None, False

    @property
    def array(self) -> np.ndarray:
        boundary = self._boundary
        if boundary is not None and boundary.present is self._source:  # without a call of ``array``
            return self._view
        array = self._tensor.array
        if array is self._source:
            return self._view
        view = array.view()
        # By position, which the stub does not allow: by keyword, the call takes three times as long.
        view.setflags(False)  # type: ignore[call-arg]
        # A view keeps the memory alive, which a boundary may be about to release.
        if boundary is None or boundary.is_kept:
            self._source, self._view = array, view
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
