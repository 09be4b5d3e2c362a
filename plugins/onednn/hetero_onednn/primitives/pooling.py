"""Pooling."""

from __future__ import annotations

from hetero import ops
from hetero_onednn.library.api import FORWARD_INFERENCE, Algorithm, Argument, dims
from hetero_onednn.library.attributes import Attributes
from hetero_onednn.library.primitive import describe
from hetero_onednn.lowering import Lowering
from hetero_onednn.operation import PrimitiveOperation
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason


def _unsupported_max(node: ops.MaxPool) -> str | None:
    if node.get_output_size() > 1 and node.output(1).get_target_inputs():
        return "oneDNN does not return the indices of maxima"
    return _unsupported_reason(node)


def _unsupported_reason(node: ops.MaxPool | ops.AvgPool) -> str | None:
    if any(pad >= size for pad, size in zip((*node.pads_begin, *node.pads_end), node.kernel_shape * 2)):
        return "a window could lie in the padding"
    if isinstance(node, ops.AvgPoolV1) and not node.exclude_pad and node.rounding_type != "floor":
        return "oneDNN counts padding that only the rounding adds"
    return type_reason(node, inputs=1) or rank_reason(node, 3, 5)


@lowers(ops.MaxPool, ops.MaxPoolV8, ops.MaxPoolV1, unless=_unsupported_max)
def max_pool(lowering: Lowering, operation: PrimitiveOperation) -> None:
    _lower(lowering, operation, Algorithm.pooling_max)


@lowers(ops.AvgPool, ops.AvgPoolV14, ops.AvgPoolV1, unless=_unsupported_reason)
def avg_pool(lowering: Lowering, operation: PrimitiveOperation) -> None:
    is_excluded = operation.main.exclude_pad
    kinds = Algorithm.pooling_avg_include_padding, Algorithm.pooling_avg_exclude_padding
    _lower(lowering, operation, kinds[is_excluded])


def _lower(lowering: Lowering, operation: PrimitiveOperation, algorithm: Algorithm) -> None:
    node, result = operation.main, operation.result
    lengths, kernel = operation.inputs[0].shape[2:], node.kernel_shape
    begin, _ = node.resolve_pads(lengths)
    # The padding at the end follows from the number of windows, which the rounding decides.
    end = [
        (count - 1) * stride + (size - 1) * dilation + 1 - length - before
        for count, stride, size, dilation, length, before in zip(
            result.shape[2:], node.strides, kernel, node.dilations, lengths, begin
        )
    ]
    source = lowering.dense(operation.inputs[0], node)
    descriptor = describe(
        "pooling_forward",
        FORWARD_INFERENCE,
        algorithm,
        source.descriptor,
        lowering.any_layout(result),
        dims(node.strides),
        dims(kernel),
        dims([dilation - 1 for dilation in node.dilations]),
        dims(begin),
        dims(end),
        Attributes(),
    )
    lowering.define(result, lowering.execute(node, descriptor, {Argument.src: source}))
