"""Scatter operations: copies of the data with updates written at given indices. The output has the data's shape."""

from __future__ import annotations

import numpy as np

from hetero.core.shape import PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    check_scalar_or_one,
    check_type,
    common_type,
    known_axis,
    merge_dimensions,
    non_scalar_shape,
    shape_of_rank,
)
from hetero.ops.movement.slicing import Sliced
from hetero.ops.values import exact_value, known_values, tidy


class ScatterUpdate(Op, opset=3):
    """The data with the slices along ``axis`` at the indices replaced by those of the updates.

    Data ``[before…, d, after…]``, indices ``[I…]``, updates ``[before…, I…, after…]``.
    """

    input_names = ("data", "indices", "updates", "axis")
    shape_inputs = (3,)

    def validate_and_infer_types(self) -> None:
        element_type = common_type(self, (0, 2))
        check_type(self, (1, 3), Type.is_integer, "integers")
        check_scalar_or_one(self, 3)
        data, indices, updates = (self.get_input_partial_shape(index) for index in range(3))
        axis = known_axis(self, 3, non_scalar_shape(self, 0))
        if data.has_rank and indices.has_rank:
            shape_of_rank(self, 2, len(data) + len(indices) - 1)
        if axis is not None and indices.has_rank:
            wanted = concatenate(data[:axis], indices, data[axis + 1 :])
            if not updates.compatible(wanted):
                self.fail(f"updates {updates} must have the shape {wanted} for data {data} and indices {indices}")
        self.set_output_type(0, element_type, data)

    def infer_value(self) -> np.ndarray | None:
        values = known_values([self.input_value(0), self.input_value(2)])
        indices, axis = exact_value(self.input_value(1)), exact_value(self.input_value(3))
        if values is None or indices is None or axis is None or values[0].ndim != 1:
            return None
        return written_value(values[0], indices, values[1])


def written_value(data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray | None:
    """Return a known vector with some elements replaced; None if an index is out of range."""
    if indices.size and not (-data.size <= indices.min() and indices.max() < data.size):
        return None
    written = data.astype(object)
    written[indices.reshape(-1)] = updates.reshape(-1)
    return tidy(written)


class ScatterElementsUpdateV3(Op, type_name="ScatterElementsUpdate", opset=3):
    """ScatterElementsUpdate without a reduction.

    - ``indices``: the positions along ``axis``, in the shape of ``updates``.
    - ``updates``: the values to write.
    - ``axis``: an integer scalar.
    """

    input_names = ("data", "indices", "updates", "axis")
    shape_inputs = (3,)
    reduction = "none"
    use_init_val = True

    def validate_and_infer_types(self) -> None:
        element_type = common_type(self, (0, 2))
        check_type(self, (1, 3), Type.is_integer, "integers")
        check_scalar_or_one(self, 3)
        if self.reduction == "mean" and element_type is Type.boolean:
            self.fail("reduction mean does not accept boolean data")
        data, indices, updates = (self.get_input_partial_shape(index) for index in range(3))
        if not indices.compatible(updates):
            self.fail(f"indices {indices} and updates {updates} must have the same shape")
        for index in (1, 2) if data.has_rank else ():
            shape_of_rank(self, index, len(data))
        known_axis(self, 3, data)
        self.set_output_type(0, element_type, data)


class ScatterElementsUpdate(ScatterElementsUpdateV3, opset=12):
    """One element written for each index; with axis 1: ``out[i][indices[i][j][k]][k] = updates[i][j][k]``.

    With a ``reduction`` all updates of an element are combined, including its original value if ``use_init_val``.
    """

    reduction = Attribute(choice("none", "sum", "prod", "min", "max", "mean"), "None")
    use_init_val = Attribute(bool, True)


class ScatterNDUpdateV4(Op, type_name="ScatterNDUpdate", opset=4):
    """ScatterNDUpdate without a reduction.

    - ``indices``: ``[…, K]``, vectors of positions along the first K axes of the data.
    - ``updates``: ``[…, rest of the data's shape]``, the values to write.
    """

    input_names = ("data", "indices", "updates")
    reduction = "none"

    def validate_and_infer_types(self) -> None:
        element_type = common_type(self, (0, 2))
        check_type(self, [1], Type.is_integer, "integers")
        data, indices, updates = non_scalar_shape(self, 0), non_scalar_shape(self, 1), self.get_input_partial_shape(2)
        if data.has_rank and indices.has_rank:
            depth = indices[-1]
            if depth.min_length > len(data):
                self.fail(f"indices {indices} address {depth} dimensions of data {data}")
            if depth.is_static:
                wanted = concatenate(indices[:-1], data[depth.get_length() :])
                if not updates.compatible(wanted):
                    self.fail(f"updates {updates} must have the shape {wanted} for data {data} and indices {indices}")
        self.set_output_type(0, element_type, data)

    def infer_value(self) -> np.ndarray | None:
        values = known_values([self.input_value(0), self.input_value(2)])
        indices = exact_value(self.input_value(1))
        if values is None or indices is None or values[0].ndim != 1 or indices.shape[-1] != 1:
            return None
        return written_value(values[0], indices, values[1]) if self.reduction == "none" else None


class ScatterNDUpdate(ScatterNDUpdateV4, opset=15):
    """The data with the elements or slices at the index vectors replaced by, or reduced with, the updates.

    Data ``[D1 … Dk, rest…]``, indices ``[I…, k]``, updates ``[I…, rest…]``.

    - ``reduction``: how updates are combined with the data: none replaces.
    """

    reduction = Attribute(choice("none", "sum", "sub", "prod", "min", "max"), None)

    def validate_and_infer_types(self) -> None:
        self.reduction = self.reduction or "none"
        super().validate_and_infer_types()


class SliceScatter(Sliced, opset=15):
    """The data with the slice ``start:stop:step`` along ``axes`` replaced by the updates."""

    input_names = ("data", "updates", "start", "stop", "step", "axes?")
    shape_inputs = (2, 3, 4, 5)
    first_bound = 2

    def validate_and_infer_types(self) -> None:
        element_type = common_type(self, (0, 1))
        data, updates = self.get_input_partial_shape(0), non_scalar_shape(self, 1)
        region = self.sliced_shape()
        if region.has_rank and updates.has_rank and len(region) != len(updates):
            self.fail(f"updates {updates} must have as many dimensions as data {data}")
        if region.has_rank and updates.has_rank:
            for pair in zip(region, updates):
                merge_dimensions(self, pair, "dimensions of the slice and of the updates")
        self.set_output_type(0, element_type, data if data.has_rank else PartialShape.dynamic(updates.rank))
