"""Resize: ONNX's operator, for the options that Interpolate does not have."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.graph import Attribute, Op, choice, integers
from hetero.ops.checks import normalize_axes
from hetero.ops.images.interpolation import check_sizes
from hetero.ops.movement.slicing import bounds_of
from hetero.ops.values import exact_value


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
