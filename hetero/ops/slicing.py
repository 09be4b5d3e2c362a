"""Operations that take parts of a tensor along its axes: slices and splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero.graph import Attribute, Op, Output, integers
from hetero.graph.node import MAX_OUTPUTS
from hetero.ops.checks import merge_dimensions, normalize_axes, normalize_axis
from hetero.ops.movement import divide_evenly
from hetero.ops.values import exact_value, known_values, tidy
from hetero.shape import Dimension, PartialShape

# Bounds of at least this size stand for "to the end", whatever the length.
ENDLESS = 2**31 - 1

# A bound that is known, known to lie in an interval, or (None) unknown.
Bound = int | Dimension | None


class Part(NamedTuple):
    """What is taken of one axis."""

    start: Bound
    stop: Bound
    step: int | None


class Sliced(Op):
    """What operations on slices share: inputs start, stop, step and perhaps axes from ``first_bound`` on."""

    first_bound = 1

    def sliced_shape(self) -> PartialShape:
        """The shape of the slice of input 0."""
        data = self.get_input_partial_shape(0)
        if not data.has_rank:
            return PartialShape.dynamic()
        if not len(data):
            self.fail("data must have one or more dimensions, but is a scalar")
        axes = self._axes(len(data))
        if axes is None:
            return PartialShape([Dimension(0, dimension.max_length) for dimension in data])
        columns = [bounds_of(self.input_value(index), len(axes)) for index in self._bounds()]
        for index, column in zip(self._bounds(), columns):
            if len(column) != len(axes):
                self.fail(f"{self.inputs_declared[index]} has {len(column)} values for {len(axes)} axes")
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
        """The numpy index for data of this shape and exact values of start, stop, step and perhaps axes."""
        start, stop, step, *axes = (value.reshape(-1).tolist() for value in bounds)
        if 0 in step:
            self.fail("step must not be 0")
        rank = len(shape)
        index = [slice(None)] * rank
        for axis, *part in zip(normalize_axes(self, axes[0], rank) if axes else range(rank), start, stop, step):
            index[axis] = cut(shape[axis], *part)
        return tuple(index)


class Slice(Sliced, opset=8):
    """From ``start`` to ``stop``, which is left out, by ``step``, on each of ``axes`` (default: the first ones)."""

    inputs = ("data", "start", "stop", "step", "axes?")
    shape_inputs = (1, 2, 3, 4)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.sliced_shape())

    def infer_value(self) -> np.ndarray | None:
        return _indexed_value(self, lambda value, bounds: self.index(value.shape, bounds))


class StridedSlice(Op, opset=1):
    """Numpy's basic indexing: masks say where a bound is ignored, an axis is new or removed, or "..." stands."""

    inputs = ("data", "begin", "end", "strides")
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
            self.fail("begin, end and strides must have equally many values")
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
        """What happens to each axis in turn: a Part is taken, None is a new axis, a 1-tuple holds the index it has.

        Raises GraphError for a stride of 0, two ellipses and more axes than there are.
        """
        kinds = [self._kind(place) for place in range(len(begin))]
        taken = sum(kind in ("part", "shrink") for kind in kinds)
        if taken > rank or kinds.count("ellipsis") > 1:
            self.fail(f"it addresses {taken} of {rank} dimensions and has {kinds.count('ellipsis')} ellipses")
        items: list = []
        for place, kind in enumerate(kinds):
            if kind == "ellipsis":
                items += [Part(0, ENDLESS, 1)] * (rank - taken)
            elif kind == "new":
                items.append(None)
            elif kind == "shrink":
                items.append((0 if _is_set(self.begin_mask, place) else begin[place],))
            else:
                items.append(self._part(place, begin[place], end[place], strides[place]))
        return items

    def _kind(self, place: int) -> str:
        if _is_set(self.ellipsis_mask, place):
            return "ellipsis"
        if _is_set(self.new_axis_mask, place):
            return "new"
        return "shrink" if _is_set(self.shrink_axis_mask, place) else "part"

    def _part(self, place: int, start: Bound, stop: Bound, step: Bound) -> Part:
        if step == 0:
            self.fail("strides must not be 0")
        if not isinstance(step, int):
            return Part(None, None, None)
        if _is_set(self.begin_mask, place):
            start = 0 if step > 0 else ENDLESS
        if _is_set(self.end_mask, place):
            stop = ENDLESS if step > 0 else -ENDLESS - 1
        return Part(start, stop, step)

    def index(self, shape: Sequence[int], bounds: Sequence[np.ndarray]) -> tuple[slice | int | None, ...]:
        """The numpy index for data of this shape and exact values of begin, end and strides."""
        index: list[slice | int | None] = []
        axis = 0
        for item in self.items(len(shape), *(value.reshape(-1).tolist() for value in bounds)):
            if item is None:
                index.append(None)
                continue
            if isinstance(item, Part):
                index.append(cut(shape[axis], *item))
            else:  # an index beyond the ends means the element at the end
                length, place = shape[axis], item[0]
                index.append(min(max(place + length if place < 0 else place, 0), length - 1))
            axis += 1
        return tuple(index)

    def infer_value(self) -> np.ndarray | None:
        return _indexed_value(self, lambda value, bounds: self.index(value.shape, bounds))


