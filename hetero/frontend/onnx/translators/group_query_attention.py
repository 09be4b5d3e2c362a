"""GroupQueryAttention of the domain com.microsoft, which exporters of language models write.

``B`` batches, ``S`` new tokens, ``T`` tokens in all, ``N`` heads of queries in ``G`` groups with one head of keys and
values each, ``H`` numbers a head.
"""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.attention import grouped, joined_heads, split_heads
from hetero.frontend.onnx.translators.microsoft_fused import DOMAIN
from hetero.frontend.onnx.translators.normalization import rms_norm
from hetero.frontend.onnx.translators.rotary import rotated
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, scalar_like
from hetero.graph import Output
from hetero.types import Type

# Attributes that are supported with this value only.
_PLAIN = {"sliding_window_cache": 0, "qk_output": 0, "k_quant_type": "NONE", "v_quant_type": "NONE"}


@translator("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(node: OnnxNodeContext) -> Translation:
    """Queries look at the keys of a cache that grows; outputs are ``[B, S, N·H]`` and the caches ``[B, G, T, H]``."""
    for name, plain in _PLAIN.items():
        if node.get_attribute(name, plain) != plain:
            raise FrontendError(f"{name} is supported only as {plain}")
    query, key, value = _heads(node)
    lengths, total = _int64(node.get_input(5)), _int64(node.get_input(6))
    total = ops.Reshape(total, int64([1]), False).output(0)
    new = ops.Gather(ops.ShapeOf(query), int64([2]), int64(0)).output(0)
    # How many tokens each sequence had before: lengths are those after this step, less one.
    known = ops.Maximum(ops.Subtract(ops.Add(lengths, int64(1)), new), int64(0))
    places = ops.Add(ops.Unsqueeze(known, int64([1])), _range(new)).output(0)
    if node.get_attribute("do_rotary", 0):
        chosen = node.get_input(9) if node.has_input(9) else places
        cos, sin = (ops.Gather(node.get_input(index), chosen, int64(0)).output(0) for index in (7, 8))
        interleaved = bool(node.get_attribute("rotary_interleaved", 0))
        width = cos.partial_shape[-1]
        width = 2 * width.get_length() if width.is_static else 0
        query, key = (rotated(part, cos, sin, interleaved, width) for part in (query, key))
    if node.has_input(3):
        pasts = (node.get_input(3), node.get_input(4))
        key, value = (ops.CacheUpdate(*pair, known, total).output(0) for pair in zip(pasts, (key, value)))
    mask = _mask(node, places, lengths, total)
    result = _attend(node, query, *(_up_to(part, total) for part in (key, value)), mask)
    return [result, key, value]


def _heads(node: OnnxNodeContext) -> list[Output]:
    """Queries ``[B, N, S, H]``, keys and values ``[B, G, S, H]``."""
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


def _up_to(cache: Output, total: Output) -> Output:
    return ops.Slice(cache, int64([0]), total, int64([1]), int64([2])).output(0)


def _mask(node: OnnxNodeContext, places: Output, lengths: Output, total: Output) -> Output:
    """Which of the tokens each new one looks at: ``[B, S, T]``."""
    keys = _range(total)
    window, causal = node.get_attribute("local_window_size", -1), node.get_attribute("causal", 1)
    if not causal:
        return ops.LessEqual(keys, ops.Unsqueeze(lengths, int64([1, 2]))).output(0)
    rows = ops.Unsqueeze(places, int64([2]))
    seen = ops.LessEqual(keys, rows)
    if window > 0:
        seen = ops.LogicalAnd(seen, ops.Greater(keys, ops.Subtract(rows, int64(window))))
    return seen.output(0)


def _attend(node: OnnxNodeContext, query: Output, key: Output, value: Output, mask: Output) -> Output:
    """softmax(Q·Kᵀ·scale + mask)·V, where the heads of a group share keys and values."""
    groups = node.get_attribute("kv_num_heads")
    members = node.get_attribute("num_heads") // groups
    query = ops.Reshape(query, int64([0, groups, members, -1, _width(query)]), True).output(0)
    key, value = (ops.Unsqueeze(part, int64([2])).output(0) for part in (key, value))
    mask = ops.Unsqueeze(mask, int64([1, 2])).output(0)
    if node.has_input(10):
        bias = grouped(node.get_input(10), groups, members)
        mask = ops.Select(mask, bias, scalar_like(query, -np.inf)).output(0)
    scale, cap = node.get_attribute("scale", 0.0) or 1 / math.sqrt(_width(query)), node.get_attribute("softcap", 0.0)
    sink = _sink(node, query, groups, members)
    if cap:
        if sink is not None:
            raise FrontendError("softcap with a sink is not supported")
        scores = ops.MatMul(ops.Multiply(query, scalar_like(query, scale / cap)), key, False, True)
        scores = ops.Multiply(ops.Tanh(scores), scalar_like(query, cap))
        if mask.element_type == Type.boolean:
            scores = ops.Select(mask, scores, scalar_like(query, -np.inf))
        else:
            scores = ops.Add(scores, mask)
        result = ops.MatMul(ops.Softmax(scores, -1), value, False, False)
    else:
        result = ops.ScaledDotProductAttention(query, key, value, mask, scalar_like(query, scale), sink=sink)
    return joined_heads(ops.Reshape(result, int64([0, groups * members, -1, _width(value)]), True).output(0))


def _sink(node: OnnxNodeContext, query: Output, groups: int, members: int) -> Output | None:
    """Scores of each head that count in the sums only, ``[1, G, N / G, 1, 1]``."""
    if node.has_input(11):
        return ops.Reshape(node.get_input(11), int64([1, groups, members, 1, 1]), False).output(0)
    if node.get_attribute("smooth_softmax", 0) == 1:
        zeros = np.zeros((1, groups, members, 1, 1), query.element_type.to_dtype())
        return ops.Constant(zeros).output(0)
    return None


def _width(heads: Output) -> int:
    """The numbers of a head. Raises FrontendError where they are not known."""
    if heads.partial_shape[-1].is_dynamic:
        raise FrontendError("the width of a head must be known")
    return heads.partial_shape[-1].get_length()


def _range(count: Output) -> Output:
    """The numbers from 0 on, as many as the one element of the count."""
    return ops.Range(int64(0), ops.Squeeze(count), int64(1), "i64").output(0)


def _int64(value: Output) -> Output:
    return ops.Convert(value, Type.i64).output(0)
