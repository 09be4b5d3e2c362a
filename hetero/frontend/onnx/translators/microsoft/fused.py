"""Fused operators of the domain com.microsoft, which ONNX Runtime's optimizer writes for several ONNX operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.activation import hard_sigmoid, leaky_relu, swish
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.onnx.translators.convolution import convolution
from hetero.frontend.onnx.translators.linear import gemm
from hetero.frontend.onnx.translators.normalization import layer_norm, rms_norm
from hetero.frontend.translation.translators import Attr, OptionalInput, Row, Translation, as_outputs
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    channels_last,
    channels_second,
    int64,
    multiply_by,
    normalize_axis,
    per_channel,
    rank_of,
)
from hetero.graph import Op, Output, as_output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

DOMAIN = "com.microsoft"

# Activations by name, with the number of their parameters.
_ACTIVATIONS: dict[str, tuple[Callable[..., Op], int]] = {
    "Relu": (ops.Relu, 0), "Sigmoid": (ops.Sigmoid, 0), "Tanh": (ops.Tanh, 0), "LeakyRelu": (leaky_relu, 1),
    "Clip": (ops.Clamp, 2), "HardSigmoid": (hard_sigmoid, 2),
}  # fmt: skip


def _activate(node: OnnxNodeContext, value: Output, parameters: Sequence[float]) -> Translation:
    """Apply the activation that the node's attribute names, if any."""
    name = node.get_attribute("activation", "")
    if not name:
        return value
    if name not in _ACTIVATIONS:
        raise FrontendError(f"activation must be one of {', '.join(_ACTIVATIONS)}, but is {name}")
    activation, count = _ACTIVATIONS[name]
    return activation(value, *parameters[:count])


def add_optional(value: Output | Op, other: Output | None) -> Output:
    """Return the sum of a value and an optional input."""
    return as_output(value if other is None else ops.Add(value, other))


@translator("FusedConv", domain=DOMAIN)
def fused_conv(node: OnnxNodeContext) -> Translation:
    """Return activation(convolution + Z), where Z is optional."""
    total = add_optional(convolution(node), node.get_optional_input(3))
    return _activate(node, total, node.get_attribute("activation_params", ()))


@translator("FusedGemm", "FusedMatMulActivation", domain=DOMAIN)
def fused_gemm(node: OnnxNodeContext) -> Translation:
    product = gemm(node) if node.get_op_type() == "FusedGemm" else fused_matmul(node)
    names = ("activation_alpha", "activation_beta", "activation_gamma")
    parameters = [node.get_attribute(name) for name in names if node.has_attribute(name)]
    return _activate(node, as_outputs(product)[0], parameters)


@translator("FusedMatMul", "TransposeMatMul", domain=DOMAIN)
def fused_matmul(node: OnnxNodeContext) -> Translation:
    """Return alpha·A·B with optionally transposed matrices.

    With transBatchA or transBatchB, the first axis of the input is the row axis, and the batch axes come after it.
    """
    values = []
    for index, name in enumerate("AB"):
        value = node.get_input(index)
        if node.get_attribute(f"transBatch{name}", 0):
            rank = rank_of(value)
            value = ops.Transpose(value, int64([*range(1, rank - 1), 0, rank - 1])).output(0)
        values.append(value)
    transposed = [bool(node.get_attribute(f"trans{name}", 0)) for name in "AB"]
    return multiply_by(ops.MatMul(*values, *transposed), node.get_attribute("alpha", 1.0))


def _bias_split_gelu(data: Output, bias: Output) -> Op:
    """Return the first half of the last axis times Gelu of the second half."""
    left, right = ops.Split(ops.Add(data, bias), int64(-1), 2).outputs()
    return ops.Multiply(left, ops.Gelu(right, "erf"))


rows({
    "BiasAdd": Row(lambda data, bias, skip: ops.Add(ops.Add(data, bias), skip), domain=DOMAIN),
    "BiasGelu": Row(lambda data, bias: ops.Gelu(ops.Add(data, bias), "erf"), domain=DOMAIN),
    "BiasSplitGelu": Row(_bias_split_gelu, domain=DOMAIN),
    "FastGelu": Row(lambda data, bias: ops.Gelu(add_optional(data, bias), "tanh"), 0, OptionalInput(1), domain=DOMAIN),
    "Gelu": Row(ops.Gelu, approximation_mode="erf", domain=DOMAIN),
    "GemmFastGelu": Row(
        lambda a, b, bias: ops.Gelu(add_optional(ops.MatMul(a, b, False, False), bias), "tanh"),
        0, 1, OptionalInput(2), domain=DOMAIN,
    ),
    "QuickGelu": Row(swish, beta=Attr("alpha", 1.702), domain=DOMAIN),
})  # fmt: skip


