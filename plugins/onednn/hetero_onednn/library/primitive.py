"""Primitives: the computations of oneDNN, with their attributes and the memory descriptors of their values."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakValueDictionary

from hetero.core.types import Type
from hetero.graph import Output
from hetero_onednn.library import api
from hetero_onednn.library.api import (
    ANY,
    Argument,
    DataType,
    Dims,
    Handle,
    OneDnnError,
    Query,
    call,
    create,
    dims,
    function,
)
from hetero_onednn.library.threads import openmp_threads


@dataclass(frozen=True)
class EltwiseOp:
    """A function of one operand."""

    algorithm: api.Eltwise
    alpha: float = 0.0
    beta: float = 0.0


@dataclass(frozen=True)
class BinaryOp:
    """A function of the running value, its first operand, and another value, which is broadcast."""

    algorithm: api.Binary
    operand: Output


@dataclass(frozen=True)
class PReluOp:
    """PRelu; ``slope`` is broadcast."""

    slope: Output


PostOp = EltwiseOp | BinaryOp | PReluOp


class _PostOps(Handle):
    destroyer = "post_ops_destroy"


class _OwnAttributes(Handle):
    destroyer = "primitive_attr_destroy"


class Attributes:
    """What dnnl_primitive_attr_t says: post-ops, with the descriptors of their operands, and scales of integers."""

    def __init__(self, post_ops: Sequence[tuple[PostOp, Descriptor | None]] = ()) -> None:
        # Operands by their descriptors alone, so that equal attributes have equal keys.
        self._post_ops = [
            (op, None) if isinstance(op, EltwiseOp) else (getattr(op, "algorithm", None), operand)
            for op, operand in post_ops
        ]
        self._quantization: tuple[int, bool] | None = None

    def set_quantization(self, weights_mask: int, has_zero_point: bool) -> None:
        """Let the primitive read integers with scales: one for the data, and those of the weights along some axes."""
        self._quantization = weights_mask, has_zero_point

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal attributes; 0 and -0 are not equal."""
        post_ops = (
            (op.algorithm, str(op.alpha), str(op.beta)) if isinstance(op, EltwiseOp) else (op, operand)
            for op, operand in self._post_ops
        )
        return *post_ops, self._quantization

    def made(self) -> Handle:
        """Return them as an object of the library. Scratchpads are the caller's."""
        made = _OwnAttributes(create("primitive_attr_create"))
        call("primitive_attr_set_scratchpad_mode", made.handle, api.USER_SCRATCHPAD)
        if self._quantization is not None:
            weights_mask, has_zero_point = self._quantization
            call("primitive_attr_set_scales_mask", made.handle, Argument.src, 0)
            call("primitive_attr_set_scales_mask", made.handle, Argument.weights, weights_mask)
            if has_zero_point:
                call("primitive_attr_set_zero_points_mask", made.handle, Argument.src, 0)
        if self._post_ops:
            chain = _PostOps(create("post_ops_create"))
            for function, operand in self._post_ops:
                if isinstance(function, EltwiseOp):
                    call("post_ops_append_eltwise", chain.handle, function.algorithm, function.alpha, function.beta)
                elif function is not None:
                    assert operand is not None
                    call("post_ops_append_binary", chain.handle, function, operand.handle)
                else:
                    assert operand is not None
                    mask = sum(1 << axis for axis, length in enumerate(operand.dims) if length > 1)
                    call("post_ops_append_prelu", chain.handle, mask)
            call("primitive_attr_set_post_ops", made.handle, chain.handle)
        return made


def operand_argument(index: int, op: PostOp) -> int:
    """Return the argument of the operand of a post-op, by its index among all post-ops."""
    return Argument.post_op * (index + 1) | (Argument.weights if isinstance(op, PReluOp) else Argument.src_1)


DATA_TYPES = {
    Type.f32: DataType.f32, Type.f16: DataType.f16, Type.bf16: DataType.bf16, Type.i32: DataType.s32,
    Type.i8: DataType.s8, Type.u8: DataType.u8,
}  # fmt: skip
ELEMENT_SIZES = {
    DataType.f32: 4, DataType.s32: 4, DataType.f16: 2, DataType.bf16: 2, DataType.s8: 1, DataType.u8: 1,
}  # fmt: skip
# Format tags of channel blocks, such as nChw16c, by block size and rank.
_CHANNEL_BLOCKS = {4: {3: 60, 4: 84, 5: 128}, 8: {3: 69, 4: 102, 5: 142}, 16: {3: 56, 4: 78, 5: 121}}


#: The number of descriptors of each kind that are kept.
MAX_KNOWN = 1 << 12


class Descriptor(Handle):
    """A memory descriptor; it does not change. Equal ones describe the same elements in the same layout."""

    destroyer = "memory_desc_destroy"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
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
    def canonical(self) -> Descriptor:
        """The same elements at the same places, in the form that ``strided`` returns."""
        return strided(self.dims, self.data_type, self.strides) if self.is_strided and not self.offset else self

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
    return _row_major(extended(shape), data_type)


# Layers are alike, and descriptors do not change: equal ones are one, so that what is known of it is found out once.
@lru_cache(MAX_KNOWN)
def _row_major(shape: tuple[int, ...], data_type: DataType) -> Descriptor:
    steps = [1]
    for length in reversed(shape[1:]):
        steps.append(steps[-1] * max(1, length))
    return strided(shape, data_type, steps[::-1])


