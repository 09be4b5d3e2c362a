"""Softmax and normalizations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.graph import Output, constant_array
from hetero_onednn.library.api import FORWARD_INFERENCE, Algorithm, Argument, Binary
from hetero_onednn.library.attributes import Attributes
from hetero_onednn.library.descriptors import plain
from hetero_onednn.library.primitive import describe
from hetero_onednn.lowering import Lowering
from hetero_onednn.operation import PrimitiveOperation
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason, unsupported_unless
from hetero_onednn.program import Value


@lowers(ops.Softmax, ops.LogSoftmax, unless=unsupported_unless(least=1))
def softmax(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, result = operation.main, operation.result
    source = lowering.dense(operation.inputs[0], node)
    algorithm = Algorithm.softmax_log if isinstance(node, ops.LogSoftmax) else Algorithm.softmax_accurate
    axis = node.axis % len(result.shape)
    layout = source.descriptor
    descriptor = describe("softmax_forward", FORWARD_INFERENCE, algorithm, layout, layout, axis, Attributes())
    lowering.define(result, lowering.execute(node, descriptor, {Argument.src: source}))


def _unsupported_mvn(node: ops.MVN) -> str | None:
    if not node.normalize_variance or node.eps_mode != "inside_sqrt":
        return "oneDNN divides by the square root of the variance plus epsilon only"
    if reason := type_reason(node, inputs=1) or rank_reason(node, 1):
        return reason
    rank = len(node.get_input_partial_shape(0))
    axes = _mvn_axes(node, rank)
    if axes is None or sorted(axes) != list(range(rank - len(axes), rank)) or not axes:
        return "oneDNN normalizes over the last axes only"
    return None


def _mvn_axes(node: ops.MVN | ops.MVNV2, rank: int) -> list[int] | None:
    if isinstance(node, ops.MVNV2):
        axes: Sequence[int] | None = node.reduction_axes
    else:
        array = constant_array(node.input_value(1))
        axes = None if array is None else array.reshape(-1).tolist()
    return None if axes is None else sorted({axis % rank for axis in axes})


@lowers(ops.MVN, ops.MVNV2, unless=_unsupported_mvn)
def mvn(lowering: Lowering, operation: PrimitiveOperation) -> None:
    data = operation.inputs[0]
    axes = _mvn_axes(operation.main, len(data.shape))
    assert axes is not None
    rows = math.prod(data.shape[: axes[0]])
    lowering.define(operation.result, _normalized(lowering, operation, rows, operation.main.eps))


def _normalized(lowering: Lowering, operation: PrimitiveOperation, rows: int, epsilon: float) -> Value:
    """Return the data with each of ``rows`` rows normalized."""
    node, data = operation.main, operation.inputs[0]
    source = lowering.plain(data, node)
    layout = plain([rows, math.prod(data.shape) // rows], source.descriptor.data_type)
    # The statistics are computed by the primitive.
    descriptor = describe(
        "layer_normalization_forward", FORWARD_INFERENCE, layout, layout, None, epsilon, 0, Attributes()
    )
    rows_of_data = Value(source.buffer, layout, source.offset)
    return Value(lowering.execute(node, descriptor, {Argument.src: rows_of_data}).buffer, source.descriptor)


@lowers(ops.GroupNormalization, unless=unsupported_unless(least=2))
def group_normalization(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, (data, scale, bias) = operation.main, operation.inputs
    value = _normalized(lowering, operation, data.shape[0] * node.num_groups, node.epsilon)
    for algorithm, operand in ((Binary.mul, scale), (Binary.add, bias)):
        value = _per_channel(lowering, operation, value, algorithm, operand)
    lowering.define(operation.result, value)


def _per_channel(
    lowering: Lowering, operation: PrimitiveOperation, value: Value, algorithm: Binary, operand: Output
) -> Value:
    layout = value.descriptor
    channels = plain([1, layout.dims[1], *[1] * (layout.rank - 2)], lowering.stored_type(operand))
    other = lowering.as_seen(operand, channels, channels, operation.node)
    descriptor = describe("binary", algorithm, layout, channels, layout, Attributes())
    return lowering.execute(operation.node, descriptor, {Argument.src: value, Argument.src_1: other}, layout)


def _unsupported_lrn(node: ops.LRN) -> str | None:
    axes = constant_array(node.input_value(1))
    if axes is None or axes.reshape(-1).tolist() != [1]:
        return "oneDNN normalizes across channels only"
    if not node.size % 2:
        return "its window is not centered"
    return type_reason(node, inputs=1) or rank_reason(node, 3, 5)


@lowers(ops.LRN, unless=_unsupported_lrn)
def local_response_normalization(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node = operation.main
    source = lowering.dense(operation.inputs[0], node)
    numbers = node.size, node.alpha, node.beta, node.bias
    kind, layout = Algorithm.lrn_across_channels, source.descriptor
    descriptor = describe("lrn_forward", FORWARD_INFERENCE, kind, layout, layout, *numbers, Attributes())
    lowering.define(operation.result, lowering.execute(node, descriptor, {Argument.src: source}))
