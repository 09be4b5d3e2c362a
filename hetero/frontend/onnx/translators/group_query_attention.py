"""GroupQueryAttention of the domain com.microsoft, which exporters of language models write.

Shapes: ``B`` batch size, ``S`` new tokens, ``T`` total tokens, ``N`` query heads, ``G`` key and value heads, ``H`` head
size. Each key head is shared by a group of N / G query heads.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.attention import attend, join_heads, split_heads
from hetero.frontend.onnx.translators.microsoft_fused import DOMAIN
from hetero.frontend.onnx.translators.normalization import rms_norm
from hetero.frontend.onnx.translators.rotary import rotate
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, int64, known_length, reshape, scalar_like
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError


@translator("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(node: OnnxNodeContext) -> Translation:
    """Return the attention result ``[B, S, N·H]`` and the key and value caches ``[B, G, T, H]`` with the new tokens."""
    node.check_only_supported(sliding_window_cache=0, qk_output=0, k_quant_type="NONE", v_quant_type="NONE")
    query, key, value = _read_heads(node)
    lengths, total = _int64(node.get_input(5)), _int64(node.get_input(6))
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
    mask = _mask(node, positions, lengths, total)
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


def _mask(node: OnnxNodeContext, positions: Output, lengths: Output, total: Output) -> Output:
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


def _int64(value: Output) -> Output:
    return ops.Convert(value, Type.i64).output(0)
