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
from hetero_onednn.operation import Operation
from hetero_onednn.primitives.checks import rank_reason, type_reason
from hetero_onednn.primitives.registry import lowers
from hetero_onednn.program import Value


def _unsupported_softmax(node: ops.Softmax) -> str | None:
    return type_reason(node) or rank_reason(node, 1)


@lowers(ops.Softmax, ops.LogSoftmax, unless=_unsupported_softmax)
def softmax(lowering: Lowering, operation: Operation) -> None:
    node, result = operation.main, operation.result
    source = lowering.dense(operation.inputs[0], node)
    algorithm = Algorithm.softmax_log if isinstance(node, ops.LogSoftmax) else Algorithm.softmax_accurate
    axis = node.axis % len(result.shape)
    layout = source.descriptor
    descriptor = describe("softmax_forward", FORWARD_INFERENCE, algorithm, layout, layout, axis, Attributes())
    target = lowering.new_value(descriptor.dst)
    lowering.run(node, descriptor, {Argument.src: source, Argument.dst: target})
    lowering.define(result, target)


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
def mvn(lowering: Lowering, operation: Operation) -> None:
    data = operation.inputs[0]
    axes = _mvn_axes(operation.main, len(data.shape))
    assert axes is not None
    rows = math.prod(data.shape[: axes[0]])
    lowering.define(operation.result, _normalized(lowering, operation, rows, operation.main.eps))


def _normalized(lowering: Lowering, operation: Operation, rows: int, epsilon: float) -> Value:
    """Return the data with each of ``rows`` rows normalized."""
    node, data = operation.main, operation.inputs[0]
    source = lowering.plain(data, node)
    layout = plain([rows, math.prod(data.shape) // rows], source.descriptor.data_type)
    # The statistics are computed by the primitive.
    descriptor = describe(
        "layer_normalization_forward", FORWARD_INFERENCE, layout, layout, None, epsilon, 0, Attributes()
    )
    target = lowering.new_value(descriptor.dst)
    seen = Value(source.buffer, layout, source.offset)
    lowering.run(node, descriptor, {Argument.src: seen, Argument.dst: target})
    return Value(target.buffer, source.descriptor)


def _unsupported_group(node: ops.GroupNormalization) -> str | None:
    return type_reason(node) or rank_reason(node, 2)


@lowers(ops.GroupNormalization, unless=_unsupported_group)
def group_normalization(lowering: Lowering, operation: Operation) -> None:
    node, (data, scale, bias) = operation.main, operation.inputs
    value = _normalized(lowering, operation, data.shape[0] * node.num_groups, node.epsilon)
    for algorithm, operand in ((Binary.mul, scale), (Binary.add, bias)):
        value = _per_channel(lowering, operation, value, algorithm, operand)
    lowering.define(operation.result, value)


def _per_channel(lowering: Lowering, operation: Operation, value: Value, algorithm: Binary, operand: Output) -> Value:
    layout = value.descriptor
    channels = plain([1, layout.dims[1], *[1] * (layout.rank - 2)], lowering.stored_type(operand))
    other = lowering.as_seen(operand, channels, channels, operation.node)
    descriptor = describe("binary", algorithm, layout, channels, layout, Attributes())
    result = lowering.new_value(layout)
    lowering.run(operation.node, descriptor, {Argument.src: value, Argument.src_1: other, Argument.dst: result})
    return result


def _unsupported_lrn(node: ops.LRN) -> str | None:
    axes = constant_array(node.input_value(1))
    if axes is None or axes.reshape(-1).tolist() != [1]:
        return "oneDNN normalizes across channels only"
    if not node.size % 2:
        return "its window is not centered"
    return type_reason(node, inputs=1) or rank_reason(node, 3, 5)


@lowers(ops.LRN, unless=_unsupported_lrn)
def local_response_normalization(lowering: Lowering, operation: Operation) -> None:
    node = operation.main
    source = lowering.dense(operation.inputs[0], node)
    numbers = node.size, node.alpha, node.beta, node.bias
    kind, layout = Algorithm.lrn_across_channels, source.descriptor
    descriptor = describe("lrn_forward", FORWARD_INFERENCE, kind, layout, layout, *numbers, Attributes())
    target = lowering.new_value(descriptor.dst)
    lowering.run(node, descriptor, {Argument.src: source, Argument.dst: target})
    lowering.define(operation.result, target)
