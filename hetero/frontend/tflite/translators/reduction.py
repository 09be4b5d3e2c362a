"""Reductions, cumulative sums, extremes, the largest elements, unique elements and buckets; normalizations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.normalization import local_response
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import computes_in_float, preserves_quantization
from hetero.frontend.tflite.translators.common import activated
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import convert_to, int64, multiply_by, reshape, scalar_like
from hetero.graph import Node, Output

_KEEP_DIMS = Attr("keep_dims", False)


def _mean(value: Output, axes: Output, keep_dims: bool) -> Node:
    """Return the mean. That of no elements is NaN in TensorFlow Lite, but 0 in OpenVINO's ReduceMean."""
    if value.element_type.is_real() and value.partial_shape.element_count() == 0:
        return ops.Divide(ops.ReduceSum(value, axes, keep_dims), scalar_like(value, 0))
    return ops.ReduceMean(value, axes, keep_dims)


rows(
    {
        "MEAN": Row(_mean, 0, 1, keep_dims=_KEEP_DIMS),
        "REDUCE_PROD": Row(ops.ReduceProd, 0, 1, keep_dims=_KEEP_DIMS),
        "SUM": Row(ops.ReduceSum, 0, 1, keep_dims=_KEEP_DIMS),
    },
    computes_in_float,
)
rows(
    {
        "REDUCE_ALL": Row(ops.ReduceLogicalAnd, 0, 1, keep_dims=_KEEP_DIMS),
        "REDUCE_ANY": Row(ops.ReduceLogicalOr, 0, 1, keep_dims=_KEEP_DIMS),
        "REDUCE_MAX": Row(ops.ReduceMax, 0, 1, keep_dims=_KEEP_DIMS),
        "REDUCE_MIN": Row(ops.ReduceMin, 0, 1, keep_dims=_KEEP_DIMS),
    },
    preserves_quantization,
)
rows(
    {
        "BUCKETIZE": Row(
            lambda value, boundaries: ops.Bucketize(value, np.array(boundaries, np.float32), Type.i32, False),
            0,
            boundaries=Attr("boundaries", ()),
        ),
        "CUMSUM": Row(ops.CumSum, 0, 1, exclusive=Attr("exclusive", False), reverse=Attr("reverse", False)),
    }
)


@translator("ARG_MAX", "ARG_MIN")
def arg_max_or_min(node: TfliteNodeContext) -> Translation:
    """Return the index of the largest or least element, the first one of several that are equal."""
    value, axis = node.get_input(0), node.get_values_from_const_input(1, dtype=int)
    axis = axis if isinstance(axis, int) else axis[0]
    mode = "max" if node.get_op_type() == "ARG_MAX" else "min"
    value = convert_to(value, Type.u8) if value.element_type is Type.boolean else value
    best = ops.TopK(value, int64(1), axis, mode, "value", node.output_type(0), True)
    return ops.Squeeze(best.output(1), int64([axis]))


@translator("TOPK_V2")
def top_k(node: TfliteNodeContext) -> Translation:
    kind = node.output_type(1)
    index = kind if kind in (Type.i32, Type.i64) else Type.i32
    best = ops.TopK(node.get_input(0), reshape(node.get_input(1), ()), -1, "max", "value", index, True)
    return [best.output(0), best.output(1) if kind is index else ops.Convert(best.output(1), kind)]


@translator("UNIQUE")
def unique(node: TfliteNodeContext) -> Translation:
    """Return the unique elements in the order of their first occurrence, and the index of each element among them."""
    operation = ops.Unique(node.get_input(0), None, False, node.output_type(1))
    return [operation.output(0), operation.output(2)]


# A lower bound of a vector's L2 norm, against division by zero.
_MIN_NORM = 1e-6

rows(
    {
        "SOFTMAX": Row(lambda value, beta: ops.Softmax(multiply_by(value, beta), -1), 0, beta=Attr("beta", 1.0)),
        "LOG_SOFTMAX": Row(ops.LogSoftmax, 0, axis=-1),
    },
    computes_in_float,
)
rows({"L2_NORMALIZATION": Row(ops.NormalizeL2, 0, axes=np.array([-1]), eps=_MIN_NORM**2, eps_mode="max")}, activated)


rows(
    {
        "LOCAL_RESPONSE_NORMALIZATION": Row(
            local_response, 0, radius=Attr("radius"), alpha=Attr("alpha", dtype=float), beta=Attr("beta", dtype=float),
            bias=Attr("bias", dtype=float),
        )
    }
)  # fmt: skip