class Split(Op, opset=1):
    """``num_splits`` equal parts along ``axis``."""

    inputs = ("data", "axis")
    shape_inputs = (1,)
    num_splits = Attribute(int)

    def validate_and_infer_types(self) -> None:
        if self.num_splits < 1:
            self.fail(f"num_splits must be positive, but is {self.num_splits}")
        data, axis = self.get_input_partial_shape(0), split_axis(self)
        shape = PartialShape.dynamic(data.rank)
        if axis is not None:
            dimension = data[axis]
            if dimension.is_static and dimension.get_length() % self.num_splits:
                self.fail(f"dimension {axis} of data {data} cannot be split into {self.num_splits} equal parts")
            shape = PartialShape([*data[:axis], divide_evenly(dimension, self.num_splits), *data[axis + 1 :]])
        self.set_output_size(self.num_splits)
        for index in range(self.num_splits):
            self.set_output_type(index, self.get_input_element_type(0), shape)

    def infer_values(self) -> list[np.ndarray | None]:
        return _split_values(self)


class VariadicSplit(Op, opset=1):
    """Parts of ``split_lengths`` along ``axis``; one length may be -1 and takes what is left."""

    inputs = ("data", "axis", "split_lengths")
    shape_inputs = (1, 2)

    def validate_and_infer_types(self) -> None:
        count = self.get_input_partial_shape(2).element_count()
        if count.is_dynamic:
            self.fail("the number of split_lengths must be known: it is the number of outputs")
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
        """The lengths, -1 replaced by what the others leave of the total. Raises GraphError where they do not fit."""
        if any(isinstance(length, int) and length < -1 for length in lengths) or list(lengths).count(-1) > 1:
            self.fail(f"split_lengths {list(lengths)} may hold lengths and one -1")
        others = sum((Dimension() if length is None else length for length in lengths if length != -1), Dimension(0))
        if -1 not in lengths:
            merge_dimensions(self, (total, others), "the dimension and the sum of split_lengths")
        elif total.max_length != -1 and others.min_length > total.max_length:
            self.fail(f"split_lengths {list(lengths)} take more than the {total} elements of the axis")
        return [total - others if length == -1 else length for length in lengths]

    def infer_values(self) -> list[np.ndarray | None]:
        return _split_values(self)


def cut(length: int, start: int, stop: int, step: int) -> slice:
    """The slice of an axis of this length: numpy's, but with a negative step it begins at the first element at least.

    Where numpy finds nothing before the beginning, OpenVINO and ONNX Runtime thus find the first element.
    """
    return slice(max(start, -length) if step < 0 else start, stop, step)


