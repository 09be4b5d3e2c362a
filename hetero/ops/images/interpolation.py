"""Interpolate, ONNX's Resize, and GridSample."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, Parameter, choice, integers
from hetero.ops.checks import check_type, exact_value, input_name, merge_dimensions, normalize_axes, shape_of_value
from hetero.ops.movement.slicing import bounds_of

_SETTINGS = (
    "mode", "shape_calculation_mode", "pads_begin", "pads_end", "coordinate_transformation_mode", "nearest_mode",
    "antialias", "cube_coeff", "axes",
)  # fmt: skip


class _Interpolate(Op):
    """Base of Interpolate versions with sizes, scales and axes (default: all) as inputs.

    - ``image``: the data.
    - ``output_shape``: the sizes of the resized axes.
    - ``scales_or_sizes``: the sizes or the scales of the resized axes, as ``shape_calculation_mode`` says.
    - ``shape_calculation_mode``: whether sizes or scales are given.
    - ``pads_begin``, ``pads_end``: how many zeros are added before and after each axis of the data; None for none.
    - ``coordinate_transformation_mode``: which coordinate in the data an element of the output has.
    - ``nearest_mode``: how coordinates are rounded in mode nearest.
    - ``antialias``: whether filters are widened when downsampling.
    - ``cube_coeff``: the parameter a of the cubic filter.
    - ``mode``: the filter.
    """

    shape_calculation_mode = Attribute(choice("sizes", "scales"))
    pads_begin = Attribute(integers, None)
    pads_end = Attribute(integers, None)
    coordinate_transformation_mode = Attribute(
        choice("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"), "half_pixel"
    )
    nearest_mode = Attribute(
        choice("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"), "round_prefer_floor"
    )
    antialias = Attribute(bool, False)
    cube_coeff = Attribute(float, -0.75)

    def validate_and_infer_types(self) -> None:
        image = self.get_input_partial_shape(0)
        rank = len(image) if image.has_rank else 0
        self.pads_begin, self.pads_end = _padded(self.pads_begin, rank), _padded(self.pads_end, rank)
        self.set_output_type(0, self.get_input_element_type(0), self._shape())

    @property
    def target_index(self) -> int:
        """The index of the input with the sizes or scales, whichever are used."""
        return 1

    def _axes(self, rank: int) -> np.ndarray | None:
        return exact_value(self.input_value(self.input_index("axes"))) if self.has_input("axes") else np.arange(rank)

    def _shape(self) -> PartialShape:
        image = self.get_input_partial_shape(0)
        if not image.has_rank:
            return PartialShape.dynamic()
        if max(len(self.pads_begin), len(self.pads_end)) > len(image):
            self.fail(f"pads_begin and pads_end have more values than image {image} has dimensions")
        known = self._axes(len(image))
        if known is None:
            return PartialShape.dynamic(len(image))
        axes = normalize_axes(self, known.reshape(-1).tolist(), len(image))
        check_sizes(self, self.target_index, len(axes))
        dimensions = [length + sum(pads) for length, pads in zip(image, self.pads_of(len(image)))]
        for axis, resized in zip(axes, self._resized([dimensions[axis] for axis in axes])):
            dimensions[axis] = resized
        return PartialShape(dimensions)

    def _resized(self, lengths: Sequence[Dimension]) -> list[Dimension]:
        if self.shape_calculation_mode == "sizes":
            sizes = shape_of_value(self.input_value(self.target_index))
            return list(sizes if sizes.has_rank else PartialShape.dynamic(len(lengths)))
        scales = exact_value(self.input_value(self.target_index))
        if scales is None:
            return [Dimension()] * len(lengths)
        return [
            Dimension(
                scaled(length.min_length, scale),
                -1 if length.max_length == -1 else scaled(length.max_length, scale),
            )
            for length, scale in zip(lengths, scales.reshape(-1))
        ]

    def pads_of(self, rank: int) -> list[tuple[int, int]]:
        """Return the padding before and after each dimension."""
        return list(zip(_padded(self.pads_begin, rank), _padded(self.pads_end, rank)))


def _padded(pads: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Return the padding of each dimension; that of the last ones may be left out."""
    given = tuple(pads or ())
    return given + (0,) * (rank - len(given))


class Interpolate(_Interpolate, opset=11):
    """The data resized along ``axes`` (default: all) to the sizes, or by the scales, in the second input.

    Coordinates, rounding and weights are those of OpenVINO's Interpolate-11.
    """

    input_names = ("image", "scales_or_sizes", "axes?")
    shape_inputs = (1, 2)
    parameter_order = ("image", "scales_or_sizes", *_SETTINGS)
    mode = Attribute(choice("nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"))


