"""Memory descriptors: element type, dimensions and layout of a value."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import cached_property

from hetero.core.types import Type
from hetero_onednn.library.api import ANY, DataType, Dims, Handle, OneDnnError, Query, call, create, dims, function

DATA_TYPES = {
    Type.f32: DataType.f32, Type.f16: DataType.f16, Type.bf16: DataType.bf16, Type.i32: DataType.s32,
    Type.i8: DataType.s8, Type.u8: DataType.u8,
}  # fmt: skip
ELEMENT_SIZES = {
    DataType.f32: 4, DataType.s32: 4, DataType.f16: 2, DataType.bf16: 2, DataType.s8: 1, DataType.u8: 1,
}  # fmt: skip
# Format tags of channel blocks, such as nChw16c, by block size and rank.
_CHANNEL_BLOCKS = {4: {3: 60, 4: 84, 5: 128}, 8: {3: 69, 4: 102, 5: 142}, 16: {3: 56, 4: 78, 5: 121}}


class Descriptor(Handle):
    """A memory descriptor; it does not change. Equal ones describe the same elements in the same layout."""

    destroyer = "memory_desc_destroy"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descriptor) and bool(function("memory_desc_equal")(self.handle, other.handle))

    def __hash__(self) -> int:
        return hash((self.dims, self.data_type))

    def _number(self, what: Query) -> int:
        value = ctypes.c_int()
        call("memory_desc_query", self.handle, what, ctypes.byref(value))
        return value.value

    def _dims(self, what: Query) -> tuple[int, ...]:
        pointer = ctypes.POINTER(Dims)()
        call("memory_desc_query", self.handle, what, ctypes.byref(pointer))
        return tuple(pointer.contents[: self.rank])

    @cached_property
    def rank(self) -> int:
        return self._number(Query.rank)

    @cached_property
    def dims(self) -> tuple[int, ...]:
        return self._dims(Query.dims)

    @cached_property
    def data_type(self) -> DataType:
        return DataType(self._number(Query.data_type))

    @cached_property
    def byte_size(self) -> int:
        return function("memory_desc_get_size")(self.handle)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the elements are dense and row-major."""
        return self == plain(self.dims, self.data_type)

    @cached_property
    def is_dense(self) -> bool:
        """Whether the layout has no gaps, except for padding to whole blocks."""
        count = 1
        for length in self._dims(Query.padded_dims):
            count *= length
        return count * ELEMENT_SIZES[self.data_type] == self.byte_size and not self.offset

    @cached_property
    def offset(self) -> int:
        """The index of the first element."""
        value = ctypes.c_int64()
        call("memory_desc_query", self.handle, Query.offset, ctypes.byref(value))
        return value.value

    @cached_property
    def is_strided(self) -> bool:
        """Whether there are no blocks, so that strides say where each element is."""
        return not self._number(Query.inner_block_count)

    def same_places(self, other: Descriptor) -> bool:
        """Return whether each element is at the same place of the memory as by another descriptor of that shape."""
        if self == other:
            return True
        return (
            self.is_strided
            and other.is_strided
            and (self.dims, self.data_type, self.offset) == (other.dims, other.data_type, other.offset)
            and all(length == 1 or a == b for length, a, b in zip(self.dims, self.strides, other.strides))
        )

    @cached_property
    def is_padded(self) -> bool:
        """Whether there is memory beyond the elements, which must stay as it is."""
        return math.prod(self.dims) * ELEMENT_SIZES[self.data_type] != self.byte_size

    @cached_property
    def axes_in_memory(self) -> list[int] | None:
        """The axes from the outermost to the innermost one, None unless the elements are dense."""
        if not self.is_strided or self.is_padded or self.offset:
            return None
        return sorted(range(self.rank), key=lambda axis: (-self.strides[axis], axis))

    def transposed(self, order: Sequence[int]) -> Descriptor:
        """Return the descriptor of the same memory with axis ``order[i]`` as axis i."""
        # The library takes the place of each axis after the permutation.
        places = [list(order).index(axis) for axis in range(len(order))]
        return Descriptor(create("memory_desc_permute_axes", self.handle, (ctypes.c_int * len(places))(*places)))

    def resized(self, shape: Sequence[int], data_type: DataType | None = None) -> Descriptor:
        """Return the descriptor of another shape, or another type, with the same order of axes and the same blocks.

        Blocks of other axes than the channels are replaced by the row-major layout.
        """
        kind = self.data_type if data_type is None else data_type
        blocks = self._number(Query.inner_block_count)
        if self.is_strided:
            return ordered(shape, kind, sorted(range(self.rank), key=lambda axis: (-self.strides[axis], axis)))
        tags = _CHANNEL_BLOCKS.get(self._dims(Query.inner_blocks)[0], {}) if blocks == 1 else {}
        if self.rank in tags and self._dims(Query.inner_axes)[0] == 1:
            return Descriptor(create("memory_desc_create_with_tag", self.rank, dims(shape), kind, tags[self.rank]))
        return plain(shape, kind)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """The distance of neighbors, or of neighboring blocks, along each axis in elements."""
        return self._dims(Query.strides)

    def reshaped(self, shape: Sequence[int]) -> Descriptor | None:
        """Return the descriptor of the same memory in another shape, None if the layout does not allow it."""
        try:
            return Descriptor(create("memory_desc_reshape", self.handle, len(shape), dims(shape)))
        except OneDnnError:
            return None

    def part(self, shape: Sequence[int], offsets: Sequence[int]) -> Descriptor | None:
        """Return the descriptor of a part of the memory, None if the layout does not allow it."""
        try:
            return Descriptor(create("memory_desc_create_submemory", self.handle, dims(shape), dims(offsets)))
        except OneDnnError:
            return None


def extended(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape as oneDNN's: a scalar is a vector of one element."""
    return tuple(shape) or (1,)


def plain(shape: Sequence[int], data_type: DataType) -> Descriptor:
    """Return the descriptor of dense row-major elements."""
    shape = extended(shape)
    steps = [1]
    for length in reversed(shape[1:]):
        steps.append(steps[-1] * max(1, length))
    return strided(shape, data_type, steps[::-1])


def strided(shape: Sequence[int], data_type: DataType, steps: Sequence[int]) -> Descriptor:
    """Return the descriptor of elements at these distances, in elements, along each axis."""
    return Descriptor(create("memory_desc_create_with_strides", len(shape), dims(shape), data_type, dims(steps)))


def ordered(shape: Sequence[int], data_type: DataType, axes: Sequence[int]) -> Descriptor:
    """Return the descriptor of dense elements with this order of axes in memory, the innermost one last."""
    steps, step = [0] * len(shape), 1
    for axis in reversed(axes):
        steps[axis], step = step, step * max(1, shape[axis])
    return strided(shape, data_type, steps)


def channels_last(shape: Sequence[int], data_type: DataType) -> Descriptor:
    """Return the descriptor of dense elements with axis 1 as the innermost one."""
    shape = extended(shape)
    return ordered(shape, data_type, [0, *range(2, len(shape)), *range(1, min(2, len(shape)))])


def any_layout(shape: Sequence[int], data_type: DataType) -> Descriptor:
    """Return a descriptor for which a primitive chooses the layout."""
    shape = extended(shape)
    return Descriptor(create("memory_desc_create_with_tag", len(shape), dims(shape), data_type, ANY))


def copy_of(handle: int) -> Descriptor:
    """Return a copy of the library's own descriptor."""
    return Descriptor(create("memory_desc_clone", handle))
