"""Scores of ONNX's machine learning: what is done to them last, and the labels of classes."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.values import int64, scalar_like
from hetero.graph import Constant, Output

POST_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def post_transform(scores: Output, name: str) -> Output:
    """The scores ``[rows, targets]`` after one of the functions that ONNX names."""
    if name == "NONE":
        return scores
    if name == "SOFTMAX":
        return ops.Softmax(scores, 1).output(0)
    if name == "LOGISTIC":
        return ops.Sigmoid(scores).output(0)
    if name == "SOFTMAX_ZERO":
        return _softmax_of_others_than_zero(scores)
    if name == "PROBIT":
        return _probit(scores)
    raise FrontendError(f"post_transform {name} is not known")


def _softmax_of_others_than_zero(scores: Output) -> Output:
    powers = ops.Exp(ops.Subtract(scores, ops.ReduceMax(scores, int64([1]), True)))
    counts = ops.Greater(ops.Abs(scores), scalar_like(scores, 1e-7))
    powers = ops.Select(counts, powers, scalar_like(scores, 0))
    return ops.Divide(powers, ops.ReduceSum(powers, int64([1]), True)).output(0)


def _probit(scores: Output) -> Output:
    """The inverse of the normal distribution's cumulative function, nearly.

    With the inverse of erf by S. Winitzki, A handy approximation for the error function and its inverse (2008).
    """

    def number(value: float) -> Constant:
        return scalar_like(scores, value)

    x = ops.Subtract(ops.Multiply(scores, number(2)), number(1))
    log = ops.Log(ops.Subtract(number(1), ops.Multiply(x, x)))
    half = ops.Add(ops.Multiply(log, number(0.5)), number(2 / (np.pi * 0.147)))
    root = ops.Sqrt(ops.Subtract(ops.Multiply(half, half), ops.Divide(log, number(0.147))))
    inverse = ops.Multiply(ops.Sign(x), ops.Sqrt(ops.Subtract(root, half)))
    return ops.Multiply(inverse, number(np.sqrt(2))).output(0)


def class_labels(node: OnnxNodeContext, whole_numbers: str) -> np.ndarray:
    """The labels of the classes, numbers or strings. Raises FrontendError where there are none."""
    texts = node.get_attribute("classlabels_strings", ())
    labels = np.array(texts, np.str_) if texts else np.array(node.get_attribute(whole_numbers, ()), np.int64)
    if not labels.size:
        raise FrontendError("it has no labels of classes")
    return labels


def two_classes(
    score: Output, labels: np.ndarray, transform: str, bound: float, is_chance: bool
) -> tuple[Output, Output]:
    """Labels and scores ``[rows, 2]`` of two classes, from the score ``[rows, 1]`` of the second.

    The second wins above the bound. A chance leaves the first class the rest to 1, any other score its negative.
    """
    other = ops.Subtract(scalar_like(score, 1), score) if is_chance else ops.Negative(score)
    wins = ops.Greater(score, scalar_like(score, bound))
    if labels.size == 1:
        # One label is that of the second class; the first has none, which is 0 or "".
        labels = np.concatenate([np.zeros(1, labels.dtype), labels])
    index = ops.Squeeze(ops.Convert(wins, "i64"), int64([1]))
    label = ops.Gather(Constant(labels), index, int64(0))
    return label.output(0), post_transform(ops.Concat([other, score], 1).output(0), transform)
