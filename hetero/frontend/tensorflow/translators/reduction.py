"""Reductions over axes."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import scalar_like

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
    if node.get_op_type() == "Mean" and value.element_type.is_real() and value.partial_shape.element_count() == 0:
        # The mean of no elements is NaN in TensorFlow, but 0 in OpenVINO's ReduceMean.
        return ops.Divide(ops.ReduceSum(value, axes, keep), scalar_like(value, 0))
    reduced = _REDUCTIONS[node.get_op_type()](value, axes, keep)
    if (
        node.get_op_type() in ("Max", "Min")
        and value.element_type.is_real()
        and value.partial_shape.element_count() == 0
    ):
        # The maximum of no elements is -infinity in TensorFlow, but the lowest number in OpenVINO's ReduceMax.
        infinity = scalar_like(value, np.inf if node.get_op_type() == "Min" else -np.inf)
        return ops.Add(reduced, infinity)
    return reduced
