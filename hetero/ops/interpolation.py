"""Interpolate: an image, or a tensor of any rank, in another size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.graph import Attribute, Op, choice, integers
from hetero.ops.checks import normalize_axes
from hetero.ops.values import exact_value, shape_of_value
from hetero.shape import Dimension, PartialShape


class Interpolate(Op, opset=11):
    """The data resized along ``axes`` (default: all) to sizes, or by scales, given by the second input.

    Coordinates, rounding and weights are those of OpenVINO's Interpolate-11.
    """

    inputs = ("image", "scales_or_sizes", "axes?")
    shape_inputs = (1, 2)
    parameter_order = (
        "image", "scales_or_sizes", "mode", "shape_calculation_mode", "pads_begin", "pads_end",
        "coordinate_transformation_mode", "nearest_mode", "antialias", "cube_coeff", "axes",
    )  # fmt: skip
    mode = Attribute(choice("nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"))
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
        self.pads_begin, self.pads_end = self.pads_begin or (), self.pads_end or ()
        self.set_output_type(0, self.get_input_element_type(0), self._shape())

    def _shape(self) -> PartialShape:
        image = self.get_input_partial_shape(0)
        if not image.has_rank:
            return PartialShape.dynamic()
        if max(len(self.pads_begin), len(self.pads_end)) > len(image):
            self.fail(f"pads_begin and pads_end have more values than image {image} has dimensions")
        given = exact_value(self.input_value(2)) if self.has_input("axes") else np.arange(len(image))
        if given is None:
            return PartialShape.dynamic(len(image))
        axes = normalize_axes(self, given.reshape(-1).tolist(), len(image))
        count = self.get_input_partial_shape(1).element_count()
        if not count.compatible(len(axes)):
            self.fail(f"{self.shape_calculation_mode} has {count} values for {len(axes)} axes")
        dimensions = [length + sum(pads) for length, pads in zip(image, self.pads_of(len(image)))]
        for axis, resized in zip(axes, self._resized([dimensions[axis] for axis in axes])):
            dimensions[axis] = resized
        return PartialShape(dimensions)

    def _resized(self, lengths: Sequence[Dimension]) -> list[Dimension]:
        if self.shape_calculation_mode == "sizes":
            sizes = shape_of_value(self.input_value(1))
            return list(sizes if sizes.has_rank else PartialShape.dynamic(len(lengths)))
        scales = exact_value(self.input_value(1))
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
        """The padding in front and behind for each dimension."""
        begin, end = (list(pads) + [0] * (rank - len(pads)) for pads in (self.pads_begin, self.pads_end))
        return list(zip(begin, end))


def scaled(length: int, scale: float) -> int:
    """A length times a scale, rounded down in 32-bit floats as OpenVINO does."""
    return int(np.float32(length) * np.float32(scale))
