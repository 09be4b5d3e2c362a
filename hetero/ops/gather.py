"""Gather: slices of the data picked by indices."""

from __future__ import annotations

import numpy as np

from hetero.graph import Attribute, Op
from hetero.ops.checks import merge_dimensions, normalize_axis
from hetero.ops.values import exact_value, known_values, tidy
from hetero.shape import PartialShape, concatenate


class Gather(Op, opset=8):
    """The slices of the data along ``axis`` that the indices name; a negative index counts from the end.

    The first ``batch_dims`` dimensions of data and indices run together. The shape is that of the data with
    the dimension at the axis replaced by the indices' other dimensions.
    """

    inputs = ("data", "indices", "axis")
    shape_inputs = (2,)
    batch_dims = Attribute(int, 0)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self._shape())

    def _shape(self) -> PartialShape:
        data, indices = self.get_input_partial_shape(0), self.get_input_partial_shape(1)
        axis = exact_value(self.input_value(2))
        if axis is not None and axis.size != 1:
            self.fail(f"axis must be one number, but has {axis.size}")
        if not data.has_rank or not indices.has_rank:
            return PartialShape.dynamic()
        batch = self.batch_dims + len(indices) if self.batch_dims < 0 else self.batch_dims
        if not 0 <= batch <= min(len(indices), len(data)):
            self.fail(f"batch_dims {self.batch_dims} does not fit data {data} and indices {indices}")
        if axis is None:
            return PartialShape.dynamic(len(data) + len(indices) - 1 - batch)
        place = normalize_axis(self, int(axis.reshape(-1)[0]), len(data))
        if batch > place:
            self.fail(f"batch_dims {self.batch_dims} must not be more than the axis {place}")
        shared = [merge_dimensions(self, pair, "batch dimensions") for pair in zip(data[:batch], indices[:batch])]
        return concatenate(shared, data[batch:place], indices[batch:], data[place + 1 :])

    def infer_value(self) -> np.ndarray | None:
        values, indices, axis = (
            known_values(self.input_values()[:1]),
            exact_value(self.input_value(1)),
            exact_value(self.input_value(2)),
        )
        if values is None or indices is None or axis is None or self.batch_dims or not values[0].ndim:
            return None
        length = values[0].shape[int(axis.reshape(-1)[0])]
        if indices.size and not (-length <= indices.min() and indices.max() < length):
            return None
        picked = np.take(values[0], indices, axis=int(axis.reshape(-1)[0]))
        return tidy(np.asarray(picked, dtype=values[0].dtype))
