"""Fusion of attention, which exporters write as two MatMuls with a Softmax between, into SoftmaxAttention."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Output
from hetero.ops.checks import exact_value
from hetero.passes.manager import changes_numerics, keeps_values
from hetero.passes.matching.pattern import (
    AnyConstant,
    Anything,
    Either,
    Match,
    OpPattern,
    fuse_matches,
    single_number,
)

_QUERY, _KEY, _VALUE = Anything("query"), Anything("key"), Anything("value")
_PRODUCT = OpPattern(ops.MatMul, _QUERY, _KEY, key="product", transpose_a=False)
_FACTOR, _DIVISOR = AnyConstant("factor"), AnyConstant("divisor")
_SCALED = Either(OpPattern(ops.Multiply, _PRODUCT, _FACTOR), OpPattern(ops.Divide, _PRODUCT, _DIVISOR), _PRODUCT)
_SCORES = Either(OpPattern(ops.Add, _SCALED, Anything("mask")), _SCALED)
# softmax(Q·Kᵀ·scale + mask)·V, of Vaswani et al., "Attention is all you need", 2017
_ATTENTION = OpPattern(
    ops.MatMul, OpPattern(ops.Softmax, _SCORES, key="weights"), _VALUE, transpose_a=False, transpose_b=False
)


@changes_numerics
@keeps_values
def fuse_attention(model: Model) -> bool:
    """Replace the operations that compute attention by SoftmaxAttention.

    Requires: constants are folded. Applies if query, key and value have the same rank, three or more, the Softmax is
    over the last axis, and no other node reads what is between. Scale and mask are optional.
    """
    return fuse_matches(model, _ATTENTION, _attention)


def _attention(match: Match) -> Node | None:
    query, key, value = match["query"], match["key"], match["value"]
    ranks = {len(v.partial_shape) if v.partial_shape.has_rank else 0 for v in (query, key, value)}
    if len(ranks) > 1 or min(ranks) < 3 or not query.element_type.is_real():
        return None
    rank = ranks.pop()
    scale = _scale(match)
    if scale is None or match["weights"].node.attribute_values()["axis"] not in (-1, rank - 1):
        return None
    if "mask" in match.values and not _is_mask(match["mask"], match["product"]):
        return None
    if not match["product"].node.attribute_values()["transpose_b"]:
        key = _swap_last_axes(key, rank)
    dtype = query.element_type.to_dtype()
    mask = match.values.get("mask") or Constant(np.zeros((), dtype))
    return ops.SoftmaxAttention(query, key, value, mask, Constant(np.array(scale, dtype)))


def _scale(match: Match) -> float | None:
    if "factor" in match.values:
        return single_number(match["factor"])
    if "divisor" in match.values:
        divisor = single_number(match["divisor"])
        return 1 / divisor if divisor else None
    return 1.0


def _is_mask(mask: Output, product: Output) -> bool:
    """Return whether adding the mask keeps the type and the shape of the scores."""
    if mask.element_type != product.element_type or not mask.partial_shape.has_rank:
        return False
    return 2 <= len(mask.partial_shape) <= len(product.partial_shape)


def _swap_last_axes(value: Output, rank: int) -> Output:
    """Return the value with its last two axes swapped. A Transpose that produces it is merged into the new one."""
    order = list(range(rank))
    node = value.node
    if isinstance(node, ops.Transpose) and (known := exact_value(node.input_value(1))) is not None and known.size:
        value, order = node.input_value(0), known.tolist()
    order[-1], order[-2] = order[-2], order[-1]
    if order == list(range(rank)):
        return value
    return ops.Transpose(value, Constant(np.array(order, np.int64))).output(0)
