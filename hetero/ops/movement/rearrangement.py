"""Permutations of elements: Roll, Reverse, ShuffleChannels, SpaceToBatch and the like, and image patches."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice, integers
from hetero.ops.checks import (
    check_type,
    exact_value,
    is_boolean,
    is_number,
    merge_dimensions,
    non_scalar_shape,
    normalize_axes,
    normalize_axis,
    shape_of_rank,
)
from hetero.ops.movement.movement import divide_evenly, divide_exactly
from hetero.ops.movement.slicing import bounds_of
from hetero.ops.windows import WindowOp, complete_window_attributes, extent, window_positions


class Roll(Op, opset=7):
    """The elements shifted circularly by ``shift`` along each of ``axes``.

    A scalar shift applies to all axes; the shifts of a repeated axis are added.
    """

    input_names = ("data", "shift", "axes")
    shape_inputs = (1, 2)

    def validate_and_infer_types(self) -> None:
        check_type(self, (1, 2), Type.is_integer, "integers")
        data, shift, axes = (self.get_input_partial_shape(index) for index in range(3))
        for name, shape in (("shift", shift), ("axes", axes)):
            if shape.has_rank and len(shape) > 1:
                self.fail(f"{name} must be a scalar or have one dimension, but has the shape {shape}")
        if shift.has_rank and len(shift) and not shift.element_count().compatible(axes.element_count()):
            self.fail(f"shift {shift} must have a value for each of axes {axes}, or be a scalar")
        known = exact_value(self.input_value(2))
        if data.has_rank and known is not None:
            for axis in known.reshape(-1).tolist():
                normalize_axis(self, axis, len(data))
        self.set_output_type(0, self.get_input_element_type(0), data)


class Reverse(Op, opset=1):
    """The data reversed along some axes: a list of axes (mode index), or a boolean mask of all axes (mode mask).

    - ``reversed_axes``: an integer vector of axes, or a boolean vector with one element for each axis.
    - ``mode``: whether the axes are indices or a mask.
    """

    input_names = ("data", "reversed_axes")
    shape_inputs = (1,)
    mode = Attribute(choice("index", "mask"))

    def validate_and_infer_types(self) -> None:
        data, axes = self.get_input_partial_shape(0), shape_of_rank(self, 1, 1)
        if self.mode == "mask":
            check_type(self, [1], is_boolean, "a mask of booleans")
        else:
            check_type(self, [1], Type.is_integer, "integers")
        known = exact_value(self.input_value(1))
        if data.has_rank and self.mode == "mask" and not axes.element_count().compatible(len(data)):
            self.fail(f"reversed_axes must be a mask of the {len(data)} dimensions of data, but has the shape {axes}")
        if data.has_rank and known is not None and self.mode == "index":
            normalize_axes(self, known.tolist(), len(data))
        self.set_output_type(0, self.get_input_element_type(0), data)


class ReverseSequence(Op, opset=1):
    """The data with the first ``seq_lengths[b]`` elements along ``seq_axis`` reversed in each batch element b.

    - ``input``: the data.
    - ``batch_axis``: the axis of the batch.
    """

    input_names = ("input", "seq_lengths")
    batch_axis = Attribute(int)
    seq_axis = Attribute(int)

    def validate_and_infer_types(self) -> None:
        check_type(self, [1], is_number, "numbers")
        data, lengths = self.get_input_partial_shape(0), shape_of_rank(self, 1, 1)
        if data.has_rank:
            if len(data) < 2:
                self.fail(f"data must have two or more dimensions, but is {data}")
            batch = normalize_axis(self, self.batch_axis, len(data))
            normalize_axis(self, self.seq_axis, len(data))
            dimensions = list(data)
            dimensions[batch] = merge_dimensions(self, (data[batch], lengths[0]), "batch and seq_lengths")
            data = PartialShape(dimensions)
        self.set_output_type(0, self.get_input_element_type(0), data)


class ShuffleChannels(Op, opset=1):
    """The data with ``axis`` reshaped to ``[group, rest]``, transposed to ``[rest, group]`` and flattened."""

    input_names = ("data",)
    axis = Attribute(int)
    group = Attribute(int)

    def validate_and_infer_types(self) -> None:
        if self.group < 1:
            self.fail(f"group must be positive, but is {self.group}")
        data = non_scalar_shape(self, 0)
        if data.has_rank:
            length = data[normalize_axis(self, self.axis, len(data))]
            if length.is_static and length.get_length() % self.group:
                self.fail(f"the length {length} of the axis must be a multiple of group {self.group}")
        self.set_output_type(0, self.get_input_element_type(0), data)


class _BatchMove(Op):
    """Base of the moves between batch and blocks: three inputs with a number for each dimension of the data."""

    shape_inputs = (1, 2, 3)

    def validate_and_infer_types(self) -> None:
        element_type, data = self.get_input_element_type(0), self.get_input_partial_shape(0)
        check_type(self, (1, 2, 3), Type.is_integer, "integers")
        rank = data.rank
        for index in (1, 2, 3):
            rank = merge_dimensions(
                self, (rank, *shape_of_rank(self, index, 1)), "the rank of data and the lengths of inputs"
            )
        if data.has_rank and len(data) < 2:
            self.fail(f"data must have two or more dimensions, but is {data}")
        blocks = exact_value(self.input_value(1))
        if not data.has_rank or blocks is None:
            return self.set_output_type(0, element_type, PartialShape.dynamic(rank))
        blocks = blocks.tolist()
        if any(block < 1 for block in blocks) or blocks[0] != 1:
            self.fail(f"block_shape {blocks} must be positive numbers, the first one 1")
        begin, end = (self._edges(index, len(data)) for index in (2, 3))
        self.set_output_type(0, element_type, self.moved_shape(data, blocks, begin, end))

    def moved_shape(
        self, data: PartialShape, blocks: Sequence[int], begin: Sequence[Dimension], end: Sequence[Dimension]
    ) -> PartialShape:
        """Return the shape of the output."""
        raise NotImplementedError

    def _edges(self, index: int, rank: int) -> list[Dimension]:
        """Return the pads or crops at one end of each dimension."""
        numbers = bounds_of(self.input_value(index), rank)
        if any(isinstance(number, int) and number < 0 for number in numbers) or numbers[0] not in (0, None):
            self.fail(f"{self.input_names[index]} {numbers} must not be negative, and the first one 0")
        return [Dimension(0), *(Dimension() if number is None else Dimension.of(number) for number in numbers[1:])]


class SpaceToBatch(_BatchMove, opset=2):
    """The data padded with zeros, then the positions in each block of ``block_shape`` moved into the batch.

    - ``pads_begin``, ``pads_end``: integer vectors, how many zeros are added before and after each dimension.
    """

    input_names = ("data", "block_shape", "pads_begin", "pads_end")

    def moved_shape(
        self, data: PartialShape, blocks: Sequence[int], begin: Sequence[Dimension], end: Sequence[Dimension]
    ) -> PartialShape:
        count = math.prod(blocks)
        spatial = [divide_exactly(self, d + b + e, n) for d, n, b, e in zip(data, blocks, begin, end)]
        return PartialShape([data[0] * count, *spatial[1:]])


class BatchToSpace(_BatchMove, opset=2):
    """The inverse of SpaceToBatch: parts of the batch moved into blocks of ``block_shape``, then cropped.

    - ``crops_begin``, ``crops_end``: integer vectors, how many elements are cropped at the start and at the end of each
      dimension.
    """

    input_names = ("data", "block_shape", "crops_begin", "crops_end")

    def moved_shape(
        self, data: PartialShape, blocks: Sequence[int], begin: Sequence[Dimension], end: Sequence[Dimension]
    ) -> PartialShape:
        batch = divide_exactly(self, data[0], math.prod(blocks))
        spatial = [self._cropped(*numbers) for numbers in zip(data, blocks, begin, end)]
        return PartialShape([batch, *spatial[1:]])

    def _cropped(self, length: Dimension, block: int, begin: Dimension, end: Dimension) -> Dimension:
        whole, crops = length * block, begin + end
        if whole.max_length != -1 and crops.min_length > whole.max_length:
            self.fail(f"crops of {begin} and {end} take more than the {whole} elements of a dimension")
        return whole - crops


class Col2Im(WindowOp, opset=15):
    """Patches summed into an image: columns ``[N, C·kernel, L]`` or ``[C·kernel, L]`` to ``[N, C, output_size…]``.

    L is the number of kernel positions in the padded image. Any number of spatial dimensions is supported; OpenVINO
    supports two.

    - ``strides``, ``dilations``, ``pads_begin``, ``pads_end``: as in the convolution whose columns the data has; None
      for 1 or 0 everywhere.
    - ``kernel_size``: an integer vector, the number of elements of a patch on each spatial axis.
    """

    input_names = ("data", "output_size", "kernel_size")
    shape_inputs = (1, 2)
    strides = Attribute(integers, None)
    dilations = Attribute(integers, None)
    pads_begin = Attribute(integers, None)
    pads_end = Attribute(integers, None)
    auto_pad = "explicit"

    def validate_and_infer_types(self) -> None:
        check_type(self, (1, 2), Type.is_integer, "integers")
        data = self.get_input_partial_shape(0)
        if data.has_rank and len(data) not in (2, 3):
            self.fail(f"data must have two or three dimensions, but is {data}")
        counts = [self.get_input_partial_shape(index).element_count() for index in (1, 2)]
        count = merge_dimensions(self, counts, "the lengths of output_size and kernel_size")
        if count.is_dynamic:
            return self.set_output_type(0, self.get_input_element_type(0), PartialShape.dynamic())
        spatial = count.get_length()
        complete_window_attributes(self, spatial, "strides", "dilations", "pads_begin", "pads_end")
        size, kernel = (self._lengths(index, spatial) for index in (1, 2))
        channels = Dimension()
        if data.has_rank:
            self._check_columns(data[-1], size, kernel)
            channels = self._channels(data[-2], kernel)
        shape = concatenate(data[:-2], [channels], size) if data.has_rank else PartialShape.dynamic()
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def _lengths(self, index: int, count: int) -> list[Dimension]:
        bounds = bounds_of(self.input_value(index), count)
        return [Dimension() if bound is None else Dimension.of(bound) for bound in bounds]

    def _check_columns(self, columns: Dimension, size: list[Dimension], kernel: list[Dimension]) -> None:
        if all(d.is_static for d in (*size, *kernel)):
            positions = PartialShape(window_positions(self, size, kernel, self.dilations)).element_count()
            if not columns.compatible(positions):
                self.fail(f"data must have {positions} columns, one for each kernel position, but has {columns}")

    def _channels(self, rows: Dimension, kernel: list[Dimension]) -> Dimension:
        if not all(d.is_static for d in kernel):
            return Dimension()
        area = math.prod(d.get_length() for d in kernel)
        if area < 1 or (rows.is_static and rows.get_length() % area):
            self.fail(f"the rows of data must be a multiple of {area}, the kernel size, but are {rows}")
        return divide_evenly(rows, area)


class ExtractImagePatches(WindowOp, opset=3):
    """Patches of an image ``[N, C, H, W]``, flattened into the channels: ``[N, height·width·C, positions…]``.

    ``sizes`` is height and width of a patch, ``rates`` the spacing of its elements, ``strides`` that of patches.

    - ``auto_pad``: valid has no padding; same_upper and same_lower pad with zeros such that there are ``length /
      stride`` positions, rounded up.
    """

    input_names = ("image",)
    sizes = Attribute(integers)
    strides = Attribute(integers)
    rates = Attribute(integers)
    auto_pad = Attribute(choice("valid", "same_upper", "same_lower"))

    def validate_and_infer_types(self) -> None:
        for name in ("sizes", "strides", "rates"):
            values = getattr(self, name)
            if len(values) != 2 or min(values) < 1:
                self.fail(f"{name} must be two positive numbers, but are {list(values)}")
        image = shape_of_rank(self, 0, 4)
        positions = [self._positions(axis, image[axis + 2]) for axis in (0, 1)]
        shape = [image[0], image[1] * math.prod(self.sizes), *positions]
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def _positions(self, axis: int, length: Dimension) -> Dimension:
        if self.auto_pad != "valid":
            return (length + (self.strides[axis] - 1)) // self.strides[axis]
        # 0 if the patch is longer than the axis.
        return (length + self.strides[axis] - extent(self.sizes[axis], self.rates[axis])) // self.strides[axis]
