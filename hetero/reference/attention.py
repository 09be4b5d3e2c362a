"""Scaled dot-product attention, linear attention and key-value cache updates."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


@evaluates(ops.ScaledDotProductAttention, ops.SoftmaxAttention, in_f32=True)
def scaled_dot_product_attention(
    node: ops.ScaledDotProductAttention, query: Array, key: Array, value: Array, *options: Array
) -> Array:
    mask, scale, sink = (*options, None, None, None)[:3]
    factor = query.shape[-1] ** -0.5 if scale is None else scale.item()
    shared = query.ndim > 3 and query.shape[-3] > 1 and key.shape[-3] == value.shape[-3] == 1
    scores = _product(query * query.dtype.type(factor), key.swapaxes(-1, -2), shared)
    if node.causal:
        mask = np.tri(*scores.shape[-2:], dtype=bool)
    if mask is not None and mask.dtype == bool:
        mask = np.where(mask, query.dtype.type(0), query.dtype.type(-np.inf))
    if mask is not None and mask.ndim:
        fits = np.broadcast_shapes(mask.shape, scores.shape) == scores.shape
        scores = np.add(scores, mask, out=scores if fits else None)
    sums = _exponentials(scores, sink)
    sums[sums == 0] = np.nan if isinstance(node, ops.SoftmaxAttention) else 1
    # Dividing after the second gemm is cheaper, as the result is smaller than the scores.
    result = _product(scores, value, shared)
    result /= sums
    return result


def _product(a: Array, b: Array, shared: bool) -> Array:
    """Return a·b. If ``shared``, axis -3 of b has length 1, and one gemm multiplies the rows of all matrices of a."""
    if not shared or a.shape[-3] * a.shape[-2] == 0:
        return np.matmul(a, b)
    rows = a.reshape(*a.shape[:-3], -1, a.shape[-1])
    product = np.matmul(rows, b[..., 0, :, :])
    return product.reshape(*product.shape[:-2], *a.shape[-3:-1], b.shape[-1])


def _exponentials(scores: Array, sink: Array | None) -> Array:
    """Replace scores by exp(score - row maximum) in place and return the row sums, with a last axis of length 1.

    A fully masked row of -∞ becomes zeros with the sum 0. ``sink`` has scores that are added to the sums only.
    """
    if not scores.size:
        return np.ones((*scores.shape[:-1], 1), scores.dtype)
    largest = scores.max(axis=-1, keepdims=True)
    if sink is not None:
        largest = np.maximum(largest, sink)
    largest[np.isneginf(largest)] = 0
    scores -= largest
    np.exp(scores, out=scores)
    sums = np.matmul(scores, np.ones((scores.shape[-1], 1), scores.dtype))
    if sink is not None:
        sums += np.exp(sink - largest)
    return sums


@evaluates(ops.CacheUpdate)
def cache_update(node: ops.CacheUpdate, cache: Array, tokens: Array, lengths: Array, total: Array) -> Array:
    capacity, count = cache.shape[2], tokens.shape[2]
    result = np.empty((*cache.shape[:2], max(capacity, total.item()), cache.shape[3]), cache.dtype)
    result[:, :, :capacity] = cache
    result[:, :, capacity:] = 0
    for batch, length in enumerate(lengths.tolist()):
        result[batch, :, length : length + count] = tokens[batch]
    return result


@evaluates(ops.LinearAttention, in_f32=True)
def linear_attention(
    node: ops.LinearAttention, query: Array, key: Array, value: Array, state: Array, *gates: Array
) -> tuple[Array, Array]:
    heads, members = node.heads, node.query_heads // node.heads
    batch, time, _ = query.shape
    width, value_width = state.shape[2:]
    # Time first, then batch and heads: query [T, B, N, Nq / N, H], the others [T, B, N, 1, …].
    query = query.reshape(batch, time, heads, members, width).swapaxes(0, 1)
    key = key.reshape(batch, time, heads, 1, width).swapaxes(0, 1)
    value = value.reshape(batch, time, heads, 1, value_width).swapaxes(0, 1)
    scale = query.dtype.type(node.scale or width**-0.5)
    decay = beta = None
    if node.is_gated:
        decay = np.exp(gates[0]).reshape(batch, time, heads, gates[0].shape[2] // heads, 1).swapaxes(0, 1)
    if node.has_delta:
        beta = gates[-1].reshape(batch, time, gates[-1].shape[2], 1, 1).swapaxes(0, 1)
    result = np.empty((time, batch, heads, members, value_width), query.dtype)
    state = state.copy()
    for step in range(time):
        new = value[step]
        if decay is not None:
            state *= decay[step]
        if beta is not None:
            new = beta[step] * (new - key[step] @ state)
        state += key[step].swapaxes(-1, -2) * new
        np.matmul(query[step], state, out=result[step])
    result *= scale
    return result.swapaxes(0, 1).reshape(batch, time, node.query_heads * value_width), state
