"""Quantization and dequantization.

A real number is (integer - zero point) · scale / bound, where ``bound`` is the largest integer.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.paddle.node_context import PaddleNodeContext, rows, translator
from hetero.frontend.translation.translators import ConversionResult, Row
from hetero.frontend.translation.values import convert_to, int64, multiply_by, rank_of, reshape, scalar_like
from hetero.graph import Output
from hetero.system.errors import FrontendError


def _bound(node: PaddleNodeContext) -> int:
    """Return the largest quantized integer: ``qmax`` of newer programs, else that of ``bit_length``."""
    if node.has_attribute("qmax"):
        return node.get_attribute("qmax")
    bits = node.get_attribute("bit_length", 8)
    if not 1 < bits <= 16:
        raise FrontendError(f"bit_length is {bits}")
    return (1 << bits - 1) - 1


def _along_axis(parameter: Output, value: Output, axis: int) -> Output:
    """Return a scale or zero point, one number or one for each slice along an axis, in a shape that broadcasts."""
    if axis < 0 or parameter.partial_shape in ([], [1]):
        return reshape(parameter, ())
    return reshape(parameter, (*[1] * axis, -1, *[1] * (rank_of(value) - axis - 1)))


def _rounded(node: PaddleNodeContext, value: Output) -> Output:
    """Round: half to even for ``round_type`` 0, half away from zero for 1."""
    if node.get_attribute("round_type", 1) == 0:
        return ops.Round(value, "half_to_even").output(0)
    return ops.Round(value, "half_away_from_zero").output(0)


@translator("quantize_linear")
def quantize_linear(node: PaddleNodeContext) -> ConversionResult:
    """Integers, which PaddlePaddle keeps as real numbers."""
    value, axis = node.get_input("X"), node.get_attribute("quant_axis", -1)
    if node.get_attribute("only_observer", False):
        return {"Y": value}
    scale, bound = _along_axis(node.get_input("Scale"), value, axis), _bound(node)
    scaled = ops.Divide(multiply_by(value, bound), scale).output(0)
    low = -bound - 1 if node.get_attribute("round_type", 0) == 0 else -bound
    return {"Y": ops.Clamp(_rounded(node, scaled), low, bound)}


@translator("dequantize_linear")
def dequantize_linear(node: PaddleNodeContext) -> ConversionResult:
    value, axis = node.get_input("X"), node.get_attribute("quant_axis", -1)
    if node.get_attribute("only_observer", False):
        return {"Y": value}
    scale = node.get_input("Scale")
    step = multiply_by(_along_axis(scale, value, axis), 1 / _bound(node))
    return {"Y": ops.Multiply(convert_to(value, scale.element_type), step)}


def _largest(value: Output, axis: int | None) -> Output:
    """Return the largest absolute value, of all elements or of each slice along an axis, as a vector."""
    rank = rank_of(value)
    axes = [at for at in range(rank) if at != axis]
    most = ops.ReduceMax(ops.Abs(value), int64(axes), False).output(0)
    return reshape(most, (1,)) if axis is None else most


def _fake(node: PaddleNodeContext, value: Output, scale: Output, dequantized: bool) -> Output:
    """Return the integers of a value, or what they stand for."""
    bound = _bound(node)
    limit = scalar_like(value, bound)
    # As in PaddlePaddle, which multiplies by the inverse of the scale.
    inverse = ops.Divide(scalar_like(value, 1), ops.Maximum(scale, scalar_like(value, 1e-38)))
    if node.get_attribute("round_type", 1) == 0:
        scaled = ops.Multiply(ops.Multiply(value, inverse), limit).output(0)
        integers = ops.Clamp(_rounded(node, scaled), -bound - 1, bound).output(0)
    else:
        clipped = ops.Minimum(ops.Maximum(value, ops.Negative(scale)), scale)
        integers = _rounded(node, ops.Multiply(ops.Multiply(clipped, inverse), limit).output(0))
    if not dequantized:
        return integers
    return ops.Divide(ops.Multiply(integers, scale), limit).output(0)


@translator("fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max",
            "fake_quantize_range_abs_max")  # fmt: skip
def by_given_scale(node: PaddleNodeContext) -> ConversionResult:
    value, scale = node.get_input("X"), reshape(node.get_input("InScale"), ())
    result = _fake(node, value, scale, "dequantize" in node.get_op_type())
    return {"Out": result, "OutScale": node.get_input("InScale")}


@translator("fake_quantize_abs_max", "fake_quantize_dequantize_abs_max")
def by_largest(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    most = _largest(value, None)
    result = _fake(node, value, reshape(most, ()), "dequantize" in node.get_op_type())
    return {"Out": result, "OutScale": most}


@translator("fake_channel_wise_quantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max")
def by_largest_of_channels(node: PaddleNodeContext) -> ConversionResult:
    value, axis = node.get_input("X"), node.get_attribute("quant_axis", 0)
    most = _largest(value, axis)
    result = _fake(node, value, _along_axis(most, value, axis), "dequantize" in node.get_op_type())
    return {"Out": result, "OutScale": most}


@translator("fake_dequantize_max_abs")
def dequantize_by_scale(node: PaddleNodeContext) -> ConversionResult:
    value, scale = node.get_input("X"), reshape(node.get_input("Scale"), ())
    value = convert_to(value, scale.element_type)
    return ops.Divide(ops.Multiply(value, scale), scalar_like(value, node.get_attribute("max_range")))


@translator("fake_channel_wise_dequantize_max_abs")
def dequantize_channels(node: PaddleNodeContext) -> ConversionResult:
    """Multiply by the scale of each channel, and of a second scale for all, over the ranges of ``quant_bits``."""
    value, scales = node.get_input("X"), node.get_inputs("Scales")
    value = convert_to(value, scales[0].element_type)
    bits = node.get_attribute("quant_bits", [8])
    axis = node.get_attribute("quant_axis", 0) if len(scales) == 1 else node.get_attribute("x_num_col_dims", 1)
    total = ops.Multiply(value, _along_axis(scales[0], value, axis))
    ranges = float(np.prod([(1 << width - 1) - 1 for width in bits[: len(scales)]]))
    if len(scales) == 2:
        total = ops.Multiply(total, reshape(scales[1], ()))
    return ops.Divide(total, scalar_like(value, ranges))


# The operator observes the scale of its input in training.
rows({"moving_average_abs_max_scale": Row(lambda value: value, "X")})
