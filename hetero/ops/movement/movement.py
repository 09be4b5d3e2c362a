"""Operations that rearrange elements or read a shape: Reshape, Transpose, Concat, ShapeOf, DepthToSpace …

Most of them propagate known values (ops/checks.py), so that shapes computed in the graph are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    MAX_VALUE_SIZE,
    check_index_type,
    common_type,
    exact_value,
    is_minus_one,
    is_short,
    known_values,
    merge_dimensions,
    normalize_axis,
    shape_of_value,
    tidy,
    value_of_shape,
)
from hetero.system.errors import GraphError


class _Reshaping(Op):
    """Base of operations that change the shape, but not the order of the elements."""

    def infer_value(self) -> np.ndarray | None:
        return move_known_value(self, np.reshape)


class Reshape(_Reshaping, opset=1):
    """The elements of the data in the shape ``output_shape``.

    One length may be -1: it follows from the number of elements. If ``special_zero`` is set, a 0 copies the dimension
    of the data at the same index.
    """

    input_names = ("node", "output_shape")
    shape_inputs = (1,)
    special_zero = Attribute(bool)

    def validate_and_infer_types(self) -> None:
        pattern = self.input_value(1)
        if pattern.value is None:
            shape = shape_of_value(pattern)
        else:
            shape = self.reshaped(self.get_input_partial_shape(0), pattern.value.reshape(-1).tolist())
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def reshaped(self, shape: PartialShape, pattern: Sequence[int | Dimension]) -> PartialShape:
        """Return the shape after reshaping by a pattern. Raises GraphError if the element counts differ."""
        wildcards = [axis for axis, item in enumerate(pattern) if is_minus_one(item)]
        if len(wildcards) > 1 or any(isinstance(item, int) and item < -1 for item in pattern):
            self.fail(f"output_shape {pattern} must consist of lengths and at most one -1")
        copied = [axis for axis, item in enumerate(pattern) if self.special_zero and item == 0]
        if shape.has_rank and copied and copied[-1] >= len(shape):
            self.fail(f"output_shape {pattern} copies dimension {copied[-1]}, which data {shape} does not have")
        dimensions = [
            self._dimension(shape, axis, item, axis in copied)
            for axis, item in enumerate(pattern)
            if not is_minus_one(item)
        ]
        for axis in wildcards:
            dimensions.insert(axis, Dimension())
        if not shape.has_rank:
            return PartialShape(dimensions)
        # Copied dimensions are equal on both sides, so the products of the others must be equal too.
        before = [d for axis, d in enumerate(shape) if axis not in copied]
        others = [axis for axis in range(len(pattern)) if axis not in copied]
        open_axes = wildcards or [axis for axis in others if dimensions[axis].is_dynamic]
        after = [dimensions[axis] for axis in others if axis not in open_axes[:1]]
        if wildcards:  # without -1, a cancelled length of 0 would leave the other lengths undetermined
            before, after = _cancel(before, after)
        # If the others give no elements, a length that is merely unknown may be any; -1 stands for 1.
        if wildcards or (len(open_axes) == 1 and _count(after) != 0):
            axis = open_axes[0]
            quotient = self._quotient(before, after)
            dimensions[axis] = merge_dimensions(self, (dimensions[axis], quotient), "element counts")
        elif not open_axes and not (count := _count(before)).compatible(_count(after)):
            self.fail(f"data {shape} cannot take the shape {PartialShape(dimensions)}: it has {count} elements")
        return PartialShape(dimensions)

    def _dimension(self, shape: PartialShape, axis: int, item: int | Dimension, copied: bool) -> Dimension:
        source = shape[axis] if shape.has_rank and axis < len(shape) else Dimension()
        item = Dimension.of(item)
        if copied or (item.symbol and item.symbol is source.symbol):
            return source
        if self.special_zero and item.min_length == 0:
            # It may be 0 at run time, which copies the dimension of the data.
            longest = -1 if -1 in (item.max_length, source.max_length) else max(item.max_length, source.max_length)
            return Dimension(0, longest)
        return item

    def _quotient(self, before: list[Dimension], after: list[Dimension]) -> Dimension:
        """Return the factor that ``after`` lacks to have the element count of ``before``."""
        count, rest = _count(before), _count(after)
        if rest == 0:
            return Dimension(1) if count == 0 else Dimension()
        if count.is_static and rest.is_static:
            if count.get_length() % rest.get_length():
                self.fail(f"{count} elements cannot be divided by {rest}")
            return Dimension(count.get_length() // rest.get_length())
        unknown = [d for d in before if d.is_dynamic]
        if len(unknown) == 1 and _count([d for d in before if d.is_static]) == rest:
            return unknown[0]  # with its symbol
        low = 0 if rest.max_length == -1 else -(-count.min_length // rest.max_length)
        high = -1 if count.max_length == -1 else count.max_length // max(rest.min_length, 1)
        return Dimension(low, high if high == -1 else max(low, high))


class SqueezeV1(_Reshaping, type_name="Squeeze", opset=1):
    """The data without its dimensions of length 1: those in ``axes``, or all. Axes of other lengths are kept."""

    input_names = ("data", "axes?")
    shape_inputs = (1,)
    allow_axis_skip = False

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self._shape())

    def _shape(self) -> PartialShape:
        data = self.get_input_partial_shape(0)
        if not data.has_rank:
            return PartialShape.dynamic()
        axes = exact_value(self.input_value(1)) if self.has_input("axes") else np.array([], np.int64)
        if axes is None:
            one = self.get_input_partial_shape(1).element_count() == 1
            return PartialShape.dynamic(len(data) - 1 if one and not self.allow_axis_skip else None)
        if axes.size == 0:
            unsure = any(d.is_dynamic and d.compatible(1) for d in data)
            return PartialShape.dynamic() if unsure else PartialShape([d for d in data if d != 1])
        squeezed = {normalize_axis(self, int(axis), len(data)) for axis in axes.reshape(-1)}
        if self.allow_axis_skip and any(data[axis].is_dynamic and data[axis].compatible(1) for axis in squeezed):
            return PartialShape.dynamic()
        return PartialShape([d for axis, d in enumerate(data) if axis not in squeezed or not d.compatible(1)])


class Squeeze(SqueezeV1, opset=15):
    """Squeeze-1; with ``allow_axis_skip`` an axis of unknown length may be kept, so the output rank is unknown."""

    allow_axis_skip = Attribute(bool, False)


class Unsqueeze(_Reshaping, opset=1):
    """The data with new dimensions of length 1 at ``axes``, which are indices into the output shape."""

    input_names = ("data", "axes")
    shape_inputs = (1,)

    def validate_and_infer_types(self) -> None:
        data, axes = self.get_input_partial_shape(0), exact_value(self.input_value(1))
        shape = PartialShape.dynamic()
        if data.has_rank and axes is not None:
            dimensions = list(data)
            for axis in self.axes_of(axes, len(data)):
                dimensions.insert(axis, Dimension(1))
            shape = PartialShape(dimensions)
        elif data.has_rank and self.get_input_partial_shape(1).element_count() == 1:
            shape = PartialShape.dynamic(len(data) + 1)
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def axes_of(self, axes: np.ndarray, rank: int) -> list[int]:
        """Return the new axes in ascending order, without duplicates, for data of this rank."""
        unique = dict.fromkeys(axes.reshape(-1).tolist())
        full = rank + len(unique)
        return sorted({normalize_axis(self, axis, full) for axis in unique})


class Transpose(Op, opset=1):
    """The data with its dimensions permuted by ``input_order``, or in reverse order if that is empty."""

    input_names = ("data", "input_order")
    shape_inputs = (1,)

    def validate_and_infer_types(self) -> None:
        data, order = self.get_input_partial_shape(0), exact_value(self.input_value(1))
        element_type = self.get_input_element_type(0)
        if order is None:
            return self.set_output_type(0, element_type, PartialShape.dynamic(data.rank))
        axes = order.reshape(-1).tolist()
        if data.has_rank and not axes:
            axes = list(reversed(range(len(data))))
        if axes and sorted(axes) != list(range(len(data) if data.has_rank else len(axes))):
            self.fail(f"input_order {axes} must name each dimension of data {data} once")
        shape = (
            PartialShape([data[axis] for axis in axes]) if data.has_rank else PartialShape.dynamic(len(axes) or None)
        )
        self.set_output_type(0, element_type, shape)

    def infer_value(self) -> np.ndarray | None:
        values, order = known_values(self.input_values()[:1]), exact_value(self.input_value(1))
        if values is None or order is None:
            return None
        return np.transpose(values[0], order.reshape(-1).tolist() or None)


class Concat(Op, opset=1):
    """All inputs concatenated along ``axis``; the other dimensions must be equal.

    - ``nodes``: the tensors.
    """

    input_names = ("*nodes",)
    axis = Attribute(int)

    def validate_and_infer_types(self) -> None:
        if not self.get_input_size():
            self.fail("it needs at least one input")
        element_type = common_type(self, range(self.get_input_size()))
        shapes = [output.partial_shape for output in self.input_values()]
        ranked = [shape for shape in shapes if shape.has_rank]
        if not ranked:
            return self.set_output_type(0, element_type, PartialShape.dynamic())
        if len({len(shape) for shape in ranked}) > 1:
            self.fail(f"its inputs must have the same rank, but are {', '.join(map(str, shapes))}")
        if not len(ranked[0]):
            self.fail("its inputs must not be scalars")
        axis = normalize_axis(self, self.axis, len(ranked[0]))
        dimensions = [merge_dimensions(self, column, "the dimensions other than the axis") if index != axis else
                      sum(column, Dimension(0)) for index, column in enumerate(zip(*ranked))]  # fmt: skip
        if len(ranked) < len(shapes):
            dimensions[axis] = dimensions[axis] + Dimension()
        self.set_output_type(0, element_type, PartialShape(dimensions))

    def infer_value(self) -> np.ndarray | None:
        values = known_values(self.input_values())
        if values is None or sum(value.size for value in values) > MAX_VALUE_SIZE:
            return None
        return tidy(np.concatenate(values, axis=self.axis))


class ShapeOfV1(Op, type_name="ShapeOf", opset=1):
    """The shape of the data as a 1-D i64 tensor."""

    input_names = ("data",)
    output_type = Type.i64

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.output_type, [self.get_input_partial_shape(0).rank])

    def infer_value(self) -> np.ndarray | None:
        value = value_of_shape(self.get_input_partial_shape(0))
        return value if value is None or value.dtype == object else value.astype(self.output_type.to_dtype())


class ShapeOf(ShapeOfV1, opset=3):
    """The shape of the data as a 1-D tensor of ``output_type``, i32 or i64."""

    output_type = Attribute(Type, "i64")

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "output_type")
        super().validate_and_infer_types()


class Identity(Op, opset=16):
    """The data unchanged."""

    input_names = ("data",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def infer_value(self) -> np.ndarray | None:
        return self.input_value(0).value


class _BlockMove(Op):
    """Base of DepthToSpace and SpaceToDepth, with blocks of length b = block_size along each of k spatial axes.

    - ``mode``: the order of the channels: blocks_first has the position in the block before the channel, depth_first
      after it.
    - ``block_size``: the length b of a block along each axis.
    """

    mode = Attribute(choice("blocks_first", "depth_first"))
    block_size = Attribute(int, 1)

    def validate_and_infer_types(self) -> None:
        data = self.get_input_partial_shape(0)
        if self.block_size < 1:
            self.fail(f"block_size must be positive, but is {self.block_size}")
        if data.has_rank and len(data) < 3:
            self.fail(f"data {data} must have a batch, channels and one or more spatial dimensions")
        self.set_output_type(0, self.get_input_element_type(0), self.moved_shape(data) if data.has_rank else data)

    def moved_shape(self, data: PartialShape) -> PartialShape:
        """Return the shape of the output."""
        raise NotImplementedError


class DepthToSpace(_BlockMove, opset=1):
    """Channels moved into blocks: ``[N, C·b^k, spatial…]`` to ``[N, C, b·spatial…]``."""

    input_names = ("node",)

    def moved_shape(self, data: PartialShape) -> PartialShape:
        channels = divide_exactly(self, data[1], self.block_size ** (len(data) - 2))
        return PartialShape([data[0], channels, *(length * self.block_size for length in data[2:])])


class SpaceToDepth(_BlockMove, opset=1):
    """Blocks moved into channels: ``[N, C, b·spatial…]`` to ``[N, C·b^k, spatial…]``."""

    input_names = ("data",)

    def moved_shape(self, data: PartialShape) -> PartialShape:
        spatial = (divide_exactly(self, length, self.block_size) for length in data[2:])
        return PartialShape([data[0], data[1] * self.block_size ** (len(data) - 2), *spatial])


def depth_to_space_blocks(node: DepthToSpace, data: np.ndarray) -> np.ndarray:
    """Return a view in the output's order, with each spatial axis of the output split into two axes."""
    batch, channels, *spatial = data.shape
    size, count = node.block_size, len(spatial)
    blocks, depth = [size] * count, channels // size**count
    # Each block axis is placed after its spatial axis.
    if node.mode == "blocks_first":
        split = data.reshape(batch, *blocks, depth, *spatial)
        block_axes, depth_axis = range(1, count + 1), count + 1
    else:
        split = data.reshape(batch, depth, *blocks, *spatial)
        block_axes, depth_axis = range(2, count + 2), 1
    pairs = [axis for i, block_axis in enumerate(block_axes) for axis in (count + 2 + i, block_axis)]
    return split.transpose(0, depth_axis, *pairs)


