"""Activation functions: fusion of Swish, HSwish and GELU, which exporters write out, and the slopes of PRelu."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node
from hetero.passes.manager import changes_numerics, keeps_values
from hetero.passes.matching.pattern import Anything, Either, Number, OpPattern, fuse_matches, product_of
from hetero.passes.matching.rewriting import replace, rewrite_each

_X = Anything("x")

# x · σ(x), of Ramachandran et al., "Searching for Activation Functions", 2017
_SWISH = OpPattern(ops.Multiply, _X, OpPattern(ops.Sigmoid, _X))

# x · min(max(x + 3, 0), 6) / 6, of Howard et al., "Searching for MobileNetV3", 2019
_CLAMPED = OpPattern(ops.Clamp, OpPattern(ops.Add, _X, Number(3)), min_value=0.0, max_value=6.0)
_HSWISH = Either(
    OpPattern(ops.Divide, OpPattern(ops.Multiply, _X, _CLAMPED), Number(6)),
    OpPattern(ops.Multiply, _X, OpPattern(ops.Divide, _CLAMPED, Number(6))),
    product_of(_X, _CLAMPED, Number(1 / 6)),
    OpPattern(ops.Multiply, _X, OpPattern(ops.HardSigmoid, _X, Number(1 / 6), Number(0.5))),
)


@changes_numerics
@keeps_values
def fuse_swish(model: Model) -> bool:
    """Replace the operations that compute Swish or HSwish by these.

    Requires: constants are folded. Applies if no other node reads what is between.
    """
    by_sigmoid = fuse_matches(model, _SWISH, lambda match: ops.Swish(match["x"]))
    return fuse_matches(model, _HSWISH, lambda match: ops.HSwish(match["x"])) or by_sigmoid


_HALF, _ONE = Number(0.5), Number(1)

# x · ½ · (1 + erf(x / √2)), of Hendrycks & Gimpel, "Gaussian Error Linear Units", 2016
_SCALED = Either(OpPattern(ops.Divide, _X, Number(math.sqrt(2))), OpPattern(ops.Multiply, _X, Number(math.sqrt(0.5))))
_ERF = product_of(_X, _HALF, OpPattern(ops.Add, OpPattern(ops.Erf, _SCALED), _ONE))

# x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), the approximation of the same paper
_CUBE = Either(
    OpPattern(ops.Power, _X, Number(3)),
    OpPattern(ops.Multiply, OpPattern(ops.Multiply, _X, _X), _X),
)
_INNER = OpPattern(ops.Add, _X, OpPattern(ops.Multiply, Number(0.044715), _CUBE))
_ANGLE = OpPattern(ops.Multiply, Number(math.sqrt(2 / math.pi)), _INNER)
_TANH = product_of(_X, _HALF, OpPattern(ops.Add, OpPattern(ops.Tanh, _ANGLE), _ONE))


@changes_numerics
@keeps_values
def fuse_gelu(model: Model) -> bool:
    """Replace the operations that compute GELU, by erf or by its tanh approximation, by Gelu.

    Requires: constants are folded. Applies if no other node reads what is between.
    """
    by_erf = fuse_matches(model, _ERF, lambda match: ops.Gelu(match["x"], "erf"))
    return fuse_matches(model, _TANH, lambda match: ops.Gelu(match["x"], "tanh")) or by_erf


@keeps_values
def align_prelu_slopes(model: Model) -> bool:
    """Reshape slopes ``[C]`` of PRelu to ``[C, 1, ...]`` if axis 1 of the data is known to have the length C."""
    return rewrite_each(model, (ops.PRelu,), _align)


def _align(node: Node) -> bool:
    data, slope = (value.partial_shape for value in node.input_values())
    if not data.has_rank or not slope.has_rank or len(slope) != 1 or slope == [1] or len(data) < 3:
        return False
    if slope[0].is_dynamic or slope[0] != data[1]:
        return False  # the slopes belong to the last axis, as numpy broadcasts them, or may do so
    axes = Constant(np.arange(1, len(data) - 1), name=f"{node.friendly_name}/axes")
    aligned = ops.Unsqueeze(node.input_value(1), axes, name=f"{node.friendly_name}/slope")
    replace([node], ops.PRelu(node.input_value(0), aligned))
    return True
