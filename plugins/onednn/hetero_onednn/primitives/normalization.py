"""Softmax."""

from __future__ import annotations

from hetero import ops
from hetero_onednn.api import FORWARD_INFERENCE, Algorithm, Argument
from hetero_onednn.attributes import Attributes
from hetero_onednn.lowering import Lowering
from hetero_onednn.operation import Operation
from hetero_onednn.primitive import describe
from hetero_onednn.primitives.checks import rank_reason, type_reason
from hetero_onednn.primitives.registry import lowers


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
