"""Numpy evaluation of operations: one file a family, named as in ops/."""
# ruff: noqa: F401 - importing a family registers its functions

from hetero.reference import (
    comparison,
    convolution,
    elementwise,
    expansion,
    gather,
    interpolation,
    matmul,
    movement,
    normalization,
    pooling,
    random,
    reduction,
    sequences,
    signal,
    slicing,
)  # fmt: skip
from hetero.reference.registry import evaluate, evaluates, has_evaluate

__all__ = ["evaluate", "evaluates", "has_evaluate"]
