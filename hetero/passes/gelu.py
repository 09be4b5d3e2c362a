"""GELU, which exporters write as five to eight operations, as the one operation."""

from __future__ import annotations

import math

from hetero import ops
from hetero.graph import Model
from hetero.passes.manager import changes_numerics
from hetero.passes.pattern import Anything, Either, Number, Operation, find, product_of, replace

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

_FORMS = {"erf": _ERF, "tanh": _TANH}


@changes_numerics
def fuse_gelu(model: Model) -> bool:
    """Put Gelu in the place of the operations that compute it, by the error function or by tanh.

    Requires: constants are folded. Ensures: none of the written-out forms is left whose parts nobody else reads.
    """
    changed = False
    for node in model.get_ordered_ops():
        if not isinstance(node, ops.Multiply):
            continue
        for mode, pattern in _FORMS.items():
            match = find(pattern, node)
            if match:
                replace(match, ops.Gelu(match["x"], mode))
                changed = True
                break
    return changed
