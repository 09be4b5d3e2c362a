"""Class labels and post-transforms of scores for the operators of the domain ai.onnx.ml."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.translation.values import int64, scalar_like
from hetero.graph import Constant, Op, Output, as_output
from hetero.system.errors import FrontendError


def _softmax_zero(scores: Output) -> Op:
    """Return softmax over the scores other than 0; scores of 0 stay 0."""
    powers: Op = ops.Exp(ops.Subtract(scores, ops.ReduceMax(scores, int64([1]), True)))
    is_nonzero = ops.Greater(ops.Abs(scores), scalar_like(scores, 1e-7))
    powers = ops.Select(is_nonzero, powers, scalar_like(scores, 0))
    return ops.Divide(powers, ops.ReduceSum(powers, int64([1]), True))


def _probit(scores: Output) -> Op:
    """Approximate the inverse of the normal distribution's cumulative distribution function.

    It uses the inverse of erf by S. Winitzki, A handy approximation for the error function and its inverse (2008).
    """

    def number(value: float) -> Constant:
        return scalar_like(scores, value)

    x = ops.Subtract(ops.Multiply(scores, number(2)), number(1))
    log = ops.Log(ops.Subtract(number(1), ops.Multiply(x, x)))
    half = ops.Add(ops.Multiply(log, number(0.5)), number(2 / (np.pi * 0.147)))
    root = ops.Sqrt(ops.Subtract(ops.Multiply(half, half), ops.Divide(log, number(0.147))))
    inverse = ops.Multiply(ops.Sign(x), ops.Sqrt(ops.Subtract(root, half)))
    return ops.Multiply(inverse, number(np.sqrt(2)))


# In the order of the numbers that TreeEnsemble has for them.
POST_TRANSFORMS: dict[str, Callable[[Output], Op | Output]] = {
    "NONE": lambda scores: scores, "SOFTMAX": lambda scores: ops.Softmax(scores, 1), "LOGISTIC": ops.Sigmoid,
    "SOFTMAX_ZERO": _softmax_zero, "PROBIT": _probit,
}  # fmt: skip


def post_transform(scores: Output, name: str) -> Output:
    """Apply the function of the attribute post_transform to scores ``[rows, targets]``."""
    if name not in POST_TRANSFORMS:
        raise FrontendError(f"post_transform must be one of {', '.join(POST_TRANSFORMS)}, but is {name}")
    return as_output(POST_TRANSFORMS[name](scores))


def class_labels(node: OnnxNodeContext, integers_attribute: str) -> np.ndarray:
    """Return the class labels, strings or integers. Raises FrontendError if both attributes are missing."""
    texts = node.get_attribute("classlabels_strings", ())
    labels = np.array(texts, np.str_) if texts else np.array(node.get_attribute(integers_attribute, ()), np.int64)
    if not labels.size:
        raise FrontendError(f"it needs the attribute classlabels_strings or {integers_attribute}")
    return labels


def best_labels(scores: Output, labels: np.ndarray) -> Output:
    """Return the label ``[rows]`` of the highest of the scores ``[rows, classes]``."""
    best = ops.TopK(scores, int64(1), 1, "max", "value", "i64").output(1)
    return ops.Gather(Constant(labels), ops.Squeeze(best, int64([1])), int64(0)).output(0)


def second_if_positive(scores: Output, labels: np.ndarray) -> Output:
    """Return the label ``[rows]`` of the second of two classes if its score is above 0, as ONNX Runtime does for trees.

    ONNX itself says that the label is that of the highest score. Exporters write the scores of one class only.
    """
    is_second = ops.Greater(ops.Gather(scores, int64(1), int64(1)), scalar_like(scores, 0))
    return ops.Gather(Constant(labels), ops.Convert(is_second, "i64"), int64(0)).output(0)


def binary_classes(
    score: Output, labels: np.ndarray, transform: str, threshold: float, is_probability: bool
) -> tuple[Output, Output]:
    """Return labels and scores ``[rows, 2]`` of two classes, from the score ``[rows, 1]`` of the second.

    The second class wins above the threshold. The score of the first is 1 - score for probabilities, else -score.
    """
    other = ops.Subtract(scalar_like(score, 1), score) if is_probability else ops.Negative(score)
    is_second = ops.Greater(score, scalar_like(score, threshold))
    if labels.size == 1:
        # A single label is that of the second class; the first has the label 0 or "".
        labels = np.concatenate([np.zeros(1, labels.dtype), labels])
    index = ops.Squeeze(ops.Convert(is_second, "i64"), int64([1]))
    label = ops.Gather(Constant(labels), index, int64(0))
    return label.output(0), post_transform(ops.Concat([other, score], 1).output(0), transform)