class InterpolateV4(_Interpolate, type_name="Interpolate", opset=4):
    """Interpolate with separate inputs for sizes and scales; ``shape_calculation_mode`` selects one of them."""

    input_names = ("image", "output_shape", "scales", "axes?")
    shape_inputs = (1, 2, 3)
    parameter_order = ("image", "output_shape", "scales", *_SETTINGS)
    mode = Attribute(choice("nearest", "linear", "linear_onnx", "cubic"))

    @property
    def target_index(self) -> int:
        return 1 if self.shape_calculation_mode == "sizes" else 2


class InterpolateV1(Op, type_name="Interpolate", opset=1):
    """The data resized along ``axes`` to the sizes ``output_shape``.

    Coordinates are as in OpenVINO: align_corners if that is set, else half_pixel for mode linear and a rank other
    than 4, else asymmetric.

    - ``image``: the data.
    - ``mode``: the filter.
    - ``antialias``: whether filters are widened when downsampling.
    - ``pads_begin``, ``pads_end``: how many zeros are added before and after each axis of the data.
    - ``align_corners``: whether the first and the last elements of input and output are at the same coordinates.
    """

    input_names = ("image", "output_shape")
    shape_inputs = (1,)
    attributes_in = "attrs"
    axes = Attribute(integers)
    mode = Attribute(choice("nearest", "linear", "cubic"))
    align_corners = Attribute(bool, True)
    antialias = Attribute(bool, False)
    pads_begin = Attribute(integers, ())
    pads_end = Attribute(integers, ())

    def validate_and_infer_types(self) -> None:
        image, shape = self.get_input_partial_shape(0), PartialShape.dynamic()
        check_sizes(self, 1, len(self.axes))
        if image.has_rank:
            dimensions, sizes = list(image), shape_of_value(self.input_value(1))
            for i, axis in enumerate(normalize_axes(self, self.axes, len(image))):
                dimensions[axis] = sizes[i] if sizes.has_rank else Dimension()
            shape = PartialShape(dimensions)
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def to_interpolate_11(self, rank: int) -> Interpolate:
        """Return the equivalent Interpolate-11 for an image of this rank."""
        half_pixel = self.mode == "linear" and rank != 4
        coordinates = "align_corners" if self.align_corners else "half_pixel" if half_pixel else "asymmetric"
        image = Parameter(self.get_input_element_type(0), PartialShape.dynamic(rank))
        return Interpolate(
            image,
            Parameter(Type.i64, [len(self.axes)]),
            self.mode,
            "sizes",
            self.pads_begin,
            self.pads_end,
            coordinates,
            "simple",
            self.antialias,
            axes=np.array(self.axes, np.int64),
        )


def check_sizes(node: Op, index: int, axes: int) -> None:
    """Raise GraphError if an input does not have a size or scale for each axis, or if one is negative or not finite."""
    target = node.input_value(index)
    count = target.partial_shape.element_count()
    if not count.compatible(axes):
        node.fail(f"{input_name(node, index)} has {count} values for {axes} axes")
    known = [] if target.value is None else target.value.reshape(-1).tolist()
    if any(not isinstance(number, Dimension) and not 0 <= number < math.inf for number in known):
        node.fail(f"sizes and scales must be finite and not negative, but are {known}")


def scaled(length: int, scale: float) -> int:
    """Return length · scale rounded down, computed in 32-bit floats as in OpenVINO."""
    return int(np.float32(length) * np.float32(scale))


