"""Numpy evaluation of operations: one file a family, named as in ops/."""

from hetero.reference import convolution, expansion, gather, interpolation, movement, pooling, slicing
from hetero.reference.registry import evaluate, evaluates, has_evaluate

__all__ = [
    "convolution", "evaluate", "evaluates", "expansion", "gather", "has_evaluate", "interpolation", "movement",
    "pooling", "slicing",
]  # fmt: skip
