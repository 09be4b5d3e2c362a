"""Attention of the domain com.microsoft: ``B`` batches, ``S`` queries, ``T`` keys, ``N`` heads of ``H`` numbers."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.attention import joined_heads, split_heads
from hetero.frontend.onnx.translators.microsoft_fused import DOMAIN
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, length_of, rank_of, scalar_like
from hetero.graph import Op, Output, as_output

# Very negative, so that exp of it is 0 beside that of any score.
_MASKED = -10000.0


@translator("Attention", domain=DOMAIN)
def attention(node: OnnxNodeContext) -> Translation:
    """Self-attention of ``[B, S, I]`` by weights ``[I, 3·N·H]`` and a bias for queries, keys and values together."""
    if node.get_attribute("do_rotary", 0):
        raise FrontendError("do_rotary is not supported")
    value, heads = node.get_input(0), node.get_attribute("num_heads")
    projected = ops.MatMul(value, node.get_input(1), False, False)
    projected = ops.Add(projected, node.get_input(2)) if node.has_input(2) else projected
    sizes = node.get_attribute("qkv_hidden_sizes", None)
    parts = ops.VariadicSplit(projected, int64(-1), int64(sizes)) if sizes else ops.Split(projected, int64(-1), 3)
    query, key, content = (split_heads(part, heads) for part in parts.outputs())
    present = None
    if node.has_input(4):
        past_key, past_content = ops.Split(node.get_input(4), int64(0), 2).outputs()
        key = _joined(as_output(ops.Squeeze(past_key, int64([0]))), key)
        content = _joined(as_output(ops.Squeeze(past_content, int64([0]))), content)
    if node.has_output(1):
        pair = [ops.Unsqueeze(part, int64([0])) for part in (key, content)]
        present = ops.Concat(pair, 0).output(0)
    mask = _mask(node, node.get_optional_input(3), query, key)
    result = attend(node, query, key, content, [mask, node.get_optional_input(5)])
    return [result] if present is None else [result, present]


@translator("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(node: OnnxNodeContext) -> Translation:
    """Attention of queries ``[B, S, N·H]`` to keys and values ``[B, T, N·H]``, or ``[B, N, T, H]`` of a cache."""
    heads = node.get_attribute("num_heads")
    if node.has_input(2):
        parts = [node.get_input(index) for index in range(3)]
    elif node.has_input(1):
        parts = [node.get_input(0), *_unpacked(node.get_input(1), 2)]
    else:
        parts = _unpacked(node.get_input(0), 3)
    if node.has_input(3):
        biases = _shares(node.get_input(3), parts, heads)
        parts = [p if b is None else as_output(ops.Add(p, b)) for p, b in zip(parts, biases)]
    query, key, content = (split_heads(part, heads) if rank_of(part) == 3 else part for part in parts)
    if node.has_input(6):
        key, content = _joined(node.get_input(6), key), _joined(node.get_input(7), content)
    mask = _mask(node, node.get_optional_input(4), query, key)
    result = attend(node, query, key, content, [mask, node.get_optional_input(5)])
    return [result, key, content][: max(1, node.get_output_size())]


@translator("DecoderMaskedMultiHeadAttention", domain=DOMAIN)
def decoder_masked_multi_head_attention(node: OnnxNodeContext) -> Translation:
    """MultiHeadAttention of one new token, where the cache may have room for more than there are."""
    if node.has_input(9):
        raise FrontendError("a cache_indirection is not supported")
    heads = node.get_attribute("num_heads")
    parts = [node.get_input(index) for index in range(3)] if node.has_input(1) else _thirds(node.get_input(0))
    if node.has_input(10):
        biases = _shares(node.get_input(10), parts, heads)
        parts = [p if b is None else as_output(ops.Add(p, b)) for p, b in zip(parts, biases)]
    query, key, content = (split_heads(part, heads) if rank_of(part) == 3 else part for part in parts)
    seen_key, seen_content = key, content
    if node.has_input(5) and node.get_attribute("past_present_share_buffer", 0):
        known = ops.Convert(node.get_input(7), "i64").output(0)
        total = ops.Reshape(ops.Add(known, int64(1)), int64([1]), False).output(0)
        lengths = ops.Broadcast(known, ops.Gather(ops.ShapeOf(query), int64([0]), int64(0)))
        pasts = (node.get_input(5), node.get_input(6))
        key, content = (ops.CacheUpdate(*pair, lengths, total).output(0) for pair in zip(pasts, (key, content)))
        seen_key, seen_content = (
            ops.Slice(part, int64([0]), total, int64([1]), int64([2])).output(0) for part in (key, content)
        )
    elif node.has_input(5):
        seen_key = key = _joined(node.get_input(5), key)
        seen_content = content = _joined(node.get_input(6), content)
    mask = _mask(node, node.get_optional_input(3), query, seen_key)
    result = attend(node, query, seen_key, seen_content, [mask, node.get_optional_input(4)])
    return [result, key, content]


def _thirds(packed: Output) -> list[Output]:
    return ops.Split(packed, int64(2), 3).outputs()


def _unpacked(packed: Output, count: int) -> list[Output]:
    """``[B, S, N, count, H]`` as so many ``[B, N, S, H]``."""
    parts = ops.Split(packed, int64(3), count).outputs()
    return [ops.Transpose(ops.Squeeze(part, int64([3])), int64([0, 2, 1, 3])).output(0) for part in parts]


def _shares(bias: Output, parts: list[Output], heads: int) -> list[Output | None]:
    """The biases of queries, keys and values, which lie in one vector; None for keys and values of a cache."""
    widths = [part.partial_shape[2] if rank_of(part) == 3 else part.partial_shape[3] * heads for part in parts]
    if any(width.is_dynamic for width in widths):
        raise FrontendError("a bias needs queries, keys and values of known width")
    shares = ops.VariadicSplit(bias, int64(0), int64([width.get_length() for width in widths])).outputs()
    return [share if rank_of(part) == 3 else None for share, part in zip(shares, parts)]


def _joined(past: Output, new: Output) -> Output:
    return ops.Concat([past, new], 2).output(0)


def attend(node: OnnxNodeContext, query: Output, key: Output, content: Output, addends: list[Output | None]) -> Output:
    """softmax(Q·Kᵀ·scale + masks)·V of ``[B, N, S, H]``, as ``[B, S, N·H]``."""
    width = query.partial_shape[3]
    scale = node.get_attribute("scale", 0.0)
    if not scale:
        if width.is_dynamic:
            raise FrontendError("without a scale the width of a head must be known")
        scale = 1 / math.sqrt(width.get_length())
    scores: Op = ops.Multiply(ops.MatMul(query, key, False, True), scalar_like(query, scale))
    if node.get_attribute("unidirectional", 0):
        scores = ops.Add(scores, _future(query, key, node.get_attribute("mask_filter_value", _MASKED)))
    for addend in addends:
        scores = scores if addend is None else ops.Add(scores, addend)
    return joined_heads(ops.MatMul(ops.Softmax(scores, -1), content, False, False).output(0))


def _places(count: Output) -> Output:
    return ops.Range(int64(0), count, int64(1), "i64").output(0)


def _future(query: Output, key: Output, masked: float) -> Output:
    """``[S, T]``: very negative where a key comes after the query, of which the last one sees all keys."""
    queries, keys = length_of(query, 2), length_of(key, 2)
    rows = ops.Add(_places(queries), ops.Subtract(keys, queries))
    seen = ops.LessEqual(_places(keys), ops.Unsqueeze(rows, int64([1])))
    return ops.Select(seen, scalar_like(query, 0), scalar_like(query, masked)).output(0)


def _mask(node: OnnxNodeContext, mask: Output | None, query: Output, key: Output) -> Output | None:
    """What is added to scores ``[B, N, S, T]``, for lengths ``[B]`` or ones and zeros ``[B, T]`` or ``[B, S, T]``."""
    if mask is None:
        return None
    rank = rank_of(mask)
    if rank == 1:
        seen, axes = _within(mask, query, key), [1, 2]
    elif rank in (2, 3):
        seen = ops.NotEqual(mask, ops.Convert(np.int64(0), mask.element_type))
        axes = [1, 2] if rank == 2 else [1]
    else:
        raise FrontendError(f"a mask of rank {rank} is not supported")
    masked = scalar_like(query, node.get_attribute("mask_filter_value", _MASKED))
    return ops.Unsqueeze(ops.Select(seen, scalar_like(query, 0), masked), int64(axes)).output(0)


def _within(ends: Output, query: Output, key: Output) -> Output:
    """``[B, T]``: which keys lie before the end of their sequence, for ``[B]`` ends, or behind starts ``[2·B]`` too."""
    batch, count = query.partial_shape[0], ends.partial_shape[0]
    places, ends = _places(length_of(key, 2)), ops.Convert(ends, "i64").output(0)
    if batch.compatible(count):
        return ops.Less(places, ops.Unsqueeze(ends, int64([1]))).output(0)
    if not (batch * 2).compatible(count):
        raise FrontendError(f"a mask of {count} numbers for {batch} sequences is not supported")
    end, start = (ops.Unsqueeze(half, int64([1])) for half in ops.Split(ends, int64(0), 2).outputs())
    return ops.LogicalAnd(ops.Less(places, end), ops.GreaterEqual(places, start)).output(0)