@translator("BiasDropout", domain=DOMAIN)
def bias_dropout(node: OnnxNodeContext) -> Translation:
    """Return the sum with a bias and an optional residual. Training mode is not supported."""
    training = exact_value(node.get_input(4)) if node.has_input(4) else np.array(False)
    if training is None or training.any():
        raise FrontendError("dropout in training mode is not supported")
    total = ops.Add(node.get_input(0), node.get_input(1)).output(0)
    return [add_optional(total, node.get_optional_input(2)), ops.Broadcast(True, ops.ShapeOf(total)).output(0)]


@translator("BiasSoftmax", domain=DOMAIN)
def bias_softmax(node: OnnxNodeContext) -> Translation:
    """Return Softmax of the sum of data and bias. Only the last axis is supported."""
    data, bias = node.get_input(0), node.get_input(1)
    rank = rank_of(data)
    axis = normalize_axis(node.get_attribute("axis", 1), rank)
    if axis != rank - 1:
        raise FrontendError("a softmax of several axes is not supported")
    if not node.get_attribute("is_inner_broadcast", 1) and rank_of(bias) < rank:
        # The bias would broadcast along inner axes, not along the outer ones as in numpy.
        raise FrontendError("with is_inner_broadcast=0 the bias must have the rank of the data")
    return ops.Softmax(ops.Add(data, bias), -1)


@translator("GroupNorm", domain=DOMAIN)
def group_norm(node: OnnxNodeContext) -> Translation:
    return _group_norm(node, node.get_input(0))


@translator("SkipGroupNorm", domain=DOMAIN)
def skip_group_norm(node: OnnxNodeContext) -> Translation:
    """Return GroupNorm of the sum of input, skip and bias, and the sum. The skip input may lack the spatial axes."""
    skip = node.get_input(3)
    if rank_of(skip) == 2:
        skip = ops.Unsqueeze(skip, int64([1, 2] if node.get_attribute("channels_last", 1) else [2, 3])).output(0)
    total = ops.Add(node.get_input(0), skip)
    if node.has_input(4):
        bias = node.get_input(4)
        total = ops.Add(total, bias if node.get_attribute("channels_last", 1) else per_channel(bias, 4))
    return [_group_norm(node, total.output(0)), total.output(0)]


def _group_norm(node: OnnxNodeContext, data: Output) -> Output:
    is_channels_last = node.get_attribute("channels_last", 1)
    data = channels_second(data) if is_channels_last else data
    vectors = (ops.ConvertLike(node.get_input(index), data) for index in (1, 2))
    epsilon = node.get_attribute("epsilon", 1e-5)
    result = ops.GroupNormalization(data, *vectors, node.get_attribute("groups"), epsilon).output(0)
    if node.get_attribute("activation"):
        result = ops.Swish(result).output(0)
    return channels_last(result) if is_channels_last else result


@translator("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(node: OnnxNodeContext) -> Translation:
    """LayerNormalization of the sum of input, skip and bias; the last output is the sum."""
    total = _sum_with_skip(node, 4)
    axes = range(rank_of(total) - 1, rank_of(total))
    epsilon = node.get_attribute("epsilon", 1e-12)
    return [*layer_norm(total, axes, epsilon, node.get_input(2), node.get_optional_input(3)), total]


@translator("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_simplified_layer_normalization(node: OnnxNodeContext) -> Translation:
    total = _sum_with_skip(node, 3)
    axes = range(rank_of(total) - 1, rank_of(total))
    result, inverse = rms_norm(total, axes, node.get_attribute("epsilon", 1e-12), node.get_input(2))
    return [result, inverse, inverse, total]


def _sum_with_skip(node: OnnxNodeContext, bias: int) -> Output:
    """Return the sum of inputs 0 and 1, and of the optional bias, an input given by its index."""
    return add_optional(ops.Add(node.get_input(0), node.get_input(1)), node.get_optional_input(bias))


@translator("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(node: OnnxNodeContext) -> Translation:
    """LayerNormalization of the sum of word, position and segment embeddings.

    The second output is the number of unmasked elements of each row, the third the sum.
    """
    ids, words, positions = node.get_input(0), node.get_input(2), node.get_input(3)
    total: Op = ops.Gather(words, ids, int64(0))
    position_ids = node.get_input(8) if node.has_input(8) else arange(axis_length(ids, 1))
    total = ops.Add(total, ops.Gather(positions, position_ids, int64(0)))
    if node.has_input(1):
        total = ops.Add(total, ops.Gather(node.get_input(4), node.get_input(1), int64(0)))
    epsilon = node.get_attribute("epsilon", 1e-12)
    result = layer_norm(total.output(0), range(2, 3), epsilon, node.get_input(5), node.get_input(6))[0]
    return [result, _mask_index(node, ids), total.output(0)]


def _mask_index(node: OnnxNodeContext, ids: Output) -> Output:
    """Return the number of ones of each row of the mask; 0 without a mask."""
    if node.has_input(7):
        return ops.Convert(ops.ReduceSum(node.get_input(7), int64([1]), False), Type.i32).output(0)
    return ops.Convert(ops.Broadcast(int64(0), axis_length(ids, [0])), Type.i32).output(0)
