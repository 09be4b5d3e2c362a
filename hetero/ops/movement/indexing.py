"""Gather and scatter operations: elements and slices that indices select."""

from __future__ import annotations

import numpy as np

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    check_index_type,
    check_scalar,
    check_scalar_or_one,
    check_type,
    common_type,
    exact_number,
    exact_value,
    is_number,
    is_short,
    known_axis,
    known_values,
    merge_dimensions,
    non_scalar_shape,
    normalize_axis,
    shape_of_rank,
    tidy,
)
from hetero.ops.movement.slicing import Sliced


class GatherV1(Op, type_name="Gather", opset=1):
    """Gather without batch dimensions.

    - ``indices``: the positions along ``axis``.
    - ``axis``: an integer scalar.
    """

    input_names = ("data", "indices", "axis")
    shape_inputs = (2,)
    batch_dims = 0

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self._shape())

    def _shape(self) -> PartialShape:
        data, indices = non_scalar_shape(self, 0), self.get_input_partial_shape(1)
        axis = known_axis(self, 2, data)
        if not data.has_rank or not indices.has_rank:
            return PartialShape.dynamic()
        batch = self.batch_dims + len(indices) if self.batch_dims < 0 else self.batch_dims
        if not 0 <= batch <= min(len(indices), len(data)):
            self.fail(f"batch_dims {self.batch_dims} does not fit data {data} and indices {indices}")
        shared = [merge_dimensions(self, pair, "batch dimensions") for pair in zip(data[:batch], indices[:batch])]
        if axis is None:
            return concatenate(shared, PartialShape.dynamic(len(data) + len(indices) - 1 - 2 * batch))
        if batch > axis:
            self.fail(f"batch_dims {self.batch_dims} must not be more than the axis {axis}")
        return concatenate(shared, data[batch:axis], indices[batch:], data[axis + 1 :])

    def infer_value(self) -> np.ndarray | None:
        values = known_values(self.input_values()[:1])
        indices, axis = exact_value(self.input_value(1)), exact_number(self.input_value(2))
        if values is None or indices is None or axis is None or self.batch_dims or not values[0].ndim:
            return None
        length = values[0].shape[axis]
        if not is_short(self.output(0)) or (indices.size and (indices.min() < -length or indices.max() >= length)):
            return None
        return tidy(np.asarray(np.take(values[0], indices, axis), values[0].dtype))


class GatherV7(GatherV1, type_name="Gather", opset=7):
    """Gather without guaranteed support of negative indices.

    - ``batch_dims``: the number of leading axes that data and indices share.
    """

    batch_dims = Attribute(int, 0)


class Gather(GatherV7, opset=8):
    """The slices of the data along ``axis`` selected by ``indices``; a negative index counts from the end.

    The first ``batch_dims`` dimensions are common to data and indices. The output has the shape of the data with the
    dimension at ``axis`` replaced by the remaining dimensions of the indices.
    """


class GatherElements(Op, opset=6):
    """One element for each index; with axis 1: ``out[i][j][k] = data[i][indices[i][j][k]][k]``.

    - ``axis``: the axis of the data, which may be negative.
    """

    input_names = ("data", "indices")
    axis = Attribute(int, 0)

    def validate_and_infer_types(self) -> None:
        check_type(self, [1], Type.is_integer, "integers")
        data, indices = non_scalar_shape(self, 0), non_scalar_shape(self, 1)
        shape = indices
        if data.has_rank:
            axis = normalize_axis(self, self.axis, len(data))
            indices = shape_of_rank(self, 1, len(data))
            shape = PartialShape([
                pair[1] if i == axis else merge_dimensions(self, pair, f"dimensions {i} of its inputs")
                for i, pair in enumerate(zip(data, indices))
            ])  # fmt: skip
        self.set_output_type(0, self.get_input_element_type(0), shape)


