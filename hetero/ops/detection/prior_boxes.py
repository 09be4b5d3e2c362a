"""Prior boxes of given sizes around each cell of a feature map: PriorBox and PriorBoxClustered."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import Attribute, Op, floats
from hetero.ops.checks import check_type, common_type, shape_of_value


class _PriorBoxes(Op):
    """Base of prior boxes. Inputs: height and width of the feature map, and of the image, integers ``[2]``.

    The output is f32 ``[2, 4 * cells * boxes per cell]``: in row 0 x1, y1, x2, y2 of each box as fractions of the
    image, in row 1 their variances.

    - ``variance``: one number or four for each box; 0.1 if empty.
    - ``clip``: whether boxes are clipped to the image.
    - ``offset``: the position of the center in its cell, as a fraction of the cell.
    - ``layer_shape``: height and width of the feature map.
    - ``image_shape``: height and width of the image.
    """

    attributes_in = "attrs"
    shape_inputs = (0, 1)
    variance: Any

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), Type.is_integer, "integers")
        common_type(self, (0, 1))
        for index in (0, 1):
            if not self.get_input_partial_shape(index).compatible([2]):
                self.fail(f"input {index} must be a height and a width, but is {self.get_input_partial_shape(index)}")
        if len(self.variance) not in (0, 1, 4):
            self.fail(f"variance must be one number or four, but has {len(self.variance)}")
        size = shape_of_value(self.input_value(0))
        count = Dimension() if not size.has_rank else size.element_count() * (4 * len(self.cell_boxes(1)))
        self.set_output_type(0, Type.f32, [2, count])

    def cell_boxes(self, image_height: int) -> np.ndarray:
        """Return offset x and y from the cell's center, half the width and half the height of each box, in pixels."""
        raise NotImplementedError


class PriorBoxV1(_PriorBoxes, type_name="PriorBox", opset=1):
    """Squares of the given sizes, and boxes of the same area with the given aspect ratios; see OpenVINO's PriorBox-1.

    If ``scale_all_sizes`` is false, ``min_size`` and ``step`` are fractions of the image's height.

    - ``min_size``: the sides of squares, in pixels.
    - ``max_size``: one number for each of ``min_size`` makes a further square, whose side is the geometric mean of
      both.
    - ``aspect_ratio``: the ratios of width and height of further boxes.
    - ``flip``: whether each ratio's inverse is a ratio too.
    - ``fixed_size``: the sizes of boxes that are repeated in a cell.
    - ``density``: for each of ``fixed_size``, the number of its boxes along each axis of a cell.
    - ``fixed_ratio``: the aspect ratios of boxes of fixed size; if empty, those of ``aspect_ratio``.
    - ``step``: the distance of cells in pixels; 0 for the size of the image divided by that of the feature map, with
      offset 0.5.
    """

    input_names = ("layer_shape", "image_shape")
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
            counts = f"{len(self.density)} for {len(self.fixed_size)}"
            self.fail(f"there must be one density for each fixed size, but are {counts}")
        super().validate_and_infer_types()

    def other_ratios(self) -> list[float]:
        """Return the unique aspect ratios other than 1, each followed by its inverse if ``flip`` is set."""
        ratios = [1.0]
        for ratio in self.aspect_ratio:
            if not np.isclose(ratio, ratios, rtol=0, atol=1e-6).any():
                ratios += [ratio, 1 / ratio] if self.flip else [ratio]
        return ratios[1:]

    def cell_boxes(self, image_height: int) -> np.ndarray:
        scale = 1 if self.scale_all_sizes else image_height
        boxes = self.dense_boxes()
        sizes = [size * scale for size in self.min_size]
        for index, size in enumerate(sizes):
            boxes.append((0, 0, size / 2, size / 2))
            max_size_boxes, ratio_boxes = [], []
            if index < len(self.max_size):
                half = np.sqrt(size * self.max_size[index]) / 2
                max_size_boxes = [(0, 0, half, half)]
            if self.scale_all_sizes or index == len(sizes) - 1:
                size = size if self.scale_all_sizes else sizes[0]
                ratio_boxes = [(0, 0, size / 2 * r, size / 2 / r) for r in np.sqrt(self.other_ratios())]
            boxes += max_size_boxes + ratio_boxes if self.min_max_aspect_ratios_order else ratio_boxes + max_size_boxes
        return np.array(boxes, np.float32).reshape(-1, 4)

    def dense_boxes(self) -> list[tuple[float, float, float, float]]:
        """Return the boxes of ``fixed_size``: ``density²`` of each per cell, a whole number of pixels apart."""
        boxes = []
        for size, density in zip(self.fixed_size, map(int, self.density)):
            whole, step = int(size), int(size / density)
            offsets = [step / 2 + index * step - whole // 2 for index in range(density)]
            halves = [(size / 2 * r, size / 2 / r) for r in np.sqrt(self.fixed_ratio or self.other_ratios())]
            if not self.fixed_ratio:
                halves.insert(0, (whole / 2, whole / 2))
            boxes += [(x, y, *half) for half in halves for y in offsets for x in offsets]
        return boxes


class PriorBox(PriorBoxV1, opset=8):
    """PriorBox-1; if ``min_max_aspect_ratios_order`` is false, boxes of ``max_size`` follow those of aspect ratios."""

    min_max_aspect_ratios_order = Attribute(bool, True)


class PriorBoxClustered(_PriorBoxes, opset=1):
    """Boxes of the given widths and heights, centered ``offset`` cells from the corner of each cell.

    - ``output_size``: height and width of the feature map.
    - ``image_size``: height and width of the image.
    - ``step``, ``step_w``, ``step_h``: the distance of cells in pixels; 0 for the size of the image divided by that of
      the feature map.
    - ``width``, ``height``: the sizes of the boxes of a cell, in pixels.
    """

    input_names = ("output_size", "image_size")
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

    def cell_boxes(self, image_height: int) -> np.ndarray:
        halves = np.array([self.width, self.height], np.float32).T / 2
        return np.hstack([np.zeros_like(halves), halves])
