"""Broadcast, Tile, Pad, Range and OneHot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.core.lengths.length import Length, whole
from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    MAX_VALUE_SIZE,
    check_scalar,
    check_type,
    common_type,
    exact_value,
    is_exact,
    merge_dimensions,
    normalize_axes,
    normalize_axis,
    numpy_or_none,
    shape_of_value,
)
from hetero.ops.movement.movement import move_known_value


class _Broadcast(Op):
    """Base of broadcasts: the output has the element type of the data.

    - ``target_shape``: an integer vector, the shape of the output.
    - ``axes_mapping``: an integer vector, the axis of the output for each axis of the data.
    """

    input_names = ("data", "target_shape", "axes_mapping?")
    shape_inputs = (1, 2)
    broadcast_spec: Any

    def validate_and_infer_types(self) -> None:
        data, target = self.get_input_partial_shape(0), shape_of_value(self.input_value(1))
        self.set_output_type(0, self.get_input_element_type(0), self._shape(data, target))

    def _shape(self, data: PartialShape, target: PartialShape) -> PartialShape:
        if self.broadcast_spec == "bidirectional":
            return data.broadcast(target)
        if not data.has_rank or not target.has_rank:
            return target
        if self.broadcast_spec == "numpy":
            axes = list(range(len(target) - len(data), len(target)))
            if len(data) > len(target):
                self.fail(f"data {data} has more dimensions than target_shape {target}")
        else:
            mapping = exact_value(self.input_value(2))
            if mapping is None:
                return target
            axes = normalize_axes(self, mapping.reshape(-1).tolist(), len(target))
            if axes != sorted(axes):
                self.fail(f"axes_mapping {axes} must be in ascending order")
            if len(axes) != len(data) or len(axes) > len(target):
                self.fail(f"axes_mapping {axes} must name an axis of {target} for each dimension of data {data}")
        dimensions = list(target)
        for axis, dimension in zip(axes, data):
            if not dimension.compatible(1):
                dimensions[axis] = merge_dimensions(self, (dimension, dimensions[axis]), "data and target_shape")
        return PartialShape(dimensions)

    def broadcast_data(self, data: np.ndarray, target: Sequence[int], axes_mapping: np.ndarray | None) -> np.ndarray:
        """Return the data broadcast to the target shape, as a view."""
        if self.broadcast_spec == "bidirectional":
            target = np.broadcast_shapes(data.shape, tuple(target))
        elif self.broadcast_spec == "explicit" and axes_mapping is not None:
            shape = [1] * len(target)
            for axis, length in zip(axes_mapping.reshape(-1).tolist(), data.shape):
                shape[axis] = length
            data = data.reshape(shape)
        return np.broadcast_to(data, tuple(target))

    def infer_value(self) -> np.ndarray | None:
        mapping = exact_value(self.input_value(2)) if self.has_input("axes_mapping") else None
        if self.has_input("axes_mapping") and mapping is None:
            return None
        return move_known_value(self, lambda value, shape: self.broadcast_data(value, shape, mapping))


class Broadcast(_Broadcast, opset=3):
    """The data broadcast to ``target_shape``; in mode explicit, ``axes_mapping`` maps data axes to output axes.

    - ``broadcast_spec``: numpy aligns the last axes, explicit the axes in ``axes_mapping``; bidirectional also
      broadcasts the target shape to the shape of the data.
    """

    broadcast_spec = Attribute(choice("numpy", "explicit", "bidirectional"), "NUMPY", ir="mode")

    def validate_and_infer_types(self) -> None:
        if (self.broadcast_spec == "explicit") != self.has_input("axes_mapping"):
            self.fail("axes_mapping must be given if and only if broadcast_spec is explicit")
        super().validate_and_infer_types()


class BroadcastV1(_Broadcast, type_name="Broadcast", opset=1):
    """Broadcast without mode bidirectional; in mode numpy, axes_mapping is ignored.

    - ``mode``: numpy aligns the last axes, explicit (or none) the axes in ``axes_mapping``.
    """

    mode = Attribute(numpy_or_none, "NUMPY")

    @property
    def broadcast_spec(self) -> str:
        return "explicit" if self.mode == "none" else "numpy"

    def validate_and_infer_types(self) -> None:
        if self.mode == "none" and not self.has_input("axes_mapping"):
            self.fail("mode explicit needs axes_mapping")
        super().validate_and_infer_types()


class Tile(Op, opset=1):
    """The data repeated ``repeats`` times along each dimension; shape and repeats are padded with leading ones."""

    input_names = ("data", "repeats")
    shape_inputs = (1,)

    def validate_and_infer_types(self) -> None:
        data = self.get_input_partial_shape(0)
        repeats = self._repeats()
        if data.has_rank and repeats.has_rank:
            rank = max(len(data), len(repeats))
            padded = ([Dimension(1)] * (rank - len(shape)) + list(shape) for shape in (data, repeats))
            shape = PartialShape([length * times for length, times in zip(*padded)])
        else:
            shape = PartialShape.dynamic()
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def _repeats(self) -> PartialShape:
        exact = exact_value(self.input_value(1))
        return shape_of_value(self.input_value(1)) if exact is None else PartialShape(np.maximum(exact, 0).reshape(-1))

    def infer_value(self) -> np.ndarray | None:
        repeats = exact_value(self.input_value(1))
        if repeats is None:
            return None
        times = np.maximum(repeats, 0).reshape(-1)
        return move_known_value(self, lambda value, _: np.tile(value, times))


class PadV1(Op, type_name="Pad", opset=1):
    """Pad; its specification does not include negative pads, but they are supported.

    - ``pads_begin``, ``pads_end``: integer vectors, how many elements are added before and after each axis.
    - ``arg_pad_value``: a scalar, the value of the padding in mode constant; 0 by default.
    - ``pad_mode``: constant, edge repeats the border, reflect mirrors the data without the border, symmetric with it.
    """

    input_names = ("arg", "pads_begin", "pads_end", "arg_pad_value?")
    shape_inputs = (1, 2)
    parameter_order = ("arg", "pads_begin", "pads_end", "pad_mode", "arg_pad_value")
    pad_mode = Attribute(choice("constant", "edge", "reflect", "symmetric"))

    def validate_and_infer_types(self) -> None:
        element_type = common_type(self, (0, 3) if self.has_input("arg_pad_value") else (0,))
        data = self.get_input_partial_shape(0)
        if not data.has_rank:
            return self.set_output_type(0, element_type, PartialShape.dynamic())
        pads = [self._pads(index, len(data)) for index in (1, 2)]
        dimensions = [self._padded(length, begin, end) for length, begin, end in zip(data, *pads)]
        self.set_output_type(0, element_type, PartialShape(dimensions))

    def _pads(self, index: int, rank: int) -> list[int | Dimension | None]:
        """Return the pads of an input for each axis, None if unknown."""
        value = self.input_value(index).value
        if value is None:
            return [None] * rank
        if value.size != rank:
            self.fail(f"{self.input_names[index]} has {value.size} values for {rank} dimensions")
        return value.reshape(-1).tolist()

    def _padded(self, length: Dimension, begin: int | Dimension | None, end: int | Dimension | None) -> Dimension:
        if begin is None or end is None:
            return Dimension()
        if isinstance(begin, int) and isinstance(end, int):
            self._check_length(length, max(begin, end))
            return length + (begin + end)
        # Numbers last: they may be negative, and a sum that is negative in between would be clamped.
        for pad in sorted((begin, end), key=lambda pad: isinstance(pad, int)):
            length = length + pad
        return length

    def _check_length(self, length: Dimension, pad: int) -> None:
        """Raise GraphError if the dimension is too short for the elements that pad_mode repeats."""
        needed = {"constant": 0, "edge": min(pad, 1), "reflect": pad + 1 if pad > 0 else 0, "symmetric": pad}
        if length.max_length != -1 and length.max_length < needed[self.pad_mode]:
            self.fail(f"pad_mode {self.pad_mode} cannot add {pad} elements to a dimension of {length}")


class Pad(PadV1, opset=12):
    """The data padded at both ends of each axis; negative pads crop it.

    - ``pads_begin``, ``pads_end``: integer vectors, how many elements are added before and after each axis.
    - ``arg_pad_value``: a scalar, the value of the padding in mode constant; 0 by default.
    """


class _Range(Op):
    """Base of ranges: numbers from start up to but not including stop, in a vector.

    - ``start``, ``stop``, ``step``: scalars, the first number, the limit, and the difference of two numbers.
    """

    input_names = ("start", "stop", "step")
    shape_inputs = (0, 1, 2)
    output_type: Any

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.output_type, [self._length()])

    def bounds(self, values: Sequence[np.ndarray]) -> list[int | float]:
        """Return start, stop and step converted to the output type."""
        convert = self.output_type.to_dtype().type
        try:
            return [convert(value.reshape(-1)[0]).item() for value in values]
        except (OverflowError, ValueError):
            self.fail(f"its numbers must fit into {self.output_type}")

    def length(self, start: float, stop: float, step: float) -> int:
        """Return the number of elements. Raises GraphError if the step is 0 or a bound is not finite."""
        is_whole = all(isinstance(number, (int, Length)) for number in (start, stop, step))
        if step == 0 or not (is_whole or all(map(math.isfinite, (start, stop, step)))):
            self.fail(f"its numbers must be finite and step not 0, but are {start}, {stop} and {step}")
        if is_whole:
            return whole(max(0, -((start - stop) // step)))
        return max(0, math.ceil((stop - start) / step))

    def _length(self) -> Dimension:
        for index, source in enumerate(self.input_values()):
            count = source.partial_shape.element_count()
            if not count.compatible(1):
                self.fail(f"{self.input_names[index]} must be one number, but has shape {source.partial_shape}")
        values = [source.value for source in self.input_values() if source.value is not None]
        if self.output_type.is_dynamic() or len(values) < 3:
            return Dimension()
        if all(map(is_exact, values)):
            return Dimension(self.length(*self.bounds(values)))
        return self._bounded_length(*(_interval(value) for value in values))

    def _bounded_length(self, start: Dimension | int, stop: Dimension | int, step: Dimension | int) -> Dimension:
        """Return the length for partially known start and stop; it is unknown unless the step is known and positive."""
        if not isinstance(step, int) or step < 1 or (isinstance(start, int) and start < 0):
            return Dimension()
        if isinstance(stop, int) and stop < 0:
            return Dimension(0)
        start, stop = Dimension.of(start), Dimension.of(stop)
        low = 0 if start.max_length == -1 else self.length(start.max_length, stop.min_length, step)
        high = -1 if stop.max_length == -1 else self.length(start.min_length, stop.max_length, step)
        return Dimension(low, high)

    def infer_value(self) -> np.ndarray | None:
        shape = self.get_output_partial_shape(0)
        values = [source.value for source in self.input_values() if is_exact(source.value)]
        if len(values) < 3 or not shape.is_static or shape[0].get_length() > MAX_VALUE_SIZE:
            return None
        return self.numbers(values) if self.output_type.is_integer() else None

    def numbers(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Return the output for known inputs."""
        start, stop, step = self.bounds(values)
        steps = np.arange(self.length(start, stop, step))
        dtype = self.output_type.to_dtype()
        return (start + steps * step).astype(dtype)


