"""Operators of the domain com.microsoft that ONNX Runtime's optimizer makes of several of ONNX's."""

from __future__ import annotations

from collections.abc import Callable

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import Translation, translator
from hetero.frontend.onnx.translators.common import int64, normalized, rank_of, scalar_like
from hetero.frontend.onnx.translators.convolution import convolution
from hetero.frontend.onnx.translators.matmul import gemm
from hetero.frontend.onnx.translators.normalization import layer_norm, rms_norm
from hetero.graph import Op, Output
from hetero.types import Type

DOMAIN = "com.microsoft"


def output_of(value: Op | Output) -> Output:
    return value if isinstance(value, Output) else value.output(0)


def optional(node: OnnxNodeContext, index: int) -> Output | None:
    return node.get_input(index) if node.has_input(index) else None


# What an activation's name and its numbers make of a value.
_ACTIVATIONS: dict[str, Callable[..., Op]] = {
    "Relu": lambda x, *numbers: ops.Relu(x),
    "Sigmoid": lambda x, *numbers: ops.Sigmoid(x),
    "Tanh": lambda x, *numbers: ops.Tanh(x),
    "LeakyRelu": lambda x, alpha=0.01, *numbers: ops.PRelu(x, scalar_like(x, alpha)),
    "Clip": lambda x, low, high: ops.Clamp(x, low, high),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: ops.HardSigmoid(x, scalar_like(x, alpha), scalar_like(x, beta)),
}


def _activated(node: OnnxNodeContext, value: Output, *numbers: float) -> Translation:
    name = node.get_attribute("activation", "")
    if not name:
        return value
    if name not in _ACTIVATIONS:
        raise FrontendError(f"activation {name} is none of {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[name](value, *numbers)


@translator("FusedConv", domain=DOMAIN)
def fused_conv(node: OnnxNodeContext) -> Translation:
    """An activation of a convolution, to which a further tensor may be added before."""
    result = output_of(convolution(node))
    if node.has_input(3):
        result = ops.Add(result, node.get_input(3)).output(0)
    return _activated(node, result, *node.get_attribute("activation_params", ()))


@translator("FusedGemm", domain=DOMAIN)
def fused_gemm(node: OnnxNodeContext) -> Translation:
    names = ("activation_alpha", "activation_beta", "activation_gamma")
    numbers = [node.get_attribute(name) for name in names if node.has_attribute(name)]
    return _activated(node, output_of(gemm(node)), *numbers)


@translator("FusedMatMul", "TransposeMatMul", domain=DOMAIN)
def fused_matmul(node: OnnxNodeContext) -> Translation:
    """alpha·A·B, where the matrices may be transposed, and their first batch axis be the last but one."""
    values = []
    for index, name in enumerate("AB"):
        value = node.get_input(index)
        if node.get_attribute(f"transBatch{name}", 0):
            rank = rank_of(value)
            value = ops.Transpose(value, int64([*range(1, rank - 1), 0, rank - 1])).output(0)
        values.append(value)
    transposed = [bool(node.get_attribute(f"trans{name}", 0)) for name in "AB"]
    product = ops.MatMul(*values, *transposed)
    alpha = node.get_attribute("alpha", 1.0)
    return product if alpha == 1 else ops.Multiply(product, scalar_like(values[0], alpha))


@translator("Gelu", domain=DOMAIN)
def gelu(node: OnnxNodeContext) -> Translation:
    return ops.Gelu(node.get_input(0), "erf")


@translator("BiasGelu", domain=DOMAIN)
def bias_gelu(node: OnnxNodeContext) -> Translation:
    return ops.Gelu(ops.Add(node.get_input(0), node.get_input(1)), "erf")


@translator("FastGelu", domain=DOMAIN)
def fast_gelu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Gelu(ops.Add(value, node.get_input(1)) if node.has_input(1) else value, "tanh")


@translator("QuickGelu", domain=DOMAIN)
def quick_gelu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Swish(value, scalar_like(value, node.get_attribute("alpha", 1.702)))


# ONNX Runtime puts it in ONNX's own domain.
@translator("SimplifiedLayerNormalization")
def simplified_layer_normalization(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    rank = rank_of(value)
    axes = range(normalized(node.get_attribute("axis", -1), rank), rank)
    return rms_norm(value, axes, node.get_attribute("epsilon", 1e-5), node.get_input(1))


@translator("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(node: OnnxNodeContext) -> Translation:
    """LayerNormalization of the input plus a skipped one plus a bias; the last output is that sum."""
    total = _sum_with_skipped(node, 4)
    axes = range(rank_of(total) - 1, rank_of(total))
    found = layer_norm(total, axes, node.get_attribute("epsilon", 1e-12), node.get_input(2), optional(node, 3))
    return [*found, total]


@translator("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_simplified_layer_normalization(node: OnnxNodeContext) -> Translation:
    total = _sum_with_skipped(node, 3)
    axes = range(rank_of(total) - 1, rank_of(total))
    result, inverse = rms_norm(total, axes, node.get_attribute("epsilon", 1e-12), node.get_input(2))
    return [result, inverse, inverse, total]


def _sum_with_skipped(node: OnnxNodeContext, bias: int) -> Output:
    total = ops.Add(node.get_input(0), node.get_input(1))
    return output_of(ops.Add(total, node.get_input(bias)) if node.has_input(bias) else total)


@translator("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(node: OnnxNodeContext) -> Translation:
    """LayerNormalization of the sum of the embeddings of words, places and segments.

    The second output is how many elements of each row the mask holds, the third the sum.
    """
    ids, words, places = node.get_input(0), node.get_input(2), node.get_input(3)
    total = ops.Gather(words, ids, int64(0))
    length = ops.Gather(ops.ShapeOf(ids), int64(1), int64(0))
    chosen = node.get_input(8) if node.has_input(8) else ops.Range(int64(0), length, int64(1), "i64").output(0)
    total = ops.Add(total, ops.Gather(places, chosen, int64(0)))
    if node.has_input(1):
        total = ops.Add(total, ops.Gather(node.get_input(4), node.get_input(1), int64(0)))
    epsilon = node.get_attribute("epsilon", 1e-12)
    result = layer_norm(total.output(0), range(2, 3), epsilon, node.get_input(5), node.get_input(6))[0]
    return [result, _mask_index(node, ids), total.output(0)]


def _mask_index(node: OnnxNodeContext, ids: Output) -> Output:
    if node.has_input(7):
        return ops.Convert(ops.ReduceSum(node.get_input(7), int64([1]), False), Type.i32).output(0)
    rows = ops.Gather(ops.ShapeOf(ids), int64([0]), int64(0))
    return ops.Convert(ops.Broadcast(int64(0), rows), Type.i32).output(0)


@translator("Inverse", domain=DOMAIN)
def inverse(node: OnnxNodeContext) -> Translation:
    return ops.Inverse(node.get_input(0))


@translator("ExpandDims", domain=DOMAIN)
def expand_dims(node: OnnxNodeContext) -> Translation:
    return ops.Unsqueeze(node.get_input(0), node.get_input(1))
