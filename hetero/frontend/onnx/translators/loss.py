"""Classification losses: negative log likelihood and softmax cross entropy."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Output
from hetero.system.errors import FrontendError


@translator("NegativeLogLikelihoodLoss", since=12)
def negative_log_likelihood_loss(node: OnnxNodeContext) -> Translation:
    return _loss(node, node.get_input(0))


@translator("SoftmaxCrossEntropyLoss", since=12)
def softmax_cross_entropy_loss(node: OnnxNodeContext) -> Translation:
    log_probabilities = ops.LogSoftmax(node.get_input(0), 1).output(0)
    loss = _loss(node, log_probabilities)
    return [loss, log_probabilities] if node.has_output(1) else [loss]


def _loss(node: OnnxNodeContext, log_probabilities: Output) -> Output:
    """Return the negative log probabilities ``[N, C, d…]`` of the target classes ``[N, d…]``, weighted and reduced."""
    classes, ignored = node.get_input(1), node.get_attribute("ignore_index", None)
    valid = None
    if ignored is not None:
        valid = ops.NotEqual(classes, scalar_like(classes, ignored))
        classes = ops.Select(valid, classes, scalar_like(classes, 0)).output(0)  # ignore_index may be out of range
    loss = ops.Negative(_select_classes(log_probabilities, classes)).output(0)
    weights = None
    if node.has_input(2):
        weights = ops.Gather(node.get_input(2), classes, int64(0)).output(0)
        if valid is not None:
            weights = ops.Select(valid, weights, scalar_like(weights, 0)).output(0)
    elif valid is not None:
        weights = ops.Convert(valid, log_probabilities.element_type).output(0)
    if weights is not None:
        # Select, because the loss of an ignored element may be infinite, and infinity times 0 is NaN.
        weighted = ops.Multiply(loss, weights)
        loss = (weighted if valid is None else ops.Select(valid, weighted, scalar_like(loss, 0))).output(0)
    return _reduce(loss, weights, node.get_attribute("reduction", "mean"))


def _select_classes(log_probabilities: Output, classes: Output) -> Output:
    """Return the elements ``[N, d…]`` of ``[N, C, d…]`` at the classes."""
    indices = ops.Unsqueeze(classes, int64([1]))
    return ops.Squeeze(ops.GatherElements(log_probabilities, indices, 1), int64([1])).output(0)


def _reduce(loss: Output, weights: Output | None, reduction: str) -> Output:
    if reduction == "none":
        return loss
    if reduction not in ("sum", "mean"):
        raise FrontendError(f"reduction must be none, sum or mean, but is {reduction}")
    axes = int64(range(rank_of(loss)))
    if reduction == "mean" and weights is None:
        return ops.ReduceMean(loss, axes, False).output(0)
    total = ops.ReduceSum(loss, axes, False)
    return (total if reduction == "sum" else ops.Divide(total, ops.ReduceSum(weights, axes, False))).output(0)
