"""Cross entropy of softmax."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, scalar_like
from hetero.graph import Output


@translator("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(node: TensorflowNodeContext) -> Translation:
    """The loss of each row of scores, and its gradient. Labels are probabilities of the classes."""
    return _cross_entropy(*node.get_inputs())


@translator("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(node: TensorflowNodeContext) -> Translation:
    """Labels are the numbers of classes."""
    scores, labels = node.get_inputs()
    one, zero = scalar_like(scores, 1), scalar_like(scores, 0)
    classes = axis_length(scores, -1)
    return _cross_entropy(scores, ops.OneHot(convert_to(labels, Type.i64), classes, one, zero, -1).output(0))


def _cross_entropy(scores: Output, probabilities: Output) -> Translation:
    losses = ops.Negative(ops.ReduceSum(ops.Multiply(probabilities, ops.LogSoftmax(scores, -1)), int64([-1]), False))
    return [losses, ops.Subtract(ops.Softmax(scores, -1), probabilities)]
