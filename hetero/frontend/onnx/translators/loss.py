"""Losses: how far scores of classes are from the classes that are right."""

from __future__ import annotations

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, scalar_like
from hetero.graph import Output


@translator("NegativeLogLikelihoodLoss", since=12)
def negative_log_likelihood_loss(node: OnnxNodeContext) -> Translation:
    return _loss(node, node.get_input(0))


@translator("SoftmaxCrossEntropyLoss", since=12)
def softmax_cross_entropy_loss(node: OnnxNodeContext) -> Translation:
    logarithms = ops.LogSoftmax(node.get_input(0), 1).output(0)
    loss = _loss(node, logarithms)
    return [loss, logarithms] if node.has_output(1) else [loss]


def _loss(node: OnnxNodeContext, logarithms: Output) -> Output:
    """The negative logarithms ``[N, C, d…]`` at the classes ``[N, d…]``, times the weights of the classes."""
    classes, ignored = node.get_input(1), node.get_attribute("ignore_index", None)
    counts = None
    if ignored is not None:
        counts = ops.NotEqual(classes, scalar_like(classes, ignored))
        classes = ops.Select(counts, classes, scalar_like(classes, 0)).output(0)  # it need not be a class
    loss = ops.Negative(_at(logarithms, classes)).output(0)
    weights = None
    if node.has_input(2):
        weights = ops.Gather(node.get_input(2), classes, int64(0)).output(0)
        if counts is not None:
            weights = ops.Select(counts, weights, scalar_like(weights, 0)).output(0)
    elif counts is not None:
        weights = ops.Convert(counts, logarithms.element_type).output(0)
    if weights is not None:
        # By a choice, as the logarithm where nothing counts may be infinite.
        weighted = ops.Multiply(loss, weights)
        loss = (weighted if counts is None else ops.Select(counts, weighted, scalar_like(loss, 0))).output(0)
    return _reduced(loss, weights, node.get_attribute("reduction", "mean"))


def _at(logarithms: Output, classes: Output) -> Output:
    """The element of each class."""
    indices = ops.Unsqueeze(classes, int64([1]))
    return ops.Squeeze(ops.GatherElements(logarithms, indices, 1), int64([1])).output(0)


def _reduced(loss: Output, weights: Output | None, reduction: str) -> Output:
    if reduction == "none":
        return loss
    if reduction not in ("sum", "mean"):
        raise FrontendError(f"reduction {reduction} is none of none, sum and mean")
    axes = int64(range(rank_of(loss)))
    if reduction == "mean" and weights is None:
        return ops.ReduceMean(loss, axes, False).output(0)
    total = ops.ReduceSum(loss, axes, False)
    return (total if reduction == "sum" else ops.Divide(total, ops.ReduceSum(weights, axes, False))).output(0)
