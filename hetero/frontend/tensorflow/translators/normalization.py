"""Batch normalization, softmax, and the cross entropy of softmax."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.normalization import local_response
from hetero.frontend.tensorflow.layout import ImageLayout
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import axis_length, convert_to, int64, multiply_by, rank_of, scalar_like
from hetero.graph import Output


@translator("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(node: TensorflowNodeContext) -> Translation:
    """Return the result, the mean and the variance, which in training are those of the batch.

    Statistics are f32 also for data of 16 bits. In training the variance in the outputs is the unbiased one, mixed with
    the given statistics by ``exponential_avg_factor``.
    """
    layout = ImageLayout.of(node)
    data = layout.to_channels_second(node.get_input(0))
    kind = data.element_type
    scale, offset, mean, variance = (convert_to(node.get_input(index), kind) for index in range(1, 5))
    epsilon = node.get_attribute("epsilon", 1e-4)
    if node.get_attribute("is_training", True):
        axes = int64([axis for axis in range(rank_of(data)) if axis != 1])
        mean = ops.ReduceMean(data, axes, True).output(0)
        variance = ops.ReduceMean(ops.SquaredDifference(data, mean), axes, False).output(0)
        mean = ops.Squeeze(mean, axes).output(0)
        result = ops.BatchNormInference(data, scale, offset, mean, variance, epsilon)
        outputs = [layout.from_channels_second(result)]
        if node.is_needed(1) or node.is_needed(2):
            count = ops.Divide(ops.ReduceProd(ops.ShapeOf(data), int64([0]), False), axis_length(data, 1))
            others = ops.Maximum(ops.Subtract(count, int64(1)), int64(1))
            unbiased = ops.Multiply(variance, ops.Divide(ops.Convert(count, kind), ops.Convert(others, kind))).output(0)
            outputs += [_mixed(node, mean, 3), _mixed(node, unbiased, 4)]
        return outputs
    result = ops.BatchNormInference(data, scale, offset, mean, variance, epsilon)
    return [layout.from_channels_second(result), node.get_input(3), node.get_input(4)]


def _mixed(node: TensorflowNodeContext, statistic: Output, index: int) -> Output:
    """Return a statistic of the batch in f32, mixed with the one in an input."""
    previous, factor = node.get_input(index), node.get_attribute("exponential_avg_factor", 1.0, float)
    statistic = convert_to(statistic, previous.element_type)
    if factor == 1:
        return statistic
    return ops.Add(multiply_by(previous, 1 - factor), multiply_by(statistic, factor)).output(0)


def _cross_entropy(scores: Output, probabilities: Output) -> Translation:
    """Return the loss of each row of scores, and its gradient. Labels are probabilities of the classes."""
    losses = ops.Negative(ops.ReduceSum(ops.Multiply(probabilities, ops.LogSoftmax(scores, -1)), int64([-1]), False))
    return [losses, ops.Subtract(ops.Softmax(scores, -1), probabilities)]


def _sparse_cross_entropy(scores: Output, labels: Output) -> Translation:
    """Labels are the numbers of classes."""
    one, zero = scalar_like(scores, 1), scalar_like(scores, 0)
    classes = axis_length(scores, -1)
    return _cross_entropy(scores, ops.OneHot(convert_to(labels, Type.i64), classes, one, zero, -1).output(0))


rows(
    {
        "LRN": Row(
            local_response, 0, radius=Attr("depth_radius", 5, int), alpha=Attr("alpha", 1.0, float),
            beta=Attr("beta", 0.5, float), bias=Attr("bias", 1.0, float),
        ),
        "LogSoftmax": Row(ops.LogSoftmax, axis=-1), "Softmax": Row(ops.Softmax, axis=-1),
        "SoftmaxCrossEntropyWithLogits": Row(_cross_entropy),
        "SparseSoftmaxCrossEntropyWithLogits": Row(_sparse_cross_entropy),
    }
)  # fmt: skip
