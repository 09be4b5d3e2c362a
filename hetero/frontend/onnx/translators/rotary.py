"""Rotary embeddings: pairs of numbers of each head are turned by an angle that grows with the place in the sequence."""

from __future__ import annotations

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of
from hetero.graph import Output


@translator("RotaryEmbedding", since=23)
def rotary_embedding(node: OnnxNodeContext) -> Translation:
    """Of ``[B, N, S, H]`` or ``[B, S, N·H]``; caches are ``[B, S, R/2]``, or ``[places, R/2]`` with position_ids."""
    caches = [node.get_input(1), node.get_input(2)]
    if node.has_input(3):
        caches = [ops.Gather(cache, node.get_input(3), int64(0)).output(0) for cache in caches]
    return rotated_heads(node, *caches)


@translator("RotaryEmbedding", domain="com.microsoft")
def rotary_embedding_of_onnxruntime(node: OnnxNodeContext) -> Translation:
    """The places are ``[B, S]``, or the one of the first element ``[1]``."""
    for name, plain in (("is_packed_batching", 0), ("scale", 1.0)):
        if node.get_attribute(name, plain) != plain:
            raise FrontendError(f"{name} is not supported")
    value, places = node.get_input(0), node.get_input(1)
    if rank_of(places) == 1:
        length = ops.Gather(ops.ShapeOf(value), int64(rank_of(value) - 2), int64(0))
        places = ops.Unsqueeze(ops.Add(places, ops.Range(int64(0), length, int64(1), "i64")), int64([0])).output(0)
    caches = [ops.Gather(node.get_input(index), places, int64(0)).output(0) for index in (2, 3)]
    return rotated_heads(node, *caches)


def rotated_heads(node: OnnxNodeContext, cos: Output, sin: Output) -> Output:
    """The value of input 0 turned, by the attributes num_heads, rotary_embedding_dim and interleaved.

    num_heads also makes an unknown number of heads of ``[B, N, S, H]`` known, by a Reshape that fails if it is another.
    """
    value, interleaved = node.get_input(0), bool(node.get_attribute("interleaved", 0))
    width = node.get_attribute("rotary_embedding_dim", 0)
    heads, half = node.get_attribute("num_heads", 0), cos.partial_shape[-1]
    if rank_of(value) == 4:
        if heads and value.partial_shape[1].is_dynamic:
            value = ops.Reshape(value, int64([0, heads, 0, 0]), True).output(0)
        return rotated(value, cos, sin, interleaved, width)
    if not heads and half.is_dynamic:
        raise FrontendError("without num_heads the width of the caches must be known")
    apart = ops.Reshape(value, int64([0, 0, heads, -1] if heads else [0, 0, -1, 2 * half.get_length()]), True)
    turned = rotated(ops.Transpose(apart, int64([0, 2, 1, 3])).output(0), cos, sin, interleaved, width)
    return ops.Reshape(ops.Transpose(turned, int64([0, 2, 1, 3])), ops.ShapeOf(value), False).output(0)


def rotated(value: Output, cos: Output, sin: Output, interleaved: bool, width: int = 0) -> Output:
    """``[B, N, S, H]`` with the first ``width`` numbers of each head turned, or all of them where it is 0.

    cos and sin are ``[B or 1, S, width / 2]``. Pairs are neighbours where interleaved, else they lie in both halves.
    """
    cos, sin = (ops.Unsqueeze(part, int64([1])).output(0) for part in (cos, sin))
    turned, rest = value, None
    if width and value.partial_shape[3] != width:
        turned, rest = ops.VariadicSplit(value, int64(3), int64([width, -1])).outputs()
    if interleaved:
        pairs = ops.Reshape(turned, int64([0, 0, 0, -1, 2]), True)
        first, second = (ops.Squeeze(part, int64([4])).output(0) for part in ops.Split(pairs, int64(4), 2).outputs())
    else:
        first, second = ops.Split(turned, int64(3), 2).outputs()
    real = ops.Subtract(ops.Multiply(first, cos), ops.Multiply(second, sin))
    imaginary = ops.Add(ops.Multiply(first, sin), ops.Multiply(second, cos))
    if interleaved:
        pairs = ops.Concat([ops.Unsqueeze(part, int64([4])) for part in (real, imaginary)], 4)
        parts = [ops.Reshape(pairs, int64([0, 0, 0, -1]), True)]
    else:
        parts = [real, imaginary]
    parts += [] if rest is None else [rest]
    return ops.Concat(parts, 3).output(0)
