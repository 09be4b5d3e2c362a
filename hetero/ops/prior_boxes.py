"""Boxes of known sizes around each cell of a feature map, in parts of an image: PriorBox and PriorBoxClustered."""

from __future__ import annotations

import numpy as np

from hetero.graph import Attribute, Op, floats
from hetero.ops.checks import check_type, common_type
from hetero.ops.values import shape_of_value
from hetero.shape import Dimension
from hetero.types import Type


class _PriorBoxes(Op):
    """What both share. Inputs: height and width of the feature map, and those of the image.

    Output ``[2, 4 * cells * boxes of a cell]``: x1, y1, x2, y2 of each box, and below it the variances.
    """

    attributes_in = "attrs"
    shape_inputs = (0, 1)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), Type.is_integral, "integers")
        common_type(self, (0, 1))
        for index in (0, 1):
            if not self.get_input_partial_shape(index).compatible([2]):
                self.fail(f"input {index} must be a height and a width, but is {self.get_input_partial_shape(index)}")
        if len(self.variance) not in (0, 1, 4):
            self.fail(f"variance must be one number or four, but has {len(self.variance)}")
        size = shape_of_value(self.input_value(0))
        count = Dimension() if not size.has_rank else size.element_count() * (4 * len(self.boxes_of_a_cell(1)))
        self.set_output_type(0, Type.f32, [2, count])

    def boxes_of_a_cell(self, image_height: int) -> np.ndarray:
        """x and y from the cell's centre to the box's, half the width and half the height of each box, in pixels."""
        raise NotImplementedError


class PriorBoxV1(_PriorBoxes, type_name="PriorBox", opset=1):
    """Squares of the sizes, and boxes of the same area in the aspect ratios; see PriorBox-1 of OpenVINO.

    Where ``scale_all_sizes`` is false ``min_size`` and ``step`` are parts of the image's height.
    """

    inputs = ("layer_shape", "image_shape")
    min_size = Attribute(floats, ())
    max_size = Attribute(floats, ())
    aspect_ratio = Attribute(floats, ())
    density = Attribute(floats, ())
    fixed_ratio = Attribute(floats, ())
    fixed_size = Attribute(floats, ())
    clip = Attribute(bool, False)
    flip = Attribute(bool, False)
    step = Attribute(float, 0.0)
    offset = Attribute(float)
    variance = Attribute(floats, ())
    scale_all_sizes = Attribute(bool, True)
    min_max_aspect_ratios_order = True

    def validate_and_infer_types(self) -> None:
        if self.fixed_size and len(self.density) != len(self.fixed_size):
            self.fail(f"there must be one density for each fixed size, but {len(self.density)} {len(self.fixed_size)}")
        super().validate_and_infer_types()

    def other_ratios(self) -> list[float]:
        """The aspect ratios apart from 1, each once; with ``flip`` each followed by its inverse."""
        found = [1.0]
        for ratio in self.aspect_ratio:
            if not np.isclose(ratio, found, rtol=0, atol=1e-6).any():
                found += [ratio, 1 / ratio] if self.flip else [ratio]
        return found[1:]

    def boxes_of_a_cell(self, image_height: int) -> np.ndarray:
        scale = 1 if self.scale_all_sizes else image_height
        boxes = self.dense_boxes()
        sizes = [size * scale for size in self.min_size]
        for index, size in enumerate(sizes):
            boxes.append((0, 0, size / 2, size / 2))
            between, shaped = [], []
            if index < len(self.max_size):
                half = np.sqrt(size * self.max_size[index]) / 2
                between = [(0, 0, half, half)]
            if self.scale_all_sizes or index == len(sizes) - 1:
                size = size if self.scale_all_sizes else sizes[0]
                shaped = [(0, 0, size / 2 * r, size / 2 / r) for r in np.sqrt(self.other_ratios())]
            boxes += between + shaped if self.min_max_aspect_ratios_order else shaped + between
        return np.array(boxes, np.float32).reshape(-1, 4)

    def dense_boxes(self) -> list[tuple[float, float, float, float]]:
        """Boxes of fixed sizes, of which ``density`` times ``density`` share a cell, whole pixels apart."""
        boxes = []
        for size, density in zip(self.fixed_size, map(int, self.density)):
            whole, apart = int(size), int(size / density)
            places = [apart / 2 + index * apart - whole // 2 for index in range(density)]
            halves = [(size / 2 * r, size / 2 / r) for r in np.sqrt(self.fixed_ratio or self.other_ratios())]
            if not self.fixed_ratio:
                halves.insert(0, (whole / 2, whole / 2))
            boxes += [(x, y, *half) for half in halves for y in places for x in places]
        return boxes


class PriorBox(PriorBoxV1, opset=8):
    """PriorBox whose boxes of ``max_size`` need not come before those of aspect ratios."""

    min_max_aspect_ratios_order = Attribute(bool, True)


class PriorBoxClustered(_PriorBoxes, opset=1):
    """Boxes of the widths and heights around the point of each cell that is ``offset`` cells from its corner."""

    inputs = ("output_size", "image_size")
    width = Attribute(floats, ())
    height = Attribute(floats, ())
    clip = Attribute(bool, True)
    step = Attribute(float, 0.0)
    step_w = Attribute(float, 0.0)
    step_h = Attribute(float, 0.0)
    offset = Attribute(float)
    variance = Attribute(floats, ())

    def validate_and_infer_types(self) -> None:
        if len(self.width) != len(self.height):
            self.fail(f"there must be a height for each width, but {len(self.height)} for {len(self.width)}")
        super().validate_and_infer_types()

    def boxes_of_a_cell(self, image_height: int) -> np.ndarray:
        halves = np.array([self.width, self.height], np.float32).T / 2
        return np.hstack([np.zeros_like(halves), halves])