class Resize(Op):
    """The data resized along ``axes`` to sizes, or by scales, with ONNX's coordinates, filters and borders.

    Differences from Interpolate:

    - Coordinates are computed from length · scale without rounding.
    - ``tf_crop_and_resize`` resizes the region ``roi`` (the starts of all axes, then the ends, from 0 to 1) and
      outputs ``extrapolation_value`` outside of the data.
    - ``antialias`` widens the filters when downsampling.
    - ``exclude_outside`` gives elements beyond the border no weight.
    - A ``keep_aspect_ratio_policy`` other than stretch takes sizes as bounds.

    The formulas are those of ONNX's Resize-19.

    - ``image``: the data.
    - ``scales_or_sizes``: the sizes or the scales of the resized axes, as ``shape_calculation_mode`` says.
    - ``shape_calculation_mode``: whether sizes or scales are given.
    - ``mode``: the filter.
    - ``coordinate_transformation_mode``: which coordinate in the data an element of the output has.
    - ``nearest_mode``: how coordinates are rounded in mode nearest.
    - ``cube_coeff``: the parameter a of the cubic filter.
    """

    input_names = ("image", "scales_or_sizes", "roi?")
    shape_inputs = (1, 2)
    axes = Attribute(integers)
    mode = Attribute(choice("nearest", "linear", "cubic"))
    shape_calculation_mode = Attribute(choice("sizes", "scales"))
    coordinate_transformation_mode = Attribute(
        choice(
            "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn",
            "align_corners", "tf_crop_and_resize",
        )
    )  # fmt: skip
    nearest_mode = Attribute(choice("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"), "round_prefer_floor")
    antialias = Attribute(bool, False)
    cube_coeff = Attribute(float, -0.75)
    exclude_outside = Attribute(bool, False)
    extrapolation_value = Attribute(float, 0.0)
    keep_aspect_ratio_policy = Attribute(choice("stretch", "not_larger", "not_smaller"), "stretch")

    def validate_and_infer_types(self) -> None:
        if self.coordinate_transformation_mode == "tf_crop_and_resize" and not self.has_input("roi"):
            self.fail("coordinate_transformation_mode tf_crop_and_resize needs the input roi")
        self.set_output_type(0, self.get_input_element_type(0), self._shape())

    def _shape(self) -> PartialShape:
        image = self.get_input_partial_shape(0)
        if not image.has_rank:
            return PartialShape.dynamic()
        axes = normalize_axes(self, self.axes, len(image))
        check_sizes(self, 1, len(axes))
        dimensions, target = list(image), exact_value(self.input_value(1))
        lengths = [image[axis] for axis in axes]
        sizes: Sequence[Dimension | int] = [Dimension()] * len(axes)
        if target is not None and all(length.is_static for length in lengths):
            sizes, _ = self.sizes_and_scales([length.get_length() for length in lengths], target)
        elif self.shape_calculation_mode == "sizes" and self.keep_aspect_ratio_policy == "stretch":
            bounds = bounds_of(self.input_value(1), len(axes))
            sizes = [Dimension() if bound is None else bound for bound in bounds]
        for axis, size in zip(axes, sizes):
            dimensions[axis] = Dimension.of(size)
        return PartialShape(dimensions)

    def sizes_and_scales(self, lengths: Sequence[int], target: np.ndarray) -> tuple[list[int], list[float]]:
        """Return the output lengths along the axes, and the scales for computing coordinates."""
        values = target.reshape(-1).tolist()
        if self.shape_calculation_mode == "scales":
            return [math.floor(length * scale) for length, scale in zip(lengths, values)], values
        scales = [size / max(length, 1) for size, length in zip(values, lengths)]
        if self.keep_aspect_ratio_policy == "stretch":
            return values, scales
        scale = min(scales) if self.keep_aspect_ratio_policy == "not_larger" else max(scales)
        return [math.floor(length * scale + 0.5) for length in lengths], [scale] * len(scales)


class GridSample(Op, opset=9):
    """Data ``[N, C, spatial…]`` sampled at the points of a grid ``[N, points…, axes]``, to ``[N, C, points…]``.

    A point has one coordinate for each spatial axis, last axis first, from -1 at one end of the data to 1 at the other.
    Any number of spatial axes is supported; OpenVINO supports two.

    - ``align_corners``: whether -1 and 1 are the centers of the first and the last element, instead of their outer
      edges.
    - ``mode``: how the elements around a point are combined.
    - ``padding_mode``: what is outside of the data: zeros, its border, or its reflection.
    """

    input_names = ("data", "grid")
    attributes_in = "attributes"
    align_corners = Attribute(bool, False)
    mode = Attribute(choice("bilinear", "bicubic", "nearest"), "bilinear")
    padding_mode = Attribute(choice("zeros", "border", "reflection"), "zeros")

    def validate_and_infer_types(self) -> None:
        check_type(self, (1,), Type.is_real, "floating-point numbers")
        data, grid = self.get_input_partial_shape(0), self.get_input_partial_shape(1)
        for name, shape in (("data", data), ("grid", grid)):
            if shape.has_rank and len(shape) < 3:
                self.fail(f"{name} must have three or more dimensions, but is {shape}")
        if not data.has_rank and not grid.has_rank:
            return self.set_output_type(0, self.get_input_element_type(0), PartialShape.dynamic())
        rank = len(data) if data.has_rank else len(grid)
        data, grid = (shape if shape.has_rank else PartialShape.dynamic(rank) for shape in (data, grid))
        if len(data) != len(grid):
            self.fail(f"data {data} and grid {grid} must have the same number of dimensions")
        if not grid[-1].compatible(rank - 2):
            self.fail(
                f"the points of grid must have {rank - 2} numbers, one for each spatial axis, but have {grid[-1]}"
            )
        batch = merge_dimensions(self, (data[0], grid[0]), "the batches of data and grid")
        self.set_output_type(0, self.get_input_element_type(0), concatenate([batch, data[1]], grid[1:-1]))
