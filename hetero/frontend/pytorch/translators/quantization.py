"""Quantization, as torch's pt2e and torchao write it: a real number is (integer - zero point) · scale.

Numbers are multiplied by the inverse of the scale, as torch does: divided, some halves are rounded to another integer.
"""

from __future__ import annotations

from typing import NamedTuple

from ml_dtypes import finfo

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import broadcast_along_axis, dequantize, quantize_scaled
from hetero.frontend.pytorch.node_context import TorchNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import convert_to, int64, reshape, scalar_like
from hetero.graph import Constant, Node, Output, as_output
from hetero.system.errors import FrontendError

_DECOMPOSED = "quantized_decomposed::"
_RANGES = {Type.i8: (-128, 127), Type.u8: (0, 255), Type.i16: (-(2**15), 2**15 - 1), Type.i32: (-(2**31), 2**31 - 1)}


@translator(f"{_DECOMPOSED}quantize_per_tensor", f"{_DECOMPOSED}quantize_per_channel")
def quantize_tensor(node: TorchNodeContext) -> Translation:
    value = convert_to(node.get_input("input"), Type.f32)
    return _quantized(node, value, *_parameters(node, value))


@translator(f"{_DECOMPOSED}quantize_per_token")
def quantize_per_token(node: TorchNodeContext) -> Translation:
    value, scale = (convert_to(node.get_input(name), Type.f32) for name in ("input", "scales"))
    return _quantized_sum(node, value, scale, node.get_input("zero_points"))


@translator(f"{_DECOMPOSED}dequantize_per_tensor", f"{_DECOMPOSED}dequantize_per_channel",
            f"{_DECOMPOSED}dequantize_per_token")  # fmt: skip
def dequantize_tensor(node: TorchNodeContext) -> Translation:
    value = node.get_input("input")
    return _dequantized(value, *_parameters(node, value), node.output_type())


def _dequantized(value: Output, scale: Output, zero_point: Output | None, kind: Type) -> Output:
    """Dequantize; i32 numbers with real zero points are converted to f32 first, as these are no integers."""
    is_real = zero_point is not None and zero_point.element_type.is_real()
    return dequantize(convert_to(value, Type.f32) if is_real else value, scale, zero_point, kind)


@translator(f"{_DECOMPOSED}quantize_per_channel_group", f"{_DECOMPOSED}dequantize_per_channel_group")
def groups(node: TorchNodeContext) -> Translation:
    """A matrix with a scale for each group of columns of each row."""
    value, size = node.get_input("input"), node.get_attribute("group_size")
    scale, zero_point = broadcast_along_axis(node.get_input("scales"), value, 1, size), None
    if node.has_input("zero_points"):
        zero_point = broadcast_along_axis(node.get_input("zero_points"), value, 1, size)
    if "dequantize" in node.get_op_type():
        return _dequantized(value, scale, zero_point, node.output_type())
    value, scale = convert_to(value, Type.f32), convert_to(scale, Type.f32)
    if zero_point is None:
        return _quantized(node, value, scale, None)
    return _quantized_sum(node, value, scale, zero_point)


def _parameters(node: TorchNodeContext, value: Output) -> tuple[Output, Output | None]:
    """Return the scale and the zero point: numbers, tensors, or one number for each index along ``axis``."""
    plural = "s" if "scales" in node.arguments else ""
    scale, zero_point = node.get_input(f"scale{plural}"), node.get_optional_input(f"zero_point{plural}")
    if node.has_attribute("axis"):
        axis = node.get_attribute("axis")
        scale = broadcast_along_axis(scale, value, axis)
        zero_point = zero_point and broadcast_along_axis(zero_point, value, axis)
    if zero_point is not None and not zero_point.element_type.is_real():
        zero_point = convert_to(zero_point, Type.i32)
    return convert_to(scale, Type.f32), zero_point