def sliced(length: Dimension, part: Part) -> Dimension:
    """The length of a slice of an axis."""
    if part.start is None or part.stop is None or part.step is None:
        return Dimension(0, length.max_length)
    start, stop = _ends(part.start), _ends(part.stop)
    # A later start makes it shorter and a later stop longer, or with a negative step the other way round.
    if part.step > 0:
        corners = (start[1], stop[0]), (start[0], stop[1])
    else:
        corners = (start[0], stop[1]), (start[1], stop[0])
    shortest, longest = (_sliced_exactly(length, *corner, part.step) for corner in corners)
    return Dimension(min(shortest.min_length, longest.min_length), longest.max_length)


def _ends(bound: int | Dimension) -> tuple[int, int]:
    """The smallest and the largest number that a bound may be."""
    if isinstance(bound, int):
        return bound, bound
    return bound.min_length, ENDLESS if bound.max_length == -1 else bound.max_length


def _sliced_exactly(length: Dimension, start: int, stop: int, step: int) -> Dimension:
    """The length of a slice between known bounds."""
    start, stop = (bound if abs(bound) < ENDLESS else bound << 32 for bound in (start, stop))

    def count(place: int) -> int:
        return len(range(*cut(place, start, stop, step).indices(place)))

    # Between these lengths, where a bound begins to matter, the count of elements only grows or only falls.
    turns = [abs(bound) for bound in (start, stop) if abs(bound) < ENDLESS << 32]
    turns.append(sum(turns))
    beyond = sum(turns) + length.min_length + 2 * abs(step) + 2
    bounded = length.max_length != -1
    last = length.max_length if bounded else beyond
    places = {length.min_length, last}
    for turn in turns:
        places.update(place for place in range(turn - 1, turn + 2) if length.min_length <= place <= last)
    counts = [count(place) for place in places]
    grows = not bounded and count(beyond + 2 * abs(step)) > count(beyond)
    return Dimension(min(counts), -1 if grows else max(counts))


def bounds_of(source: Output, count: int) -> list[Bound]:
    """The values of a 1-D input as far as they are known; ``count`` unknown ones when nothing is.

    Raises GraphError if there are more than any operation takes.
    """
    if count > MAX_OUTPUTS:
        source.node.fail(f"it holds {count} bounds or lengths, only up to {MAX_OUTPUTS} are possible")
    return [None] * count if source.value is None else source.value.reshape(-1).tolist()


def split_axis(node: Op) -> int | None:
    """The axis of a split, counted from the front; None while it or the rank is not known."""
    data, axis = node.get_input_partial_shape(0), exact_value(node.input_value(1))
    if data.has_rank and not len(data):
        node.fail("data must have one or more dimensions, but is a scalar")
    if axis is not None and axis.size != 1:
        node.fail(f"axis must be one number, but has {axis.size}")
    if axis is None or not data.has_rank:
        return None
    return normalize_axis(node, int(axis.reshape(-1)[0]), len(data))


def _is_set(mask: Sequence[int], place: int) -> bool:
    return place < len(mask) and mask[place] == 1


def _indexed_value(node: Op, index) -> np.ndarray | None:
    """The known value of input 0 at ``index(value, bounds)``, where the bounds are known exactly."""
    values = known_values(node.input_values()[:1])
    bounds = [exact_value(source) for source in node.input_values()[1:]]
    if values is None or any(bound is None for bound in bounds) or not values[0].size:
        return None
    # The trailing ellipsis makes an array even of a single element.
    return tidy(values[0][(*index(values[0], bounds), ...)])


def _split_values(node: Op) -> list[np.ndarray | None]:
    """What is known of the contents of every part."""
    values, axis = known_values(node.input_values()[:1]), split_axis(node)
    shapes = [output.partial_shape for output in node.outputs()]
    if values is None or axis is None or not all(shape.is_static for shape in shapes):
        return [None] * len(shapes)
    ends = np.cumsum([shape[axis].get_length() for shape in shapes])
    return [tidy(part) for part in np.split(values[0], ends[:-1], axis)]
