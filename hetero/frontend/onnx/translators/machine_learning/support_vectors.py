"""Support vector machines of the domain ai.onnx.ml."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.onnx.translators.machine_learning.scores import best_labels, class_labels, post_transform
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import convert_to, int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError

_DOMAIN = "ai.onnx.ml"
# Smallest probability of one class against another.
_LEAST = 1e-7


def _rows(node: OnnxNodeContext) -> Output:
    """Return the features ``[rows, features]``."""
    value = node.get_input(0)
    return convert_to(reshape(value, (1, -1)) if rank_of(value) == 1 else value, Type.f32)


def _kernel(node: OnnxNodeContext, rows: Output, vectors: np.ndarray) -> Output:
    """Return the kernel of each row with each vector, ``[rows, vectors]``. Raises FrontendError for an unknown one."""
    kind = node.get_attribute("kernel_type", "LINEAR")
    gamma, offset, degree = node.get_attribute("kernel_params", ()) or (0.0, 0.0, 0.0)
    if kind == "RBF":
        return _radial(rows, vectors, gamma)
    products: Op = ops.MatMul(rows, Constant(vectors), False, True)
    if kind == "LINEAR":
        return products.output(0)
    products = ops.Add(ops.Multiply(products, scalar_like(rows, gamma)), scalar_like(rows, offset))
    if kind == "POLY":
        return ops.Power(products, scalar_like(rows, degree)).output(0)
    if kind == "SIGMOID":
        return ops.Tanh(products).output(0)
    raise FrontendError(f"kernel_type must be LINEAR, POLY, RBF or SIGMOID, but is {kind}")


def _radial(rows: Output, vectors: np.ndarray, gamma: float) -> Output:
    """Return exp(-γ·|a - b|²).

    |a - b|² is |a|² + |b|² - 2·a·b, as all differences would take the memory of rows × vectors × features. In f64,
    because it is small between large numbers.
    """
    precise = vectors.astype(np.float64)
    wide = convert_to(rows, Type.f64)
    products = ops.MatMul(wide, Constant(-2 * precise), False, True)
    squares = ops.ReduceSum(ops.Multiply(wide, wide), int64([1]), True)
    distances = ops.Add(ops.Add(products, squares), Constant((precise**2).sum(axis=1)))
    positive = ops.Maximum(distances, scalar_like(wide, 0))
    return ops.Convert(ops.Exp(ops.Multiply(positive, scalar_like(wide, -gamma))), Type.f32).output(0)


@translator("SVMRegressor", domain=_DOMAIN)
def svm_regressor(node: OnnxNodeContext) -> Translation:
    """The sum of the kernels with the support vectors, or without such vectors, a linear function: ``[rows, 1]``."""
    count, coefficients = node.get_attribute("n_supports", 0), node.get_array("coefficients", np.float32)
    rows, rho = _rows(node), node.get_array("rho", np.float32)
    if count:
        rows = _kernel(node, rows, node.get_array("support_vectors", np.float32).reshape(count, -1))
    sums = ops.Add(ops.MatMul(rows, Constant(coefficients.reshape(-1, 1)), False, False), Constant(rho[:1])).output(0)
    if node.get_attribute("one_class", 0):
        is_inside = ops.Greater(sums, scalar_like(sums, 0))
        return ops.Select(is_inside, scalar_like(sums, 1), scalar_like(sums, -1))
    return post_transform(sums, node.get_attribute("post_transform", "NONE"))


@translator("SVMClassifier", domain=_DOMAIN)
def svm_classifier(node: OnnxNodeContext) -> Translation:
    """The labels, and the scores of each pair of classes or the probabilities of the classes.

    Each pair of classes votes for one of them. Without support vectors, the scores are a linear function for each
    class, and the label is that of the highest.
    """
    labels = class_labels(node, "classlabels_ints")
    transform = node.get_attribute("post_transform", "NONE")
    counts = node.get_array("vectors_per_class", np.int64, ())
    if not counts.sum():
        coefficients = node.get_array("coefficients", np.float32).reshape(labels.size, -1)
        products = ops.MatMul(_rows(node), Constant(coefficients), False, True)
        scores = ops.Add(products, Constant(node.get_array("rho", np.float32)[:1])).output(0)
        return best_labels(scores, labels), post_transform(scores, transform)
    if counts.size != labels.size:
        raise FrontendError(f"vectors_per_class has {counts.size} numbers, but there are {labels.size} labels")
    pairs = list(combinations(range(labels.size), 2))
    scores = _pair_scores(node, counts, pairs)
    best = best_labels(_votes(scores, labels.size, pairs), labels)
    if node.get_array("prob_a", np.float32, ()).size:
        return best, post_transform(_probabilities(node, scores, labels.size, pairs), transform)
    if len(pairs) > 1:
        return best, post_transform(scores, transform)
    if transform in ("NONE", "LOGISTIC"):
        return best, post_transform(ops.Concat([ops.Negative(scores), scores], 1).output(0), transform)
    # ONNX Runtime takes the score for a probability, which only PROBIT transforms.
    both = ops.Concat([ops.Subtract(scalar_like(scores, 1), scores), scores], 1).output(0)
    return best, post_transform(both, transform if transform == "PROBIT" else "NONE")


def _pair_scores(node: OnnxNodeContext, counts: np.ndarray, pairs: list[tuple[int, int]]) -> Output:
    """Return the score ``[rows, pairs]`` of each pair of classes, positive for the first one."""
    total = int(counts.sum())
    vectors = node.get_array("support_vectors", np.float32).reshape(total, -1)
    # A vector of class i has a coefficient for each other class j: in row j, or in row j - 1 if j > i.
    coefficients = node.get_array("coefficients", np.float32).reshape(counts.size - 1, total)
    ends = np.cumsum(counts)
    weights = np.zeros((total, len(pairs)), np.float32)
    for column, (one, other) in enumerate(pairs):
        for of, row in ((one, other - 1), (other, one)):
            own = slice(ends[of] - counts[of], ends[of])
            weights[own, column] = coefficients[row, own]
    sums = ops.MatMul(_kernel(node, _rows(node), vectors), Constant(weights), False, False)
    return ops.Add(sums, Constant(node.get_array("rho", np.float32)[: len(pairs)])).output(0)


def _votes(scores: Output, classes: int, pairs: list[tuple[int, int]]) -> Output:
    """Return the number of pairs that vote for each class, ``[rows, classes]``."""
    first, second = (np.eye(classes, dtype=np.float32)[[pair[side] for pair in pairs]] for side in (0, 1))
    wins = ops.Convert(ops.Greater(scores, scalar_like(scores, 0)), Type.f32)
    votes = ops.MatMul(wins, Constant(first - second), False, False)
    return ops.Add(votes, Constant(second.sum(axis=0))).output(0)


def _probabilities(node: OnnxNodeContext, scores: Output, classes: int, pairs: list[tuple[int, int]]) -> Output:
    """Return the probabilities ``[rows, classes]`` that fit those of each pair best."""
    slopes, offsets = (node.get_array(name, np.float32)[: len(pairs)] for name in ("prob_a", "prob_b"))
    exponents = ops.Subtract(ops.Multiply(scores, Constant(-slopes)), Constant(offsets))
    first: Op = ops.Clamp(ops.Sigmoid(exponents), _LEAST, 1 - _LEAST)
    second = ops.Subtract(scalar_like(scores, 1), first)
    zero = ops.Multiply(ops.Slice(first, int64([0]), int64([1]), int64([1]), int64([1])), scalar_like(scores, 0))
    # The probability of class i against class j is at i · classes + j.
    both = ops.Concat([first, second, zero], 1)
    places = np.full((classes, classes), 2 * len(pairs))
    for index, (one, other) in enumerate(pairs):
        places[one, other], places[other, one] = index, len(pairs) + index
    return ops.PairwiseCoupling(ops.Gather(both, int64(places), int64(1))).output(0)
