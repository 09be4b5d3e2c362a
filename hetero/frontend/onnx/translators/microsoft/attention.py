"""Attention operators of the domain com.microsoft.

Shapes: ``B`` batch size, ``S`` queries or new tokens, ``T`` keys or all tokens, ``N`` query heads, ``G`` key and value
heads, ``H`` head size.
"""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.onnx.translators.linear import attend, join_heads, rotate, split_heads
from hetero.frontend.onnx.translators.microsoft.fused import DOMAIN, add_optional
from hetero.frontend.onnx.translators.normalization import rms_norm
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    convert_to,
    int64,
    known_length,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError

# The default mask_filter_value, which is added to masked scores.
_MASKED = -10000.0


@translator("Attention", domain=DOMAIN)
def attention(node: OnnxNodeContext) -> Translation:
    """Self-attention of ``[B, S, I]``, projected to queries, keys and values by weights ``[I, 3·N·H]`` and a bias."""
    node.check_only_supported(do_rotary=0)
    value, heads = node.get_input(0), node.get_attribute("num_heads")
    projected = add_optional(ops.MatMul(value, node.get_input(1), False, False), node.get_optional_input(2))
    sizes = node.get_attribute("qkv_hidden_sizes", None)
    parts = ops.VariadicSplit(projected, int64(-1), int64(sizes)) if sizes else ops.Split(projected, int64(-1), 3)
    query, key, content = (split_heads(part, heads) for part in parts.outputs())
    new = key
    if node.has_input(4):
        past_key, past_content = ops.Split(node.get_input(4), int64(0), 2).outputs()
        key = _append(ops.Squeeze(past_key, int64([0])), key)
        content = _append(ops.Squeeze(past_content, int64([0])), content)
    mask = _mask(node, node.get_optional_input(3), query, key)
    result = _attend(node, query, key, content, new, [mask, node.get_optional_input(5)])
    if not node.has_output(1):
        return result
    return [result, ops.Concat([ops.Unsqueeze(part, int64([0])) for part in (key, content)], 0)]


