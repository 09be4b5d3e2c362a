"""Matrix products and attention.

Shapes: ``B`` batch size, ``N`` query heads, ``G`` key and value heads, ``S`` queries, ``T`` keys, ``H`` head size.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.diagonals import triangle
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    int64,
    known_length,
    multiply_by,
    rank_of,
    scalar_like,
)
from hetero.graph import Op, Output
from hetero.system.errors import FrontendError

rows({
    "Det": Row(ops.Det),
    "Einsum": Row(ops.Einsum, since=12, equation=Attr("equation")),
    "MatMul": Row(ops.MatMul, transpose_a=False, transpose_b=False),
})  # fmt: skip


@translator("Gemm")
def gemm(node: OnnxNodeContext) -> Translation:
    """Return alpha·A·B + beta·C, with A and B optionally transposed."""
    transposed = (node.get_attribute(name, 0) for name in ("transA", "transB"))
    product = ops.MatMul(node.get_input(0), node.get_input(1), *transposed)
    scaled = multiply_by(product, node.get_attribute("alpha", 1.0))
    if not node.has_input(2):
        return scaled
    return ops.Add(scaled, multiply_by(node.get_input(2), node.get_attribute("beta", 1.0)))


@translator("EyeLike", since=9)
def eye_like(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    rows, columns = (axis_length(value, axis) for axis in (0, 1))
    kind = node.get_type_attribute("dtype", value.element_type)
    return ops.Eye(rows, columns, int64(node.get_attribute("k", 0)), kind)


@translator("Trilu", since=14)
def trilu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    diagonal = ops.Squeeze(node.get_input(1)) if node.has_input(1) else int64(0)
    return triangle(value, ops.GreaterEqual if node.get_attribute("upper", 1) else ops.LessEqual, diagonal)


@translator("Attention", since=23)
def attention(node: OnnxNodeContext) -> Translation:
    """Outputs: the result in the layout of the queries, keys and values with their past, and optionally the scores."""
    query, key, value = (node.get_input(index) for index in range(3))
    flat = rank_of(query) == 3
    if flat:
        heads = [node.get_attribute(name) for name in ("q_num_heads", "kv_num_heads", "kv_num_heads")]
        query, key, value = (split_heads(part, count) for part, count in zip((query, key, value), heads))
    if node.has_input(4):
        key, value = (ops.Concat([node.get_input(4 + k), part], 2).output(0) for k, part in enumerate((key, value)))
    mask = _mask(node, query, key)
    causal = mask is None and bool(node.get_attribute("is_causal", 0))
    step = node.get_attribute("qk_matmul_output_mode", 0) if node.has_output(3) else None
    if step not in (None, *range(4)):
        raise FrontendError(f"qk_matmul_output_mode must be 0 to 3, but is {step}")
    count, groups = (known_length(part, 1, "the number of heads") for part in (query, key))
    scale, cap = node.get_attribute("scale", None), node.get_attribute("softcap", 0.0)
    result, scores = attend(query, key, value, mask, count, groups, scale, cap, causal=causal, step=step)
    return [join_heads(result) if flat else result, key, value, *([] if scores is None else [scores])]


def split_heads(value: Output, heads: int) -> Output:
    """Rearrange ``[B, S, N·H]`` to ``[B, N, S, H]``."""
    return ops.Transpose(ops.Reshape(value, int64([0, 0, heads, -1]), True), int64([0, 2, 1, 3])).output(0)


def join_heads(value: Output) -> Output:
    """Rearrange ``[B, N, S, H]`` to ``[B, S, N·H]``."""
    return ops.Reshape(ops.Transpose(value, int64([0, 2, 1, 3])), int64([0, 0, -1]), True).output(0)


def attend(
    query: Output,
    key: Output,
    value: Output,
    mask: Output | None,
    heads: int,
    groups: int,
    scale: float | None,
    cap: float,
    *,
    causal: bool = False,
    sink: Output | None = None,
    step: int | None = None,
) -> tuple[Output, Output | None]:
    """Return softmax(cap · tanh(Q·Kᵀ · scale / cap) + mask)·V as ``[B, N, S, H]``, and scores ``[B, N, S, T]`` or None.

    ``heads``, ``groups``: N and G. ``mask``: boolean, or numbers to be added. ``scale``: None for 1/√H. ``cap``: 0 for
    none. ``sink``: ``[1, N, 1, 1]``, a score for each head that counts only in the sum of the softmax. It needs a
    scale and excludes a cap. ``step``: the step whose scores are returned: 0 product, 1 cap, 2 mask, 3 softmax.
    """
    members = heads // groups
    if groups != heads:
        if heads % groups:
            raise FrontendError(f"{heads} query heads are not a multiple of {groups} key heads")
        # Query heads that share a key head are adjacent.
        size = known_length(query, 3, "the head size")
        query = ops.Reshape(query, int64([0, groups, members, -1, size]), True).output(0)
        key, value = (ops.Unsqueeze(part, int64([2])).output(0) for part in (key, value))
        mask, sink = (None if part is None else _group_heads(part, groups, members) for part in (mask, sink))
    scores = None
    if cap or step is not None:
        if causal:
            mask = _causal(_query_positions(query), key)
        result, steps = _attend_in_steps(query, key, value, mask, scale, cap)
        scores = None if step is None else steps[step]
    else:
        number = None if scale is None else scalar_like(query, scale)
        result = ops.ScaledDotProductAttention(query, key, value, mask, number, causal, sink=sink).output(0)
    if groups != heads:
        size = known_length(value, 4, "the head size of the values")
        result = ops.Reshape(result, int64([0, heads, -1, size]), True).output(0)
        scores = None if scores is None else _ungroup_heads(scores, heads)
    return result, scores


def _attend_in_steps(
    query: Output, key: Output, value: Output, mask: Output | None, scale: float | None, cap: float
) -> tuple[Output, list[Output]]:
    """Compute attention with MatMul and Softmax; return the result and the scores after each step."""
    scale = known_length(query, -1, "the head size") ** -0.5 if scale is None else scale
    product = ops.MatMul(multiply_by(query, scale / (cap or 1)), key, False, True).output(0)
    scores = ops.Multiply(ops.Tanh(product), scalar_like(query, cap)).output(0) if cap else product
    steps = [multiply_by(product, cap or 1), scores]
    if mask is None:
        weights = ops.Softmax(scores, -1).output(0)
        return ops.MatMul(weights, value, False, False).output(0), [*steps, scores, weights]
    bias = mask
    if mask.element_type == Type.boolean:
        bias = ops.Select(mask, scalar_like(query, 0), scalar_like(query, -np.inf)).output(0)
    masked = ops.Add(scores, bias).output(0)
    weights = ops.Softmax(masked, -1).output(0)
    # A query that attends to no key has weights and a result of 0; Softmax computes NaN for it.
    no_key = ops.Equal(ops.ReduceMax(bias, int64([-1]), True), scalar_like(query, -np.inf))
    product = ops.MatMul(weights, value, False, False).output(0)
    result, weights = (ops.Select(no_key, scalar_like(query, 0), part).output(0) for part in (product, weights))
    return result, [*steps, masked, weights]


def _mask(node: OnnxNodeContext, query: Output, key: Output) -> Output | None:
    """Return the mask ``[B or 1, N or 1, S, T]``, or of lower rank: boolean, or numbers to be added to the scores.

    None if there is no mask, or if a causal mask without a past is all that is needed.
    """
    left, right = (node.get_attribute(f"{side}_window_size", -1) for side in ("left", "right"))
    mask = node.get_optional_input(3)
    if mask is not None:
        mask = _pad_to_keys(mask, key)
    causal = bool(node.get_attribute("is_causal", 0))
    ends = node.get_optional_input(6)
    if mask is None and ends is None and max(left, right) < 0 and not (causal and node.has_input(4)):
        return None
    rows, conditions = _query_positions(query), []
    if ends is not None:
        ends = ops.Unsqueeze(ops.Convert(ends, Type.i64), int64([1, 2, 3])).output(0)
        conditions.append(ops.Less(_positions(key), ends).output(0))
    if node.has_input(4):
        rows = ops.Add(rows, axis_length(node.get_input(4), [-2])).output(0)
    elif ends is not None:
        rows = ops.Add(rows, ops.Subtract(ends, axis_length(query, [-2]))).output(0)
    if causal:
        conditions.append(_causal(rows, key))
    distance = ops.Subtract(rows, _positions(key))
    if left >= 0:
        conditions.append(ops.LessEqual(distance, int64(left)).output(0))
    if right >= 0:
        conditions.append(ops.GreaterEqual(distance, int64(-right)).output(0))
    if mask is not None and mask.element_type == Type.boolean:
        conditions.append(mask)
    if not conditions:
        return mask
    visible = reduce(lambda a, b: ops.LogicalAnd(a, b).output(0), conditions)
    if mask is None or mask.element_type == Type.boolean:
        return visible
    return ops.Select(visible, mask, scalar_like(mask, -np.inf)).output(0)


def _pad_to_keys(mask: Output, key: Output) -> Output:
    """Pad a mask for fewer keys to ``[…, T]``, so that the other keys are masked."""
    rank, length = rank_of(mask), key.partial_shape[2]
    if mask.partial_shape[-1].is_static and mask.partial_shape[-1] == length:
        return mask
    missing = ops.Subtract(axis_length(key, [-2]), axis_length(mask, [rank - 1]))
    pads_end = ops.Concat([int64([0] * (rank - 1)), missing], 0)
    masked = scalar_like(mask, False if mask.element_type == Type.boolean else -np.inf)
    return ops.Pad(mask, int64([0] * rank), pads_end, "constant", masked).output(0)


def _group_heads(mask: Output, groups: int, members: int) -> Output:
    """Split the head axis of a mask ``[B or 1, N or 1, S, T]``, or of lower rank, into ``[G, N / G]``."""
    rank = rank_of(mask)
    if rank < 3:
        return mask
    if mask.partial_shape[rank - 3] == 1:
        return ops.Unsqueeze(mask, int64([rank - 3])).output(0)
    if mask.partial_shape[rank - 3].is_dynamic:
        ones = int64([1] * (rank - 3) + [groups * members, 1, 1])
        mask = ops.Broadcast(mask, ones, broadcast_spec="BIDIRECTIONAL").output(0)
    batch = [axis_length(mask, [0])] if rank > 3 else []
    shape = ops.Concat([*batch, int64([groups, members]), axis_length(mask, [rank - 2, rank - 1])], 0)
    return ops.Reshape(mask, shape, False).output(0)


def _ungroup_heads(scores: Output, heads: int) -> Output:
    """Reshape scores ``[B, G, N / G, S, T]`` to ``[B, N, S, T]``."""
    shape = ops.Concat([axis_length(scores, [0]), int64([heads]), axis_length(scores, [3, 4])], 0)
    return ops.Reshape(scores, shape, False).output(0)


def _causal(rows: Output, key: Output) -> Output:
    """Return which keys are not after the queries at positions ``rows``."""
    return ops.LessEqual(_positions(key), rows).output(0)


def _query_positions(query: Output) -> Output:
    """Return the positions of the queries, ``[S, 1]``."""
    return ops.Unsqueeze(_positions(query), int64([1])).output(0)


def _positions(heads: Output) -> Output:
    """Return 0 … S - 1 for heads ``[…, S, H]``."""
    return arange(axis_length(heads, -2))


@translator("LinearAttention", since=27)
@translator("LinearAttention", domain="com.microsoft")
def linear_attention(node: OnnxNodeContext) -> Translation:
    """Without a past state, the state is zeros ``[B, G, key head size, value head size]``."""
    node.check_only_supported(state_window=0)
    query, key, value = (node.get_input(index) for index in range(3))
    query_heads, heads = node.get_attribute("q_num_heads"), node.get_attribute("kv_num_heads")
    if node.has_input(3):
        state = node.get_input(3)
    else:
        sizes = [ops.Divide(axis_length(part, [2]), int64([heads])) for part in (key, value)]
        shape = ops.Concat([axis_length(key, [0]), int64([heads]), *sizes], 0)
        state = ops.Broadcast(scalar_like(query, 0), shape).output(0)
    gates = [node.get_input(index) for index in (4, 5) if node.has_input(index)]
    rule, scale = node.get_attribute("update_rule", "gated_delta"), node.get_attribute("scale", 0.0)
    return ops.LinearAttention(query, key, value, state, gates, query_heads, heads, rule, scale)


@translator("RotaryEmbedding", since=23)
def rotary_embedding(node: OnnxNodeContext) -> Translation:
    """Rotate ``[B, N, S, H]`` or ``[B, S, N·H]``.

    The caches are ``[B, S, R/2]``, or ``[positions, R/2]`` with position_ids.
    """
    caches = [node.get_input(1), node.get_input(2)]
    if node.has_input(3):
        caches = [ops.Gather(cache, node.get_input(3), int64(0)).output(0) for cache in caches]
    return _rotate_input(node, *caches)


@translator("RotaryEmbedding", domain="com.microsoft")
def rotary_embedding_of_onnxruntime(node: OnnxNodeContext) -> Translation:
    """The position_ids are ``[B, S]``, or ``[1]`` for the position of the first token."""
    node.check_only_supported(is_packed_batching=0, scale=1.0)
    value, positions = node.get_input(0), node.get_input(1)
    if rank_of(positions) == 1:
        offsets = arange(axis_length(value, rank_of(value) - 2))
        positions = ops.Unsqueeze(ops.Add(positions, offsets), int64([0])).output(0)
    caches = [ops.Gather(node.get_input(index), positions, int64(0)).output(0) for index in (2, 3)]
    return _rotate_input(node, *caches)


def _rotate_input(node: OnnxNodeContext, cos: Output, sin: Output) -> Output:
    """Rotate input 0 as the attributes num_heads, rotary_embedding_dim and interleaved say.

    A dynamic number of heads of ``[B, N, S, H]`` becomes num_heads, by a Reshape that fails for another number.
    """
    value, interleaved = node.get_input(0), bool(node.get_attribute("interleaved", 0))
    width = node.get_attribute("rotary_embedding_dim", 0)
    heads, half = node.get_attribute("num_heads", 0), cos.partial_shape[-1]
    if rank_of(value) == 4:
        if heads and value.partial_shape[1].is_dynamic:
            value = ops.Reshape(value, int64([0, heads, 0, 0]), True).output(0)
        return rotate(value, cos, sin, interleaved, width)
    if not heads and half.is_dynamic:
        raise FrontendError("without num_heads the last dimension of the caches must be known")
    split = ops.Reshape(value, int64([0, 0, heads, -1] if heads else [0, 0, -1, 2 * half.get_length()]), True)
    rotated = rotate(ops.Transpose(split, int64([0, 2, 1, 3])).output(0), cos, sin, interleaved, width)
    return ops.Reshape(ops.Transpose(rotated, int64([0, 2, 1, 3])), ops.ShapeOf(value), False).output(0)


def rotate(value: Output, cos: Output, sin: Output, interleaved: bool, width: int = 0) -> Output:
    """Rotate the first ``width`` elements of each head of ``[B, N, S, H]``, or all of them if it is 0.

    cos and sin are ``[B or 1, S, width / 2]``. A pair is two adjacent elements if interleaved, else one element of each
    half.
    """
    cos, sin = (ops.Unsqueeze(part, int64([1])).output(0) for part in (cos, sin))
    rest = None
    if width and value.partial_shape[3] != width:
        value, rest = ops.VariadicSplit(value, int64(3), int64([width, -1])).outputs()
    if interleaved:
        pairs = ops.Reshape(value, int64([0, 0, 0, -1, 2]), True)
        first, second = (ops.Squeeze(part, int64([4])).output(0) for part in ops.Split(pairs, int64(4), 2).outputs())
    else:
        first, second = ops.Split(value, int64(3), 2).outputs()
    parts: list[Op | Output] = [
        ops.Subtract(ops.Multiply(first, cos), ops.Multiply(second, sin)),
        ops.Add(ops.Multiply(first, sin), ops.Multiply(second, cos)),
    ]
    if interleaved:
        joined = ops.Concat([ops.Unsqueeze(part, int64([4])) for part in parts], 4)
        parts = [ops.Reshape(joined, int64([0, 0, 0, -1]), True)]
    return ops.Concat(parts if rest is None else [*parts, rest], 3).output(0)
