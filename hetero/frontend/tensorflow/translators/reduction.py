"""Reductions over axes."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, normalize_axis, scalar_like
from hetero.graph import Output, constant_array

_REDUCTIONS = {
    "Mean": ops.ReduceMean, "Sum": ops.ReduceSum, "Prod": ops.ReduceProd, "Max": ops.ReduceMax, "Min": ops.ReduceMin,
    "All": ops.ReduceLogicalAnd, "Any": ops.ReduceLogicalOr,
}  # fmt: skip


@translator(*_REDUCTIONS)
def reduce(node: TensorflowNodeContext) -> Translation:
    value, axes, keep = node.get_input(0), node.get_input(1), node.get_attribute("keep_dims", False)
    if node.is_complex():
        # Negative axes do not count the axis of real and imaginary parts.
        is_negative = ops.Less(axes, scalar_like(axes, 0))
        axes = ops.Select(is_negative, ops.Subtract(axes, scalar_like(axes, 1)), axes).output(0)
    reduced = _REDUCTIONS[node.get_op_type()](value, axes, keep)
    if node.get_op_type() not in _OF_NO_ELEMENTS or not value.element_type.is_real():
        return reduced
    count = _element_count(value, axes)
    if count is None:
        return reduced
    # OpenVINO's reductions of no elements give the lowest or the greatest number, or 0.
    wanted, zero = scalar_like(value, _OF_NO_ELEMENTS[node.get_op_type()]), scalar_like(value, 0)
    return ops.Add(reduced, ops.Select(ops.Equal(count, int64(0)), wanted, zero))


# The results of reductions of no elements.
_OF_NO_ELEMENTS = {"Mean": np.nan, "Max": -np.inf, "Min": np.inf}


def _element_count(value: Output, axes: Output) -> Output | None:
    """Return the number of elements that are reduced to one, None if it is known to be positive."""
    known, shape = constant_array(axes), value.partial_shape
    if known is not None and shape.has_rank:
        numbers = [normalize_axis(axis, len(shape)) for axis in known.reshape(-1).tolist()]
        if all(shape[axis].min_length > 0 for axis in numbers):
            return None
    lengths = ops.Gather(ops.ShapeOf(value), ops.Reshape(axes, int64([-1]), False), int64(0))
    return ops.ReduceProd(lengths, int64([0]), False).output(0)