def space_to_depth_blocks(node: SpaceToDepth, data: np.ndarray) -> np.ndarray:
    """Return a view in the output's order, with the output's channels split into several axes."""
    batch, channels, *spatial = data.shape
    size, count = node.block_size, len(spatial)
    split = data.reshape(batch, channels, *(part for length in spatial for part in (length // size, size)))
    spatial_axes, block_axes = range(2, 2 + 2 * count, 2), range(3, 3 + 2 * count, 2)
    order = (*block_axes, 1) if node.mode == "blocks_first" else (1, *block_axes)
    return split.transpose(0, *order, *spatial_axes)


def divide_exactly(node: Op, dimension: Dimension, divisor: int) -> Dimension:
    """Return the quotient of a dimension. Raises GraphError if it cannot be a multiple of the divisor."""
    if dimension.is_static and dimension.get_length() % divisor:
        node.fail(f"the length {dimension} must be a multiple of {divisor}")
    return divide_evenly(dimension, divisor)


def divide_evenly(dimension: Dimension, divisor: int) -> Dimension:
    """Return the lengths whose product with the divisor is in the dimension. Raises GraphError if there is none."""
    low = -(-dimension.min_length // divisor)
    high = dimension.max_length if dimension.max_length == -1 else dimension.max_length // divisor
    if high != -1 and high < low:
        raise GraphError(f"no length in {dimension} is a multiple of {divisor}")
    return Dimension(low, high)


def _count(dimensions: list[Dimension]) -> Dimension:
    return PartialShape(dimensions).element_count()


def _cancel(before: list[Dimension], after: list[Dimension]) -> tuple[list[Dimension], list[Dimension]]:
    """Cancel dimensions with the same symbol from both products."""
    after, remaining = list(after), []
    for dimension in before:
        shared = [index for index, d in enumerate(after) if d.symbol and d.symbol is dimension.symbol]
        if shared:
            del after[shared[0]]
        else:
            remaining.append(dimension)
    return remaining, after


def move_known_value(node: Op, move: Callable[[np.ndarray, tuple[int, ...]], np.ndarray]) -> np.ndarray | None:
    """Return ``move(value, shape)`` for the known value of input 0 and the shape of output 0; None if not known."""
    values = known_values(node.input_values()[:1])
    if values is None or not is_short(node.output(0)):
        return None
    return move(values[0], node.get_output_shape(0))
