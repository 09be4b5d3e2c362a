"""Image patches: Col2Im and ExtractImagePatches."""

from __future__ import annotations

import math

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, choice, integers
from hetero.ops.checks import check_type, merge_dimensions, shape_of_rank
from hetero.ops.movement.movement import divide_evenly
from hetero.ops.movement.slicing import bounds_of
from hetero.ops.windows import WindowOp, complete_window_attributes, extent, window_positions


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