class GatherNDV5(Op, type_name="GatherND", opset=5):
    """GatherND with all batch dimensions of the output flattened into one.

    - ``batch_dims``: the number of leading axes that data and indices share.
    - ``indices``: ``[…, K]``, vectors of positions along the K axes after the batch.
    """

    input_names = ("data", "indices")
    batch_dims = Attribute(int, 0)

    def validate_and_infer_types(self) -> None:
        check_type(self, [1], Type.is_integer, "integers")
        self.set_output_type(0, self.get_input_element_type(0), self._shape())

    def _shape(self) -> PartialShape:
        data, indices, batch = self.get_input_partial_shape(0), self.get_input_partial_shape(1), self.batch_dims
        if batch < 0:
            self.fail(f"batch_dims must not be negative, but is {batch}")
        if indices.has_rank and batch >= len(indices):
            self.fail(f"batch_dims {batch} must be less than the dimensions of indices {indices}")
        if data.has_rank and batch >= len(data):
            self.fail(f"batch_dims {batch} must be less than the dimensions of data {data}")
        if not data.has_rank or not indices.has_rank:
            return PartialShape.dynamic()
        shared = [merge_dimensions(self, pair, "batch dimensions") for pair in zip(data[:batch], indices[:batch])]
        depth = indices[-1]
        if depth.min_length > len(data) - batch:
            self.fail(f"indices {indices} address {depth} dimensions of data {data} after {batch} batch dimensions")
        if depth.is_dynamic:
            return PartialShape.dynamic()
        return concatenate(self.batch_shape(shared), indices[batch:-1], data[batch + depth.get_length() :])

    def batch_shape(self, shared: list[Dimension]) -> list[Dimension]:
        """Return the batch dimensions of the output."""
        return [PartialShape(shared).element_count()] if shared else []


class GatherND(GatherNDV5, opset=8):
    """The elements or slices of the data selected by the vectors along the last axis of the indices.

    Data ``[B…, D1 … Dk, rest…]`` and indices ``[B…, I…, k]`` to ``[B…, I…, rest…]``, with ``batch_dims`` dimensions B.
    """

    def batch_shape(self, shared: list[Dimension]) -> list[Dimension]:
        return shared


class GatherTree(Op, opset=1):
    """The complete sequences of a beam search, found by following the parent indices back from the last step.

    ``step_ids`` and ``parent_idx`` are ``[steps, batch, beams]``, as is the output; ``max_seq_len`` is ``[batch]``,
    ``end_token`` a scalar.
    """

    input_names = ("step_ids", "parent_idx", "max_seq_len", "end_token")

    def validate_and_infer_types(self) -> None:
        element_type = common_type(self, range(4))
        steps, parents, lengths = shape_of_rank(self, 0, 3), shape_of_rank(self, 1, 3), shape_of_rank(self, 2, 1)
        check_scalar(self, 3)
        if not steps.compatible(parents):
            self.fail(f"step_ids {steps} and parent_idx {parents} must have the same shape")
        count, batch, beams = steps.merge(parents)
        batch = merge_dimensions(self, (batch, lengths[0]), "batches")
        self.set_output_type(0, element_type, [count, batch, beams])


class NonZero(Op, opset=3):
    """The indices of all nonzero elements, ``[rank, count]``, in row-major order.

    - ``output_type``: i32 or i64, the element type of the indices.
    """

    input_names = ("data",)
    output_type = Attribute(Type, "i64")

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "output_type")
        check_type(self, (0,), lambda t: is_number(t) or t is Type.boolean, "a number or boolean")
        shape = self.get_input_partial_shape(0)
        if not shape.has_rank:
            return self.set_output_type(0, self.output_type, PartialShape.dynamic(2))
        # As in OpenVINO, the first dimension is unknown for a scalar.
        rank = Dimension(len(shape)) if len(shape) else Dimension()
        most = shape.element_count().max_length if len(shape) else -1
        self.set_output_type(0, self.output_type, [rank, Dimension(0, most)])


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
