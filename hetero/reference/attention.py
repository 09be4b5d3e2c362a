"""Attention in numpy."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.ScaledDotProductAttention)
@in_single
def scaled_dot_product_attention(node, query, key, value, mask=None, scale=None, sink=None):
    factor = query.shape[-1] ** -0.5 if scale is None else scale.item()
    scores = np.matmul(query * query.dtype.type(factor), key.swapaxes(-1, -2))
    if node.causal:
        mask = np.tri(*scores.shape[-2:], dtype=bool)
    if mask is not None and mask.dtype == bool:
        mask = np.where(mask, query.dtype.type(0), query.dtype.type(-np.inf))
    if mask is not None and mask.ndim:
        scores = np.add(scores, mask, out=scores if _fits(mask, scores) else None)
    return np.matmul(softmax_in_place(scores, sink), value)


def softmax_in_place(scores: np.ndarray, sink: np.ndarray | None = None) -> np.ndarray:
    """Softmax over the last axis; a row that is -∞ throughout, in which nothing is looked at, becomes zeros.

    ``sink``: scores that count in the sums only.
    """
    if not scores.size:
        return scores
    largest = scores.max(axis=-1, keepdims=True)
    if sink is not None:
        largest = np.maximum(largest, sink)
    largest[np.isneginf(largest)] = 0
    scores -= largest
    np.exp(scores, out=scores)
    sums = scores.sum(axis=-1, keepdims=True)
    if sink is not None:
        sums += np.exp(sink - largest)
    sums[sums == 0] = 1
    scores /= sums
    return scores


def _fits(small: np.ndarray, large: np.ndarray) -> bool:
    return np.broadcast_shapes(small.shape, large.shape) == large.shape