class Range(_Range, opset=4):
    """The numbers from ``start`` up to but not including ``stop`` in steps of ``step``: a 1-D tensor of output_type.

    - ``output_type``: the element type of the output.
    """

    output_type = Attribute(Type)


class RangeV1(_Range, type_name="Range", opset=1):
    """Range whose output has the common element type of its inputs."""

    @property
    def output_type(self) -> Type:
        return common_type(self, range(3))


def _interval(value: np.ndarray) -> int | Dimension:
    item = value.reshape(-1)[0]
    return item if isinstance(item, Dimension) else int(item)


class OneHotV1(Op, type_name="OneHot", opset=1):
    """OneHot that ignores negative indices.

    - ``axis``: the axis of the output that has the length ``depth``.
    - ``depth``: an integer scalar, the number of classes.
    - ``on_value``, ``off_value``: scalars of the output's type, for the class at the index and for the others.
    """

    input_names = ("indices", "depth", "on_value", "off_value")
    shape_inputs = (1,)
    axis = Attribute(int)
    negative_indices_mode = "ignore_negative"

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), Type.is_integer, "integers")
        for index in (1, 2, 3):
            check_scalar(self, index)
        element_type = common_type(self, (2, 3))
        shape = self.get_input_partial_shape(0)
        if shape.has_rank:
            axis = normalize_axis(self, self.axis, len(shape) + 1)
            shape = PartialShape([*shape[:axis], self._depth(), *shape[axis:]])
        self.set_output_type(0, element_type, shape)

    def _depth(self) -> Dimension:
        value = self.input_value(1).value
        if value is None:
            return Dimension()
        depth = value.reshape(-1)[0]
        if not isinstance(depth, Dimension) and depth < 0:
            self.fail(f"depth must not be negative, but is {depth}")
        return Dimension.of(depth if isinstance(depth, Dimension) else int(depth))


class OneHot(OneHotV1, opset=16):
    """One-hot encoding: for each index ``depth`` elements along a new ``axis``, on_value at the index, else off_value.

    All elements of an index out of range are off_value. With negative_indices_mode "normalize", negative indices count
    from the end. The output has the element type of on_value and off_value.

    - ``negative_indices_mode``: whether negative indices are ignored or count from the end.
    """

    negative_indices_mode = Attribute(choice("ignore_negative", "normalize"), None)

    def validate_and_infer_types(self) -> None:
        self.negative_indices_mode = self.negative_indices_mode or "ignore_negative"
        super().validate_and_infer_types()
