"""Activation functions."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.numerics import activation
from hetero.frontend.pytorch.node_context import TorchNodeContext, promoted, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import multiply_by, per_channel, rank_of, scalar_like
from hetero.graph import Node, Output
from hetero.system.errors import FrontendError


def _elu(value: Output, alpha: float, scale: float, input_scale: float) -> Output:
    """Return scale · x where x is positive, else scale · alpha · (exp(input_scale · x) - 1)."""
    zero = scalar_like(value, 0)
    inner = multiply_by(ops.Minimum(value, zero), input_scale)
    negative = multiply_by(ops.Subtract(ops.Exp(inner), scalar_like(value, 1)), alpha)
    return multiply_by(ops.Add(ops.Maximum(value, zero), negative), scale)


def _prelu(value: Output, slope: Output) -> Node:
    if rank_of(value) > 1:
        slope = per_channel(slope, rank_of(value))
    zero = scalar_like(value, 0)
    return ops.Add(ops.Maximum(value, zero), ops.Multiply(ops.Minimum(value, zero), slope))


def _gated(value: Output, axis: int) -> Node:
    """Return the first half of a value along an axis, times the sigmoid of the second."""
    half, gate = ops.Split(value, axis, 2).outputs()
    return ops.Multiply(half, ops.Sigmoid(gate))


rows({
    "aten::relu": Row(ops.Relu, "self"), "aten::sigmoid": Row(ops.Sigmoid, "self"), "aten::tanh": Row(ops.Tanh, "self"),
    "aten::silu": Row(ops.Swish, "self"), "aten::mish": Row(ops.Mish, "self"),
    "aten::hardswish": Row(ops.HSwish, "self"), "aten::hardsigmoid": Row(ops.HSigmoid, "self"),
    "aten::hardtanh": Row(ops.Clamp, "self", min_value=Attr("min_val", -1), max_value=Attr("max_val", 1)),
    "aten::relu6": Row(ops.Clamp, "self", min_value=0, max_value=6),
    "aten::gelu": Row(activation.gelu, "self", approximate=Attr("approximate", "none")),
    "aten::leaky_relu": Row(activation.leaky_relu, "self", slope=Attr("negative_slope", 0.01)),
    "aten::elu": Row(
        _elu, "self", alpha=Attr("alpha", 1), scale=Attr("scale", 1), input_scale=Attr("input_scale", 1)
    ),
    "aten::celu": Row(activation.celu, "self", alpha=Attr("alpha", 1.0)), "aten::selu": Row(activation.selu, "self"),
    "aten::softplus": Row(activation.softplus, "self", beta=Attr("beta", 1), threshold=Attr("threshold", 20)),
    "aten::log_sigmoid": Row(activation.log_sigmoid, "self"),
    "aten::threshold": Row(activation.threshold, "self", limit=Attr("threshold"), other=Attr("value")),
    "aten::softshrink": Row(activation.soft_shrink, "self", limit=Attr("lambd", 0.5)),
    "aten::hardshrink": Row(activation.hard_shrink, "self", limit=Attr("lambd", 0.5)),
}, promoted)  # fmt: skip
rows({"aten::prelu": Row(_prelu, "self", "weight"), "aten::glu": Row(_gated, "self", axis=Attr("dim", -1))})


@translator("aten::dropout", "aten::native_dropout", "aten::alpha_dropout", "aten::feature_dropout")
def no_dropout(node: TorchNodeContext) -> Translation:
    if node.get_attribute("train", False) and node.get_attribute("p", 0.5):
        raise FrontendError("dropout in training mode is not supported: export the module after eval()")
    value = node.get_input(0)
    return [value, ops.Equal(value, value)] if node.get_output_size() > 1 else value
