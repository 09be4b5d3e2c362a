"""Fusion of layer normalization, which exporters write out, into MVN. The scale and the shift after it stay."""

from __future__ import annotations

from hetero import ops
from hetero.graph import Model, Node
from hetero.passes.manager import changes_numerics, keeps_values
from hetero.passes.matching.pattern import (
    AnyConstant,
    Anything,
    Either,
    Match,
    Number,
    OpPattern,
    fuse_matches,
    single_number,
)

_X, _AXES, _EPSILON = Anything("x"), AnyConstant("axes"), AnyConstant("epsilon")
_CENTERED = OpPattern(ops.Subtract, _X, OpPattern(ops.ReduceMean, _X, _AXES, keep_dims=True))
_SQUARED = Either(
    OpPattern(ops.Power, _CENTERED, Number(2)),
    OpPattern(ops.Multiply, _CENTERED, _CENTERED),
    OpPattern(ops.SquaredDifference, _X, OpPattern(ops.ReduceMean, _X, _AXES, keep_dims=True)),
)
_VARIANCE = OpPattern(ops.Add, OpPattern(ops.ReduceMean, _SQUARED, _AXES, keep_dims=True), _EPSILON)
_DEVIATION = Either(OpPattern(ops.Sqrt, _VARIANCE), OpPattern(ops.Power, _VARIANCE, Number(0.5)))
_INVERSE = Either(OpPattern(ops.Power, _VARIANCE, Number(-0.5)), OpPattern(ops.Divide, Number(1), _DEVIATION))
# (x - mean) / √(variance + ε), of Ba, Kiros & Hinton, "Layer Normalization", 2016
_NORMALIZED = Either(
    OpPattern(ops.Divide, _CENTERED, _DEVIATION),
    OpPattern(ops.Multiply, _CENTERED, _INVERSE),
)


@changes_numerics
@keeps_values
def fuse_layer_norm(model: Model) -> bool:
    """Replace the operations that subtract the mean and divide by the standard deviation by MVN.

    Requires: constants are folded. Applies if no other node reads what is between.
    """
    return fuse_matches(model, _NORMALIZED, _normalization)


def _normalization(match: Match) -> Node | None:
    epsilon = single_number(match["epsilon"])
    return None if epsilon is None else ops.MVN(match["x"], match["axes"], True, epsilon, "inside_sqrt")
