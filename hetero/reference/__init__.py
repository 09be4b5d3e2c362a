"""Numpy evaluation of operations: one file a family, named as in ops/."""
# ruff: noqa: F401 - importing a family registers its functions

from hetero.reference import (
    activation,
    arithmetic,
    attention,
    bitwise,
    class_nms,
    color,
    comparison,
    control_flow,
    conversion,
    convolution,
    cumulative,
    detection,
    einsum,
    elementwise,
    embedding,
    expansion,
    gather,
    grid_sample,
    interpolation,
    linear_algebra,
    matmul,
    movement,
    nms,
    normalization,
    patches,
    pooling,
    prior_boxes,
    random,
    rearrangement,
    recurrent,
    reduction,
    resize,
    roi,
    scatter,
    sequences,
    signal,
    slicing,
    sorting,
    strings,
    variables,
)  # fmt: skip
from hetero.reference.program import Program, VariableValues
from hetero.reference.registry import evaluate, evaluates, has_evaluate, prepares, unknown_operation

__all__ = ["Program", "VariableValues", "evaluate", "evaluates", "has_evaluate", "prepares", "unknown_operation"]
