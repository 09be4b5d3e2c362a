"""Fusion of Swish and of its piecewise linear approximation, which exporters write as two to four operations."""

from __future__ import annotations

from hetero import ops
from hetero.graph import Model
from hetero.passes.manager import changes_numerics
from hetero.passes.matching.pattern import Anything, Either, Number, Operation, fuse_matches, product_of

_X = Anything("x")

# x · σ(x), of Ramachandran et al., "Searching for Activation Functions", 2017
_SWISH = Operation(ops.Multiply, _X, Operation(ops.Sigmoid, _X))

# x · min(max(x + 3, 0), 6) / 6, of Howard et al., "Searching for MobileNetV3", 2019
_CLAMPED = Operation(ops.Clamp, Operation(ops.Add, _X, Number(3)), min_value=0.0, max_value=6.0)
_HSWISH = Either(
    Operation(ops.Divide, Operation(ops.Multiply, _X, _CLAMPED), Number(6)),
    Operation(ops.Multiply, _X, Operation(ops.Divide, _CLAMPED, Number(6))),
    product_of(_X, _CLAMPED, Number(1 / 6)),
    Operation(ops.Multiply, _X, Operation(ops.HardSigmoid, _X, Number(1 / 6), Number(0.5))),
)


@changes_numerics
def fuse_swish(model: Model) -> bool:
    """Replace the operations that compute Swish or HSwish by these.

    Requires: constants are folded. Applies if no other node reads what is between.
    """
    by_sigmoid = fuse_matches(model, _SWISH, lambda match: ops.Swish(match["x"]))
    return fuse_matches(model, _HSWISH, lambda match: ops.HSwish(match["x"])) or by_sigmoid