@translator("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(node: OnnxNodeContext) -> Translation:
    """Attention of queries ``[B, S, N·H]`` to keys and values ``[B, T, N·H]``, or ``[B, N, T, H]`` from a cache."""
    heads = node.get_attribute("num_heads")
    if node.has_input(2):
        parts = [node.get_input(index) for index in range(3)]
    elif node.has_input(1):
        parts = [node.get_input(0), *_unpack(node.get_input(1), 2)]
    else:
        parts = _unpack(node.get_input(0), 3)
    query, key, content = _heads(parts, node.get_optional_input(3), heads)
    new = key
    if node.has_input(6):
        key, content = _append(node.get_input(6), key), _append(node.get_input(7), content)
    mask = _mask(node, node.get_optional_input(4), query, key)
    result = _attend(node, query, key, content, new, [mask, node.get_optional_input(5)])
    return [result, key, content][: max(1, node.get_output_size())]


@translator("DecoderMaskedMultiHeadAttention", domain=DOMAIN)
def decoder_masked_multi_head_attention(node: OnnxNodeContext) -> Translation:
    """MultiHeadAttention of one new token, with a cache that may have capacity for more tokens."""
    if node.has_input(9):
        raise FrontendError("input cache_indirection is not supported")
    heads = node.get_attribute("num_heads")
    if node.has_input(1):
        parts = [node.get_input(index) for index in range(3)]
    else:
        parts = ops.Split(node.get_input(0), int64(2), 3).outputs()
    query, key, content = _heads(parts, node.get_optional_input(10), heads)
    new, valid_key, valid_content = key, key, content
    if node.has_input(5) and node.get_attribute("past_present_share_buffer", 0):
        past = ops.Convert(node.get_input(7), "i64").output(0)
        total = ops.Reshape(ops.Add(past, int64(1)), int64([1]), False).output(0)
        lengths = ops.Broadcast(past, axis_length(query, [0]))
        caches = (node.get_input(5), node.get_input(6))
        key, content = (ops.CacheUpdate(*pair, lengths, total).output(0) for pair in zip(caches, (key, content)))
        valid_key, valid_content = (
            ops.Slice(part, int64([0]), total, int64([1]), int64([2])).output(0) for part in (key, content)
        )
    elif node.has_input(5):
        valid_key = key = _append(node.get_input(5), key)
        valid_content = content = _append(node.get_input(6), content)
    mask = _mask(node, node.get_optional_input(3), query, valid_key)
    result = _attend(node, query, valid_key, valid_content, new, [mask, node.get_optional_input(4)])
    return [result, key, content]


def _unpack(packed: Output, count: int) -> list[Output]:
    """Split ``[B, S, N, count, H]`` into ``count`` values ``[B, N, S, H]``."""
    parts = ops.Split(packed, int64(3), count).outputs()
    return [ops.Transpose(ops.Squeeze(part, int64([3])), int64([0, 2, 1, 3])).output(0) for part in parts]


def _heads(parts: list[Output], bias: Output | None, heads: int) -> list[Output]:
    """Return queries, keys and values as ``[B, N, S, H]``.

    Parts of rank 3 get their share of the bias vector. Parts of rank 4 come from a cache and are returned unchanged.
    """
    if bias is not None:
        sizes = [part.partial_shape[2] if rank_of(part) == 3 else part.partial_shape[3] * heads for part in parts]
        if any(size.is_dynamic for size in sizes):
            raise FrontendError("a bias needs queries, keys and values with a known last dimension")
        biases = ops.VariadicSplit(bias, int64(0), int64([size.get_length() for size in sizes])).outputs()
        parts = [ops.Add(p, b).output(0) if rank_of(p) == 3 else p for p, b in zip(parts, biases)]
    return [split_heads(part, heads) if rank_of(part) == 3 else part for part in parts]


def _append(past: Output | Op, new: Output) -> Output:
    """Concatenate the past and the new tokens of ``[B, N, T, H]``."""
    return ops.Concat([past, new], 2).output(0)


def _attend(
    node: OnnxNodeContext, query: Output, key: Output, content: Output, new: Output, masks: list[Output | None]
) -> Output:
    """Return softmax(Q·Kᵀ·scale + masks)·V of heads ``[B, N, S, H]``, as ``[B, S, N·H]``.

    ``new``: the keys without those of past tokens.
    """
    scale = node.get_attribute("scale", 0.0)
    if not scale:
        scale = 1 / math.sqrt(known_length(query, 3, "without attribute scale the head size"))
    scores: Op = ops.Multiply(ops.MatMul(query, key, False, True), scalar_like(query, scale))
    if node.get_attribute("unidirectional", 0):
        scores = ops.Add(scores, _causal_mask(query, key, new, node.get_attribute("mask_filter_value", _MASKED)))
    for mask in masks:
        scores = scores if mask is None else ops.Add(scores, mask)
    return join_heads(ops.MatMul(ops.Softmax(scores, -1), content, False, False).output(0))


def _causal_mask(query: Output, key: Output, new: Output, masked: float) -> Output:
    """Return ``[S, T]``, ``masked`` for keys after the query, else 0. The first query stands at the first new key."""
    queries, keys = axis_length(query, 2), axis_length(key, 2)
    rows = ops.Add(arange(queries), ops.Subtract(keys, axis_length(new, 2)))
    visible = ops.LessEqual(arange(keys), ops.Unsqueeze(rows, int64([1])))
    return ops.Select(visible, scalar_like(query, 0), scalar_like(query, masked)).output(0)


def _mask(node: OnnxNodeContext, mask: Output | None, query: Output, key: Output) -> Output | None:
    """Return the numbers to be added to scores ``[B, N, S, T]``, or None if there is no mask.

    The mask input has the lengths of the sequences ``[B]``, or zeros for masked keys ``[B, T]`` or ``[B, S, T]``.
    """
    if mask is None:
        return None
    visible: Op
    rank = rank_of(mask)
    if rank == 1:
        visible, axes = _within_sequences(mask, query, key), [1, 2]
    elif rank in (2, 3):
        visible = ops.NotEqual(mask, ops.Convert(np.int64(0), mask.element_type))
        axes = [1, 2] if rank == 2 else [1]
    else:
        raise FrontendError(f"a mask of rank {rank} is not supported")
    masked = scalar_like(query, node.get_attribute("mask_filter_value", _MASKED))
    return ops.Unsqueeze(ops.Select(visible, scalar_like(query, 0), masked), int64(axes)).output(0)


def _within_sequences(ends: Output, query: Output, key: Output) -> Op:
    """Return ``[B, T]``, true for keys before the end of their sequence.

    ``ends``: the ends ``[B]``, or the ends and the starts ``[2·B]``.
    """
    batch, count = query.partial_shape[0], ends.partial_shape[0]
    positions, ends = arange(axis_length(key, 2)), ops.Convert(ends, "i64").output(0)
    if batch.compatible(count):
        return ops.Less(positions, ops.Unsqueeze(ends, int64([1])))
    if not (batch * 2).compatible(count):
        raise FrontendError(f"a mask of {count} numbers for {batch} sequences is not supported")
    end, start = (ops.Unsqueeze(half, int64([1])) for half in ops.Split(ends, int64(0), 2).outputs())
    return ops.LogicalAnd(ops.Less(positions, end), ops.GreaterEqual(positions, start))


@translator("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(node: OnnxNodeContext) -> Translation:
    """Return the attention result ``[B, S, N·H]`` and the key and value caches ``[B, G, T, H]`` with the new tokens."""
    node.check_only_supported(sliding_window_cache=0, qk_output=0, k_quant_type="NONE", v_quant_type="NONE")
    query, key, value = _read_heads(node)
    lengths, total = (convert_to(node.get_input(index), Type.i64) for index in (5, 6))
    total = ops.Reshape(total, int64([1]), False).output(0)
    # The number of past tokens of each sequence. ``lengths`` is the number of all its tokens minus 1.
    past = ops.Maximum(ops.Subtract(ops.Add(lengths, int64(1)), axis_length(query, [2])), int64(0))
    positions = ops.Add(ops.Unsqueeze(past, int64([1])), arange(axis_length(query, 2))).output(0)
    if node.get_attribute("do_rotary", 0):
        position_ids = node.get_input(9) if node.has_input(9) else positions
        cos, sin = (ops.Gather(node.get_input(index), position_ids, int64(0)).output(0) for index in (7, 8))
        interleaved = bool(node.get_attribute("rotary_interleaved", 0))
        half = cos.partial_shape[-1]
        width = 2 * half.get_length() if half.is_static else 0
        query, key = (rotate(part, cos, sin, interleaved, width) for part in (query, key))
    if node.has_input(3):
        caches = (node.get_input(3), node.get_input(4))
        key, value = (ops.CacheUpdate(*pair, past, total).output(0) for pair in zip(caches, (key, value)))
    mask = _group_mask(node, positions, lengths, total)
    heads, groups, cap = (node.get_attribute(name, 0) for name in ("num_heads", "kv_num_heads", "softcap"))
    sink = _sink(node, query, heads)
    if cap and sink is not None:
        raise FrontendError("softcap with a sink is not supported")
    scale = node.get_attribute("scale", 0.0) or known_length(query, 3, "the head size") ** -0.5
    known_key, known_value = (_first_tokens(part, total) for part in (key, value))
    result, _ = attend(query, known_key, known_value, mask, heads, groups, scale, cap, sink=sink)
    return [join_heads(result), key, value]


def _read_heads(node: OnnxNodeContext) -> list[Output]:
    """Return queries ``[B, N, S, H]``, keys and values ``[B, G, S, H]``."""
    heads, groups = node.get_attribute("num_heads"), node.get_attribute("kv_num_heads")
    if node.has_input(1):
        parts = [node.get_input(index) for index in range(3)]
        query, key, value = (split_heads(part, n) for part, n in zip(parts, (heads, groups, groups)))
    else:
        packed = split_heads(node.get_input(0), heads + 2 * groups)
        query, key, value = ops.VariadicSplit(packed, int64(1), int64([heads, groups, groups])).outputs()
    if node.has_input(14):
        epsilon = node.get_attribute("qk_norm_epsilon", 1e-6)
        query, key = (
            rms_norm(part, [3], epsilon, node.get_input(index))[0] for part, index in ((query, 14), (key, 15))
        )
    return [query, key, value]


def _first_tokens(cache: Output, total: Output) -> Output:
    """Return the first ``total`` tokens of a cache ``[B, G, capacity, H]``."""
    return ops.Slice(cache, int64([0]), total, int64([1]), int64([2])).output(0)


def _group_mask(node: OnnxNodeContext, positions: Output, lengths: Output, total: Output) -> Output:
    """Return the mask ``[B, 1, S, T]``, true where a new token attends to a token, or the bias with -inf elsewhere."""
    keys, window = arange(ops.Squeeze(total)), node.get_attribute("local_window_size", -1)
    if not node.get_attribute("causal", 1):
        visible: Op = ops.LessEqual(keys, ops.Unsqueeze(lengths, int64([1, 2, 3])))
    else:
        rows = ops.Unsqueeze(positions, int64([1, 3]))
        visible = ops.LessEqual(keys, rows)
        if window > 0:
            visible = ops.LogicalAnd(visible, ops.Greater(keys, ops.Subtract(rows, int64(window))))
    if not node.has_input(10):
        return visible.output(0)
    bias = node.get_input(10)
    return ops.Select(visible, bias, scalar_like(bias, -np.inf)).output(0)


def _sink(node: OnnxNodeContext, query: Output, heads: int) -> Output | None:
    """Return the attention sink ``[1, N, 1, 1]``."""
    if node.has_input(11):
        return reshape(node.get_input(11), (1, heads, 1, 1))
    if node.get_attribute("smooth_softmax", 0) == 1:
        return Constant(np.zeros((1, heads, 1, 1), query.element_type.to_dtype())).output(0)
    return None