def strided(shape: Sequence[int], data_type: DataType, steps: Sequence[int]) -> Descriptor:
    """Return the descriptor of elements at these distances, in elements, along each axis.

    Those along axes of length 1 do not matter. They become the extent of the axes after them, as in row-major layout,
    because `binary` writes nothing for some others.
    """
    steps = list(steps)
    for axis in reversed(range(len(shape))):
        if shape[axis] == 1:
            extents = [steps[inner] * shape[inner] for inner in range(axis + 1, len(shape))]
            steps[axis] = max(1, *extents) if extents else 1
    return _with_strides(tuple(shape), data_type, tuple(steps))


@lru_cache(MAX_KNOWN)
def _with_strides(shape: tuple[int, ...], data_type: DataType, steps: tuple[int, ...]) -> Descriptor:
    return Descriptor(create("memory_desc_create_with_strides", len(shape), dims(shape), data_type, dims(steps)))


def ordered(shape: Sequence[int], data_type: DataType, axes: Sequence[int]) -> Descriptor:
    """Return the descriptor of dense elements with this order of axes in memory, the innermost one last.

    Axes of length 1 have strides by that order too, which `concat` compares.
    """
    steps, step = [0] * len(shape), 1
    for axis in reversed(axes):
        steps[axis], step = step, step * max(1, shape[axis])
    return _with_strides(tuple(shape), data_type, tuple(steps))


def channels_last(shape: Sequence[int], data_type: DataType) -> Descriptor:
    """Return the descriptor of dense elements with axis 1 as the innermost one."""
    shape = extended(shape)
    return ordered(shape, data_type, [0, *range(2, len(shape)), *range(1, min(2, len(shape)))]).canonical


def any_layout(shape: Sequence[int], data_type: DataType) -> Descriptor:
    """Return a descriptor for which a primitive chooses the layout."""
    return _with_any_layout(extended(shape), data_type)


@lru_cache(MAX_KNOWN)
def _with_any_layout(shape: tuple[int, ...], data_type: DataType) -> Descriptor:
    return Descriptor(create("memory_desc_create_with_tag", len(shape), dims(shape), data_type, ANY))


def copy_of(handle: int) -> Descriptor:
    """Return a copy of the library's own descriptor."""
    return Descriptor(create("memory_desc_clone", handle))


class PrimitiveDescriptor(Handle):
    """A computation with an implementation and the layouts that it chose."""

    destroyer = "primitive_desc_destroy"

    @property
    def implementation(self) -> str:
        """The name of the implementation, such as ``jit:avx512_core``."""
        text = ctypes.c_char_p()
        call("primitive_desc_query", self.handle, Query.implementation, 0, ctypes.byref(text))
        return (text.value or b"").decode()

    def descriptor(self, what: Query, index: int = 0) -> Descriptor:
        """Return the descriptor of an argument."""
        return copy_of(function("primitive_desc_query_md")(self.handle, what, index))

    @cached_property
    def src(self) -> Descriptor:
        return self.descriptor(Query.src)

    @cached_property
    def weights(self) -> Descriptor:
        return self.descriptor(Query.weights)

    @cached_property
    def dst(self) -> Descriptor:
        return self.descriptor(Query.dst)

    @cached_property
    def primitive(self) -> Primitive:
        """The computation for execution, created once, by the number of threads of the first caller."""
        return Primitive(self)


class Primitive(Handle):
    """A computation that can be executed."""

    destroyer = "primitive_destroy"

    def __init__(self, descriptor: PrimitiveDescriptor) -> None:
        super().__init__(create("primitive_create", descriptor.handle))
        self.implementation = descriptor.implementation
        self.scratchpad = descriptor.descriptor(Query.scratchpad)


class Memory(Handle):
    """Memory at an address, with its descriptor."""

    destroyer = "memory_destroy"

    def __init__(self, descriptor: Descriptor, address: int) -> None:
        super().__init__(create("memory_create", descriptor.handle, api.engine(), address))


# Those in use, by what they were made from: layers are alike, and programs for several shapes have steps in common.
_described: WeakValueDictionary[tuple[Any, ...], PrimitiveDescriptor] = WeakValueDictionary()


def describe(kind: str, *arguments: Any, implementation: str = "") -> PrimitiveDescriptor:
    """Return the descriptor of a primitive of a kind, such as ``matmul``, from the arguments after the engine.

    Lists are numbers by axis, or descriptors of several operands; None is one that is missing. Takes the first
    implementation whose name begins with ``implementation``. Calls with equal arguments by threads of the same OpenMP
    settings return the same object. Raises OneDnnError if oneDNN has no such primitive.
    """
    key = kind, implementation, openmp_threads(), *map(_key, arguments)
    known = _described.get(key)
    if known is None:
        made = [argument.made() if isinstance(argument, Attributes) else argument for argument in arguments]
        engine = () if kind == "reorder" else (api.engine(),)  # a reorder takes one for each side
        known = PrimitiveDescriptor(create(f"{kind}_primitive_desc_create", *engine, *map(_as_c, made)))
        while not known.implementation.startswith(implementation):
            call("primitive_desc_next_impl", known.handle)
        _described[key] = known
    return known


def _key(argument: Any) -> Any:
    if isinstance(argument, Attributes):
        return argument.key
    if isinstance(argument, float):
        return str(argument)  # unlike 0.0 and -0.0
    return tuple(argument) if isinstance(argument, list) else argument


def _as_c(argument: Any) -> Any:
    if isinstance(argument, list):
        descriptors = [item.handle for item in argument if isinstance(item, Descriptor)]
        return (ctypes.c_void_p * len(descriptors))(*descriptors) if descriptors else dims(argument)
    return argument.handle if isinstance(argument, Handle) else argument


def describe_reorder(source: Descriptor, target: Descriptor) -> PrimitiveDescriptor:
    """Return the descriptor of a reorder, which converts layout and element type."""
    return describe("reorder", source, api.engine(), target, api.engine(), Attributes())
