"""Rotary position embedding: rotation of pairs of elements of each head by angles that grow with the position."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, int64, rank_of
from hetero.graph import Op, Output
from hetero.system.errors import FrontendError


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