@translator(f"{_DECOMPOSED}choose_qparams.tensor", f"{_DECOMPOSED}choose_qparams_symmetric.tensor")
def choose_parameters(node: TorchNodeContext) -> Translation:
    """The scale and the zero point for the range of a tensor."""
    value = convert_to(node.get_input("input"), Type.f32)
    limits = node.get_attribute("qmin", None), node.get_attribute("qmax", None)
    if None in limits:
        limits = node.get_attribute("quant_min"), node.get_attribute("quant_max")
    every = int64(range(len(value.partial_shape)))
    least, most = ops.ReduceMin(value, every, False), ops.ReduceMax(value, every, False)
    is_symmetric = "symmetric" in node.get_op_type()
    scale, zero_point = _chosen(least, most, limits, node.get_attribute("eps"), "SYMMETRIC" if is_symmetric else "")
    if is_symmetric:
        # Integers without a sign have their zero in the middle of their own range.
        middle = 128 if node.get_attribute("dtype") is Type.u8 else 0
        zero_point = scalar_like(scale, middle).output(0)
    return [reshape(convert_to(scale, Type.f64), [1]), reshape(convert_to(zero_point, Type.i64), [1])]


@translator("torchao::choose_qparams_affine")
def choose_parameters_of_blocks(node: TorchNodeContext) -> Translation:
    """The scale and the zero point for the range of each block of a tensor."""
    value = node.get_input("input")
    blocks = _blocks(node, value)
    least, most = (
        reduce(ops.Reshape(value, blocks.split, False), blocks.axes, node.get_attribute("keepdim", False))
        for reduce in (ops.ReduceMin, ops.ReduceMax)
    )
    epsilon = node.get_attribute("eps", float(finfo(value.element_type.to_dtype()).smallest_normal))
    limits = _limits(node, node.get_attribute("target_dtype"))
    scale, zero_point = _chosen(least, most, limits, epsilon, node.get_attribute("mapping_type"))
    if node.get_attribute("keepdim", False):
        scale, zero_point = (ops.Reshape(value, blocks.counts, False).output(0) for value in (scale, zero_point))
    return [convert_to(scale, node.output_type(0)), convert_to(zero_point, node.output_type(1))]


def _chosen(
    least: Node, most: Node, limits: tuple[float, float], epsilon: float, mapping: str
) -> tuple[Output, Output]:
    """Return the scale and the zero point for numbers from ``least`` to ``most``, and 0."""
    zero = scalar_like(least.output(0), 0)
    least, most = ops.Minimum(least, zero), ops.Maximum(most, zero)
    low, high = (scalar_like(zero.output(0), limit) for limit in limits)
    width = scalar_like(zero.output(0), limits[1] - limits[0])
    if mapping == "SYMMETRIC":
        size = ops.Maximum(ops.Negative(least), most)
        scale: Node = ops.Divide(size, scalar_like(zero.output(0), (limits[1] - limits[0]) / 2))
    elif mapping == "SYMMETRIC_NO_CLIPPING_ERR":
        # A limit of 0 gives NaN or an infinity, which is not greater.
        negative, positive = ops.Divide(least, low), ops.Divide(most, high)
        scale = ops.Select(ops.Greater(negative, positive), negative, positive)
    else:
        scale = ops.Divide(ops.Subtract(most, least), width)
    scale = ops.Maximum(scale, scalar_like(zero.output(0), epsilon))
    if mapping.startswith("SYMMETRIC"):
        middle = scalar_like(zero.output(0), int((limits[1] + limits[0] + 1) / 2))
        return scale.output(0), ops.Broadcast(middle, ops.ShapeOf(scale)).output(0)
    zero_point = ops.Subtract(low, ops.Round(ops.Divide(least, scale), "half_to_even"))
    return scale.output(0), ops.Clamp(zero_point, *limits).output(0)


