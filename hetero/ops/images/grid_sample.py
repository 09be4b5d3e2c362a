"""GridSample: sampling of data at the points of a grid."""

from __future__ import annotations

from hetero.core.shape import PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import check_type, merge_dimensions


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
