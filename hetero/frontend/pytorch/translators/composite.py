"""Operators that torch decomposes into core ATen, as programs have them that were not decomposed."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import activation, elementwise, reduction
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, multiply_by, per_channel, rank_of, scalar_like
from hetero.system.errors import FrontendError


@translator("aten::square")
def square(node: TorchNodeContext) -> Translation:
    return elementwise.square(*node.operands("self"))


@translator("aten::softplus")
def softplus(node: TorchNodeContext) -> Translation:
    beta, threshold = node.get_attribute("beta", 1), node.get_attribute("threshold", 20)
    return activation.softplus(node.operands("self")[0], beta=beta, threshold=threshold)


@translator("aten::log_sigmoid")
def log_sigmoid(node: TorchNodeContext) -> Translation:
    return activation.log_sigmoid(*node.operands("self"))


@translator("aten::selu")
def selu(node: TorchNodeContext) -> Translation:
    return activation.selu(node.operands("self")[0])


@translator("aten::celu")
def celu(node: TorchNodeContext) -> Translation:
    return activation.celu(node.operands("self")[0], alpha=node.get_attribute("alpha", 1.0))


@translator("aten::prelu")
def prelu(node: TorchNodeContext) -> Translation:
    value, slope = node.get_input("self"), node.get_input("weight")
    if rank_of(value) > 1:
        slope = per_channel(slope, rank_of(value))
    zero = scalar_like(value, 0)
    return ops.Add(ops.Maximum(value, zero), ops.Multiply(ops.Minimum(value, zero), slope))


@translator("aten::glu")
def gated_linear_unit(node: TorchNodeContext) -> Translation:
    value, gate = ops.Split(node.get_input("self"), int64(node.get_attribute("dim", -1)), 2).outputs()
    return ops.Multiply(value, ops.Sigmoid(gate))


@translator("aten::threshold")
def threshold(node: TorchNodeContext) -> Translation:
    limit, other = node.get_attribute("threshold"), node.get_attribute("value")
    return activation.threshold(node.operands("self")[0], limit=limit, other=other)


@translator("aten::addcmul", "aten::addcdiv")
def sum_with_product(node: TorchNodeContext) -> Translation:
    added, left, right = node.operands("self", "tensor1", "tensor2")
    operation = ops.Multiply if node.get_op_type() == "aten::addcmul" else ops.Divide
    return ops.Add(added, multiply_by(operation(left, right).output(0), node.get_attribute("value", 1)))


@translator("aten::lerp")
def interpolation(node: TorchNodeContext) -> Translation:
    """Numbers from the start to the end, computed from the nearer one, so that a weight of 1 gives the end."""
    start, end, weight = node.operands("self", "end", "weight")
    difference = ops.Subtract(end, start)
    from_start = ops.Add(start, ops.Multiply(weight, difference))
    from_end = ops.Subtract(end, ops.Multiply(difference, ops.Subtract(scalar_like(weight, 1), weight)))
    return ops.Select(ops.Less(ops.Abs(weight), scalar_like(weight, 0.5)), from_start, from_end)


@translator("aten::logsumexp")
def log_sum_exp(node: TorchNodeContext) -> Translation:
    given = node.get_attribute("dim")
    axes = int64([given] if isinstance(given, int) else given).output(0)
    return reduction.log_sum_exp(node.operands("self")[0], axes=axes, keeps_axes=node.get_attribute("keepdim", False))


@translator("aten::rms_norm")
def rms_norm(node: TorchNodeContext) -> Translation:
    """x / sqrt(mean(x²) + eps), in f32 or f64, with eps the smallest step from 1 of that type by default."""
    data = node.get_input("input")
    value = convert_to(data, Type.f64 if data.element_type is Type.f64 else Type.f32)
    axes = int64(range(-len(node.get_attribute("normalized_shape")), 0))
    epsilon = node.get_attribute("eps", float(np.finfo(value.element_type.to_dtype()).eps))
    mean = ops.ReduceMean(ops.Multiply(value, value), axes, True)
    normalized = ops.Divide(value, ops.Sqrt(ops.Add(mean, scalar_like(value, epsilon)))).output(0)
    if node.has_input("weight"):
        normalized = ops.Multiply(normalized, convert_to(node.get_input("weight"), value.element_type)).output(0)
    return convert_to(normalized, data.element_type)


@translator("aten::einsum")
def einsum(node: TorchNodeContext) -> Translation:
    return ops.Einsum(node.tensors("tensors"), node.get_attribute("equation").replace(" ", ""))


@translator("aten::outer")
def outer(node: TorchNodeContext) -> Translation:
    left, right = node.operands("self", "vec2")
    return ops.Multiply(ops.Unsqueeze(left, int64([1])), ops.Unsqueeze(right, int64([0])))


@translator("aten::deg2rad", "aten::rad2deg")
def angle_units(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    return multiply_by(value, math.pi / 180 if node.get_op_type() == "aten::deg2rad" else 180 / math.pi)


@translator("aten::dropout", "aten::native_dropout", "aten::alpha_dropout", "aten::feature_dropout")
def no_dropout(node: TorchNodeContext) -> Translation:
    if node.get_attribute("train", False) and node.get_attribute("p", 0.5):
        raise FrontendError("dropout in training mode is not supported: export the module after eval()")
    value = node.get_input(0)
    return [value, ops.Equal(value, value)] if node.get_output_size() > 1 else value