@translator("torchao::quantize_affine")
def quantize_blocks(node: TorchNodeContext) -> Translation:
    value = node.get_input("input")
    blocks = _blocks(node, value)
    scale, zero_point = _parameters_of_blocks(node, blocks)
    split = convert_to(ops.Reshape(value, blocks.split, False).output(0), Type.f32)
    scaled = _divided(split, convert_to(scale, Type.f32))
    kind = node.output_type()
    quantized = quantize_scaled(scaled, zero_point, kind, limits=_limits(node, kind))
    return ops.Reshape(quantized, ops.ShapeOf(value), False)


@translator("torchao::dequantize_affine")
def dequantize_blocks(node: TorchNodeContext) -> Translation:
    value = node.get_input("input")
    blocks = _blocks(node, value)
    split = ops.Reshape(value, blocks.split, False).output(0)
    real = dequantize(split, *_parameters_of_blocks(node, blocks), node.output_type())
    return ops.Reshape(real, ops.ShapeOf(value), False)


class _BlockShapes(NamedTuple):
    """The division of a tensor into blocks, each with its own scale.

    ``split``: the shape in which axes are divided into blocks; ``axes``: those of it within blocks; ``kept``: its
    lengths with 1 for these; ``counts``: how many blocks each axis of the tensor has.
    """

    split: Constant
    axes: Constant
    kept: Constant
    counts: Constant


def _blocks(node: TorchNodeContext, value: Output) -> _BlockShapes:
    split: list[int] = []
    within: list[int] = []
    counts: list[int] = []
    for length, size in zip(value.partial_shape, node.arguments["block_size"], strict=True):
        # An axis of unknown length is one block, or its elements are blocks.
        known = -1 if length.is_dynamic else length.get_length()
        if not isinstance(size, int) or size == known:
            within.append(len(split))
            split.append(known)
            counts.append(1)
        elif size == 1:
            split.append(known)
            counts.append(known)
        elif known == -1:
            raise FrontendError("the lengths of axes that are divided into blocks must be known")
        else:
            within.append(len(split) + 1)
            split += [known // size, size]
            counts.append(known // size)
    if split.count(-1) > 1:
        raise FrontendError("all lengths but one must be known")
    kept = [1 if axis in within else length for axis, length in enumerate(split)]
    return _BlockShapes(int64(split), int64(within), int64(kept), int64(counts))


def _parameters_of_blocks(node: TorchNodeContext, blocks: _BlockShapes) -> tuple[Output, Output | None]:
    scale = ops.Reshape(node.get_input("scale"), blocks.kept, False).output(0)
    if node.arguments.get("zero_point") is None:
        return scale, None
    return scale, ops.Reshape(node.get_input("zero_point"), blocks.kept, False).output(0)


def _quantized(node: TorchNodeContext, value: Output, scale: Output, zero_point: Output | None) -> Output:
    return _quantized_scaled(node, _divided(value, convert_to(scale, Type.f32)), zero_point)


def _quantized_sum(node: TorchNodeContext, value: Output, scale: Output, zero_point: Output) -> Output:
    """Quantize, with the zero point added before the number is rounded."""
    moved = ops.Add(_divided(value, scale), convert_to(zero_point, Type.f32))
    return _quantized_scaled(node, moved.output(0), None)


def _quantized_scaled(node: TorchNodeContext, scaled: Output, zero_point: Output | None) -> Output:
    kind = node.output_type()
    return quantize_scaled(scaled, zero_point, kind, limits=_limits(node, kind))


def _divided(value: Output, scale: Output) -> Output:
    return as_output(ops.Multiply(value, ops.Divide(scalar_like(scale, 1), scale)))


def _limits(node: TorchNodeContext, kind: Type) -> tuple[int, int]:
    """Return the least and the largest integer."""
    low, high = _RANGES.get(kind, (None, None))
    limits = node.get_attribute("quant_min", low), node.get_attribute("quant_max", high)
    if None in limits:
        raise FrontendError(f"quantization to {kind} is not supported")
    return limits
