"""ONNX's Attention: ``B`` batches, ``N`` heads of ``S`` queries, ``G`` heads of ``T`` keys, ``H`` numbers each."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, scalar_like
from hetero.graph import Op, Output
from hetero.types import Type

# The values of qk_matmul_output_mode.
_PRODUCT, _CAPPED, _BIASED, _WEIGHTS = range(4)


@translator("Attention", since=23)
def attention(node: OnnxNodeContext) -> Translation:
    """Outputs: values weighted, as the queries are laid out; keys and values with their past; scores as asked for."""
    query, key, value = (node.get_input(index) for index in range(3))
    flat = rank_of(query) == 3
    if flat:
        heads = [node.get_attribute(name) for name in ("q_num_heads", "kv_num_heads", "kv_num_heads")]
        query, key, value = (split_heads(part, count) for part, count in zip((query, key, value), heads))
    if node.has_input(4):
        key, value = (ops.Concat([node.get_input(4 + k), part], 2).output(0) for k, part in enumerate((key, value)))
    mask = _mask(node, query, key)
    result, scores = _attend(node, query, key, value, mask)
    if flat:
        result = joined_heads(result)
    return [result, key, value, *([] if scores is None else [scores])]


def split_heads(value: Output, heads: int) -> Output:
    """``[B, S, N·H]`` as ``[B, N, S, H]``."""
    apart = ops.Reshape(value, int64([0, 0, heads, -1]), True)
    return ops.Transpose(apart, int64([0, 2, 1, 3])).output(0)


def joined_heads(value: Output) -> Output:
    """``[B, N, S, H]`` as ``[B, S, N·H]``."""
    return ops.Reshape(ops.Transpose(value, int64([0, 2, 1, 3])), int64([0, 0, -1]), True).output(0)


def _attend(
    node: OnnxNodeContext, query: Output, key: Output, value: Output, mask: Output | None
) -> tuple[Output, Output | None]:
    """The weighted values ``[B, N, S, H]``, and the scores ``[B, N, S, T]`` where they are wanted."""
    heads, groups = (_known(part, 1, "the number of heads") for part in (query, key))
    if groups != heads:
        if heads % groups:
            raise FrontendError(f"{heads} heads of queries cannot share {groups} heads of keys")
        # Queries that share a head of keys stand beside each other.
        query = ops.Reshape(
            query, int64([0, groups, heads // groups, -1, _known(query, 3, "the width of a head")]), True
        )
        key, value = (ops.Unsqueeze(part, int64([2])).output(0) for part in (key, value))
        mask = None if mask is None else grouped(mask, groups, heads // groups)
        query = query.output(0)
    cap, scale = node.get_attribute("softcap", 0.0), node.get_attribute("scale", None)
    scores = None
    if cap or node.has_output(3):
        result, scores = _by_steps(node, query, key, value, mask)
    else:
        causal = mask is None and bool(node.get_attribute("is_causal", 0))
        number = None if scale is None else scalar_like(query, scale)
        result = ops.ScaledDotProductAttention(query, key, value, mask, number, causal).output(0)
    if groups != heads:
        result = ops.Reshape(result, int64([0, heads, -1, _known(value, 4, "the width of a value")]), True).output(0)
        scores = None if scores is None else _ungrouped(scores, heads)
    return result, scores


def _by_steps(
    node: OnnxNodeContext, query: Output, key: Output, value: Output, mask: Output | None
) -> tuple[Output, Output]:
    """The weighted values, and the scores at the step that an attribute says."""
    scale = node.get_attribute("scale", None)
    root = math.sqrt(scale if scale is not None else _known(query, -1, "the width of a head") ** -0.5)
    steps: dict[int, Op] = {}
    parts = (ops.Multiply(part, scalar_like(part, root)) for part in (query, key))
    scores: Op = ops.MatMul(*parts, False, True)
    steps[_PRODUCT] = scores
    cap = node.get_attribute("softcap", 0.0)
    if cap:
        number = scalar_like(query, cap)
        scores = ops.Multiply(ops.Tanh(ops.Divide(scores, number)), number)
    steps[_CAPPED] = scores
    if mask is None and node.get_attribute("is_causal", 0):
        mask = _causal(_places(query), key)
    if mask is not None:
        bias = mask
        if mask.element_type == Type.boolean:
            bias = ops.Select(mask, scalar_like(query, 0), scalar_like(query, -np.inf)).output(0)
        scores = ops.Add(scores, bias)
    steps[_BIASED] = scores
    weights: Op = ops.Softmax(scores, -1)
    if mask is not None:
        # A query that looks at nothing has weights 0, of which Softmax makes NaN.
        nothing = ops.Equal(ops.ReduceMax(bias, int64([-1]), True), scalar_like(query, -np.inf))
        weights = ops.Select(nothing, scalar_like(query, 0), weights)
    steps[_WEIGHTS] = weights
    mode = node.get_attribute("qk_matmul_output_mode", _PRODUCT)
    if mode not in steps:
        raise FrontendError(f"qk_matmul_output_mode must be 0 to 3, but is {mode}")
    return ops.MatMul(weights, value, False, False).output(0), steps[mode].output(0)


def _mask(node: OnnxNodeContext, query: Output, key: Output) -> Output | None:
    """What queries look at, of ``[B or 1, N or 1, S, T]`` or fewer axes: truth values, or what is added to scores.

    None also where only earlier keys are looked at and there is no past.
    """
    windows = [node.get_attribute(f"{side}_window_size", -1) for side in ("left", "right")]
    given = node.get_optional_input(3)
    if given is not None:
        given = _lengthened(given, key)
    causal = bool(node.get_attribute("is_causal", 0))
    ends = node.get_optional_input(6)
    if given is None and ends is None and max(windows) < 0 and not (causal and node.has_input(4)):
        return None
    rows, allowed = _places(query), []
    if ends is not None:
        ends = ops.Unsqueeze(ops.Convert(ends, Type.i64), int64([1, 2, 3])).output(0)
        allowed.append(ops.Less(_range(_length(key)), ends).output(0))
    if node.has_input(4):
        rows = ops.Add(rows, _length(node.get_input(4))).output(0)
    elif ends is not None:
        rows = ops.Add(rows, ops.Subtract(ends, _length(query))).output(0)
    if causal:
        allowed.append(_causal(rows, key))
    distance = ops.Subtract(rows, _range(_length(key)))
    if windows[0] >= 0:
        allowed.append(ops.LessEqual(distance, int64(windows[0])).output(0))
    if windows[1] >= 0:
        allowed.append(ops.GreaterEqual(distance, int64(-windows[1])).output(0))
    if given is not None and given.element_type == Type.boolean:
        allowed.append(given)
    if not allowed:
        return given
    seen = reduce(lambda a, b: ops.LogicalAnd(a, b).output(0), allowed)
    if given is None or given.element_type == Type.boolean:
        return seen
    return ops.Select(seen, given, scalar_like(given, -np.inf)).output(0)


def _lengthened(mask: Output, key: Output) -> Output:
    """A mask ``[…, T]`` from one for fewer keys: the others are not looked at."""
    rank, length = rank_of(mask), key.partial_shape[2]
    if mask.partial_shape[-1].is_static and mask.partial_shape[-1] == length:
        return mask
    missing = ops.Subtract(_length(key), ops.Gather(ops.ShapeOf(mask), int64([rank - 1]), int64(0)))
    behind = ops.Concat([int64([0] * (rank - 1)), missing], 0)
    hidden = scalar_like(mask, False if mask.element_type == Type.boolean else -np.inf)
    return ops.Pad(mask, int64([0] * rank), behind, "constant", hidden).output(0)


def grouped(mask: Output, groups: int, members: int) -> Output:
    """A mask of ``[B or 1, N or 1, S, T]`` or fewer axes for heads ``[G, N / G]``."""
    rank = rank_of(mask)
    if rank < 3:
        return mask
    if mask.partial_shape[rank - 3] == 1:
        return ops.Unsqueeze(mask, int64([rank - 3])).output(0)
    if mask.partial_shape[rank - 3].is_dynamic:
        whole = int64([1] * (rank - 3) + [groups * members, 1, 1])
        mask = ops.Broadcast(mask, whole, broadcast_spec="BIDIRECTIONAL").output(0)
    lengths = [ops.Gather(ops.ShapeOf(mask), int64([axis]), int64(0)) for axis in range(rank)]
    shape = ops.Concat([*lengths[: rank - 3], int64([groups, members]), *lengths[rank - 2 :]], 0)
    return ops.Reshape(mask, shape, False).output(0)


def _ungrouped(scores: Output, heads: int) -> Output:
    lengths = [ops.Gather(ops.ShapeOf(scores), int64([axis]), int64(0)) for axis in (0, 3, 4)]
    return ops.Reshape(scores, ops.Concat([lengths[0], int64([heads]), *lengths[1:]], 0), False).output(0)


def _causal(rows: Output, key: Output) -> Output:
    return ops.LessEqual(_range(_length(key)), rows).output(0)


def _places(query: Output) -> Output:
    """The numbers of the queries, ``[S, 1]``."""
    return ops.Unsqueeze(_range(_length(query)), int64([1])).output(0)


def _length(heads: Output) -> Output:
    """How many queries or keys there are, of ``[B, N, S, H]`` or with grouped heads, as a vector."""
    return ops.Gather(ops.ShapeOf(heads), int64([-2]), int64(0)).output(0)


def _range(count: Output) -> Output:
    return ops.Range(int64(0), ops.Squeeze(count), int64(1), "i64").output(0)


def _known(value: Output, axis: int, what: str) -> int:
    if value.partial_shape[axis].is_dynamic:
        raise FrontendError(f"{what} must be known")
    return value.partial_shape[axis].get_length()


@translator("LinearAttention", since=27)
@translator("LinearAttention", domain="com.microsoft")
def linear_attention(node: OnnxNodeContext) -> Translation:
    if node.get_attribute("state_window", 0):
        raise FrontendError("a state_window is not supported")
    query, key, value = (node.get_input(index) for index in range(3))
    query_heads, heads = node.get_attribute("q_num_heads"), node.get_attribute("kv_num_heads")
    if node.has_input(3):
        state = node.get_input(3)
    else:
        batch, *widths = (
            ops.Gather(ops.ShapeOf(part), int64([axis]), int64(0)) for part, axis in ((key, 0), (key, 2), (value, 2))
        )
        widths = [ops.Divide(width, int64([heads])) for width in widths]
        state = ops.Broadcast(scalar_like(query, 0), ops.Concat([batch, int64([heads]), *widths], 0)).output(0)
    gates = [node.get_input(index) for index in (4, 5) if node.has_input(index)]
    rule, scale = node.get_attribute("update_rule", "gated_delta"), node.get_attribute("scale", 0.0)
    return ops.LinearAttention(query, key, value, state, gates, query_heads, heads, rule, scale)
