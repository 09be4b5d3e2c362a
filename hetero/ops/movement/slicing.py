"""Slice, StridedSlice, Split and VariadicSplit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero.core.lengths.length import Length
from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.graph import Attribute, Op, Output, integers
from hetero.graph.node import MAX_OUTPUTS
from hetero.ops.checks import (
    exact_value,
    is_exact,
    is_minus_one,
    known_axis,
    known_values,
    merge_dimensions,
    non_scalar_shape,
    normalize_axes,
    tidy,
)
from hetero.ops.movement.movement import divide_exactly

# Bounds of at least this size mean "to the end" for any length.
TO_THE_END = 2**31 - 1

# A slice bound: exactly known, known to lie in an interval, or unknown (None).
Bound = int | Dimension | None


class Part(NamedTuple):
    """The slice of one axis; step is None if it is not known."""

    start: Bound
    stop: Bound
    step: int | None


class Sliced(Op):
    """Base of operations on slices; the inputs from ``first_bound`` on are start, stop, step and optional axes."""

    first_bound = 1

    def sliced_shape(self) -> PartialShape:
        """Return the shape of the slice of input 0."""
        data = non_scalar_shape(self, 0)
        if not data.has_rank:
            return PartialShape.dynamic()
        axes = self._axes(len(data))
        if axes is None:
            return PartialShape([Dimension(0, dimension.max_length) for dimension in data])
        columns = [bounds_of(self.input_value(index), len(axes)) for index in self._bounds()]
        for index, column in zip(self._bounds(), columns):
            if len(column) != len(axes):
                self.fail(f"{self.input_names[index]} has {len(column)} values for {len(axes)} axes")
        dimensions = list(data)
        for axis, start, stop, step in zip(axes, *columns):
            if step == 0:
                self.fail("step must not be 0")
            dimensions[axis] = sliced(data[axis], Part(start, stop, step if isinstance(step, int) else None))
        return PartialShape(dimensions)

    def _bounds(self) -> range:
        return range(self.first_bound, self.first_bound + 3)

    def _axes(self, rank: int) -> list[int] | None:
        if self.has_input("axes"):
            axes = exact_value(self.input_value(self.first_bound + 3))
            return None if axes is None else normalize_axes(self, axes.reshape(-1).tolist(), rank)
        counts = [self.get_input_partial_shape(index).element_count() for index in self._bounds()]
        count = next((count.get_length() for count in counts if count.is_static), None)
        if count is not None and count > rank:
            self.fail(f"start has {count} values for {rank} dimensions")
        return None if count is None else list(range(count))

    def index(self, shape: Sequence[int], bounds: Sequence[np.ndarray]) -> tuple[slice, ...]:
        """Return the numpy index for data of this shape and the values of start, stop, step and optional axes."""
        start, stop, step, *axes = (value.reshape(-1).tolist() for value in bounds)
        if 0 in step:
            self.fail("step must not be 0")
        rank = len(shape)
        index = [slice(None)] * rank
        for axis, *part in zip(normalize_axes(self, axes[0], rank) if axes else range(rank), start, stop, step):
            index[axis] = cut(shape[axis], *part)
        return tuple(index)


class Slice(Sliced, opset=8):
    """The slice ``start:stop:step`` of the data along each of ``axes``, by default the first axes."""

    input_names = ("data", "start", "stop", "step", "axes?")
    shape_inputs = (1, 2, 3, 4)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.sliced_shape())

    def infer_value(self) -> np.ndarray | None:
        return _indexed_value(self)


class StridedSlice(Op, opset=1):
    """numpy's basic indexing with slices ``begin:end:strides``.

    A mask has a 1 for each position where begin or end is ignored, a new axis is inserted, an axis is indexed and
    removed (shrink), or an ellipsis stands.

    - ``begin_mask``, ``end_mask``: 1 for each position where begin or end is ignored.
    - ``new_axis_mask``: 1 for each position where an axis of length 1 is inserted.
    - ``shrink_axis_mask``: 1 for each position where the axis is indexed by begin and removed.
    - ``ellipsis_mask``: 1 for the position of an ellipsis.
    """

    input_names = ("data", "begin", "end", "strides")
    shape_inputs = (1, 2, 3)
    begin_mask = Attribute(integers)
    end_mask = Attribute(integers)
    new_axis_mask = Attribute(integers, None)
    shrink_axis_mask = Attribute(integers, None)
    ellipsis_mask = Attribute(integers, None)

    def validate_and_infer_types(self) -> None:
        for name in ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask"):
            setattr(self, name, getattr(self, name) or ())
        self.set_output_type(0, self.get_input_element_type(0), self._shape())

    def _shape(self) -> PartialShape:
        data = self.get_input_partial_shape(0)
        counts = [self.get_input_partial_shape(index).element_count() for index in (1, 2, 3)]
        count = next((count.get_length() for count in counts if count.is_static), None)
        if not data.has_rank or count is None:
            return PartialShape.dynamic()
        columns = [bounds_of(self.input_value(index), count) for index in (1, 2, 3)]
        if any(len(column) != count for column in columns):
            self.fail("begin, end and strides must have the same number of values")
        dimensions, axis = [], 0
        for item in self.items(len(data), *columns):
            if item is None:
                dimensions.append(Dimension(1))
                continue
            if isinstance(item, Part):
                dimensions.append(sliced(data[axis], item))
            axis += 1
        return PartialShape([*dimensions, *data[axis:]])

    def items(
        self, rank: int, begin: list[Bound], end: list[Bound], strides: list[Bound]
    ) -> list[Part | tuple[Bound] | None]:
        """Return the index items in order: a Part for a slice, None for a new axis, a 1-tuple with an integer index.

        Raises GraphError for a stride of 0, several ellipses, or more indexed axes than the data has.
        """
        kinds = [self.kind(position) for position in range(len(begin))]
        indexed = sum(kind in ("part", "shrink") for kind in kinds)
        if indexed > rank or kinds.count("ellipsis") > 1:
            self.fail(f"it addresses {indexed} of {rank} dimensions and has {kinds.count('ellipsis')} ellipses")
        items: list[Any] = []
        for position, kind in enumerate(kinds):
            if kind == "ellipsis":
                items += [Part(0, TO_THE_END, 1)] * (rank - indexed)
            elif kind == "new":
                items.append(None)
            elif kind == "shrink":
                items.append((0 if is_set(self.begin_mask, position) else begin[position],))
            else:
                items.append(self._part(position, begin[position], end[position], strides[position]))
        return items

    def kind(self, position: int) -> str:
        if is_set(self.ellipsis_mask, position):
            return "ellipsis"
        if is_set(self.new_axis_mask, position):
            return "new"
        return "shrink" if is_set(self.shrink_axis_mask, position) else "part"

    def _part(self, position: int, start: Bound, stop: Bound, step: Bound) -> Part:
        if step == 0:
            self.fail("strides must not be 0")
        if not isinstance(step, int):
            return Part(None, None, None)
        if is_set(self.begin_mask, position):
            start = 0 if step > 0 else TO_THE_END
        if is_set(self.end_mask, position):
            stop = TO_THE_END if step > 0 else -TO_THE_END - 1
        return Part(start, stop, step)

    def index(self, shape: Sequence[int], bounds: Sequence[np.ndarray]) -> tuple[slice | int | None, ...]:
        """Return the numpy index for data of this shape and the values of begin, end and strides."""
        index: list[slice | int | None] = []
        axis = 0
        items: list[Any] = self.items(len(shape), *(value.reshape(-1).tolist() for value in bounds))
        for item in items:
            if item is None:
                index.append(None)
                continue
            if isinstance(item, Part):
                index.append(cut(shape[axis], *item))  # type: ignore[arg-type]  # all bounds are numbers here
            else:  # an index out of range is clamped to the first or last element
                length, position = shape[axis], item[0]
                index.append(min(max(position + length if position < 0 else position, 0), length - 1))
            axis += 1
        return tuple(index)

    def infer_value(self) -> np.ndarray | None:
        return _indexed_value(self)


class _Splitting(Op):
    """Base of splits of the data along the axis in input 1, into one part per output."""

    def infer_values(self) -> list[np.ndarray | None]:
        values, axis = known_values(self.input_values()[:1]), split_axis(self)
        shapes = [output.partial_shape for output in self.outputs()]
        if values is None or axis is None or not all(shape.is_static for shape in shapes):
            return [None] * len(shapes)
        ends = np.cumsum([shape[axis].get_length() for shape in shapes])
        return [tidy(part) for part in np.split(values[0], ends[:-1], axis)]


class Split(_Splitting, opset=1):
    """The data split into ``num_splits`` equal parts along ``axis``, one per output."""

    input_names = ("data", "axis")
    shape_inputs = (1,)
    num_splits = Attribute(int)

    def validate_and_infer_types(self) -> None:
        if self.num_splits < 1:
            self.fail(f"num_splits must be positive, but is {self.num_splits}")
        data, axis = self.get_input_partial_shape(0), split_axis(self)
        shape = PartialShape.dynamic(data.rank)
        if axis is not None:
            shape = concatenate(data[:axis], [divide_exactly(self, data[axis], self.num_splits)], data[axis + 1 :])
        self.set_output_size(self.num_splits)
        for index in range(self.num_splits):
            self.set_output_type(index, self.get_input_element_type(0), shape)


class VariadicSplit(_Splitting, opset=1):
    """The data split into parts of ``split_lengths`` along ``axis``, one per output.

    One length may be -1, which stands for the remaining elements.
    """

    input_names = ("data", "axis", "split_lengths")
    shape_inputs = (1, 2)

    def validate_and_infer_types(self) -> None:
        count = self.get_input_partial_shape(2).element_count()
        if count.is_dynamic:
            self.fail("the number of split_lengths must be known, as it is the number of outputs")
        if count == 0:
            self.fail("split_lengths must have one or more values")
        data, axis = self.get_input_partial_shape(0), split_axis(self)
        lengths = bounds_of(self.input_value(2), count.get_length())
        if axis is not None:
            lengths = self.part_lengths(data[axis], lengths)
        self.set_output_size(len(lengths))
        for index, length in enumerate(lengths):
            shape = PartialShape.dynamic(data.rank)
            if axis is not None:
                shape = PartialShape([*data[:axis], Dimension() if length is None else length, *data[axis + 1 :]])
            self.set_output_type(index, self.get_input_element_type(0), shape)

    def part_lengths(self, total: Dimension, lengths: Sequence[Bound]) -> list[Bound]:
        """Replace -1 by the remaining length. Raises GraphError if the lengths do not add up to the total."""
        if any(isinstance(length, int) and length < -1 for length in lengths) or sum(map(is_minus_one, lengths)) > 1:
            self.fail(f"split_lengths {list(lengths)} must consist of lengths and at most one -1")
        known = [
            Dimension() if length is None else Dimension.of(length) for length in lengths if not is_minus_one(length)
        ]
        others = sum(known, Dimension(0))
        if not any(map(is_minus_one, lengths)):
            merge_dimensions(self, (total, others), "the dimension and the sum of split_lengths")
        elif total.max_length != -1 and others.min_length > total.max_length:
            self.fail(f"split_lengths {list(lengths)} take more than the {total} elements of the axis")
        return [total - others if is_minus_one(length) else length for length in lengths]


def cut(length: int, start: int, stop: int, step: int) -> slice:
    """Return the slice of an axis of this length for numpy.

    With a negative step, a start before the first element is moved to the first element, as in OpenVINO and ONNX
    Runtime; numpy's slice would be empty.
    """
    return slice(max(start, -length) if step < 0 else start, stop, step)


def sliced(length: Dimension, part: Part) -> Dimension:
    """Return the length of a slice of an axis."""
    if part.start is None or part.stop is None or part.step is None:
        return Dimension(0, length.max_length)
    start, stop = _ends(part.start), _ends(part.stop)
    is_known = length.is_static and start[0] is start[1] and stop[0] is stop[1]
    if is_known and any(isinstance(number, Length) for number in (length.get_length(), start[0], stop[0])):
        return Dimension(length_of_slice(length.get_length(), start[0], stop[0], part.step))
    # With a positive step, a larger start makes the slice shorter and a larger stop makes it longer; with a negative
    # step it is the other way round.
    if part.step > 0:
        corners = (start[1], stop[0]), (start[0], stop[1])
    else:
        corners = (start[0], stop[1]), (start[1], stop[0])
    shortest, longest = (_sliced_exactly(length, *corner, part.step) for corner in corners)
    return Dimension(min(shortest.min_length, longest.min_length), longest.max_length)


def length_of_slice(length: int, start: int, stop: int, step: int) -> int:
    """Return the length of the slice of ``cut``, for numbers and Lengths."""
    first, last = (0, length) if step > 0 else (-1, length - 1)

    def place(bound: int) -> int:
        bound = bound + length if bound < 0 else bound
        return first if bound < first else last if bound > last else bound

    begin, end = place(max(start, -length) if step < 0 else start), place(stop)
    distance = end - begin if step > 0 else begin - end
    return -(-distance // abs(step)) if distance > 0 else 0


def _ends(bound: int | Dimension) -> tuple[int, int]:
    """Return the smallest and the largest value of a bound."""
    if isinstance(bound, int):
        return bound, bound
    return bound.min_length, TO_THE_END if bound.max_length == -1 else bound.max_length


def _sliced_exactly(length: Dimension, start: int, stop: int, step: int) -> Dimension:
    """Return the length of a slice between known bounds of an axis whose length is an interval."""
    start, stop = (bound if abs(bound) < TO_THE_END else bound << 32 for bound in (start, stop))

    def count(axis_length: int) -> int:
        return len(range(*cut(axis_length, start, stop, step).indices(axis_length)))

    # The count is a piecewise monotonic function of the axis length, so its extremes are at the ends of the interval
    # and around the breakpoints, the lengths at which a bound comes into range.
    breakpoints = [abs(bound) for bound in (start, stop) if abs(bound) < TO_THE_END << 32]
    breakpoints.append(sum(breakpoints))
    beyond = sum(breakpoints) + length.min_length + 2 * abs(step) + 2
    bounded = length.max_length != -1
    last = length.max_length if bounded else beyond
    candidates = {length.min_length, last}
    for breakpoint in breakpoints:
        candidates.update(n for n in range(breakpoint - 1, breakpoint + 2) if length.min_length <= n <= last)
    counts = [count(candidate) for candidate in candidates]
    grows = not bounded and count(beyond + 2 * abs(step)) > count(beyond)
    return Dimension(min(counts), -1 if grows else max(counts))


def bounds_of(source: Output, count: int) -> list[Bound]:
    """Return the values of a 1-D input as far as they are known, also of the parts of a Concat; None for others.

    Raises GraphError if there are more than any operation accepts.
    """
    if count > MAX_OUTPUTS:
        source.node.fail(f"it holds {count} bounds or lengths, only up to {MAX_OUTPUTS} are possible")
    if source.value is not None:
        return source.value.reshape(-1).tolist()
    parts = source.node.input_values() if source.node.get_type_name() == "Concat" else []
    shapes = [part.partial_shape for part in parts]
    if all(shape.is_static and len(shape) == 1 for shape in shapes):
        lengths = [shape.to_shape()[0] for shape in shapes]
        if sum(lengths) == count:
            return [bound for part, length in zip(parts, lengths) for bound in bounds_of(part, length)]
    return [None] * count


def split_axis(node: Op) -> int | None:
    """Return the non-negative axis of a split; None if the axis or the rank is not known."""
    return known_axis(node, 1, non_scalar_shape(node, 0))


def is_set(mask: Sequence[int], position: int) -> bool:
    """Return whether a mask, which may be shorter than the axes, has a 1 at a position."""
    return position < len(mask) and mask[position] == 1


def _indexed_value(node: Slice | StridedSlice) -> np.ndarray | None:
    """Return the known value of the slice; None if the data or a bound is not known."""
    values = known_values(node.input_values()[:1])
    bounds = [source.value for source in node.input_values()[1:] if is_exact(source.value)]
    if values is None or len(bounds) < node.get_input_size() - 1 or not values[0].size:
        return None
    # The trailing ellipsis gives an array even for a single element.
    return tidy(values[0][(*node.index(values[0].shape, bounds), ...)])
