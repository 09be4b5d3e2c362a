"""Numpy evaluation of operations: one file a family, named as in ops/."""

from hetero.reference.registry import evaluate, evaluates, has_evaluate

__all__ = ["evaluate", "evaluates", "has_evaluate"]
