"""Fusion of GELU, which exporters write as five to eight operations."""

from __future__ import annotations

import math

from hetero import ops
from hetero.graph import Model
from hetero.passes.manager import changes_numerics
from hetero.passes.matching.pattern import Anything, Either, Number, Operation, fuse_matches, product_of

_X = Anything("x")
_HALF, _ONE = Number(0.5), Number(1)

# x · ½ · (1 + erf(x / √2)), of Hendrycks & Gimpel, "Gaussian Error Linear Units", 2016
_SCALED = Either(Operation(ops.Divide, _X, Number(math.sqrt(2))), Operation(ops.Multiply, _X, Number(math.sqrt(0.5))))
_ERF = product_of(_X, _HALF, Operation(ops.Add, Operation(ops.Erf, _SCALED), _ONE))

# x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), the approximation of the same paper
_CUBE = Either(Operation(ops.Power, _X, Number(3)), Operation(ops.Multiply, Operation(ops.Multiply, _X, _X), _X))
_INNER = Operation(ops.Add, _X, Operation(ops.Multiply, Number(0.044715), _CUBE))
_ANGLE = Operation(ops.Multiply, Number(math.sqrt(2 / math.pi)), _INNER)
_TANH = product_of(_X, _HALF, Operation(ops.Add, Operation(ops.Tanh, _ANGLE), _ONE))


@changes_numerics
def fuse_gelu(model: Model) -> bool:
    """Replace the operations that compute GELU, by erf or by its tanh approximation, by Gelu.

    Requires: constants are folded. Applies if no other node reads what is between.
    """
    by_erf = fuse_matches(model, _ERF, lambda match: ops.Gelu(match["x"], "erf"))
    return fuse_matches(model, _TANH, lambda match: ops.Gelu(match["x"], "tanh")) or by_erf
