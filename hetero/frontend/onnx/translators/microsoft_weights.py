"""Operators of the domain com.microsoft whose weights are packed codes of a few bits, with a scale for each block.

The weights become constants of codes and the operations that make numbers of them, which folding turns into weights.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.microsoft_fused import DOMAIN
from hetero.frontend.quantization import broadcast_along_axis, dequantize
from hetero.frontend.translation import Translation
from hetero.frontend.values import constant_input, int64, normalize_axis, rank_of, reshape
from hetero.graph import Constant, Output
from hetero.packing import unpack
from hetero.types import Type

_CODES = {2: Type.u2, 4: Type.u4, 8: Type.u8}


@translator("MatMulNBits", domain=DOMAIN)
def matmul_n_bits(node: OnnxNodeContext) -> Translation:
    """A · Wᵀ with W ``[N, K]`` in blocks along K."""
    if node.get_attribute("weight_prepacked", 0):
        raise FrontendError("weights that are arranged for another device (weight_prepacked) are not supported")
    rows, columns, bits = (node.get_attribute(name) for name in ("N", "K", "bits"))
    block_size = node.get_attribute("block_size")
    value, scales = node.get_input(0), reshape(node.get_input(2), (rows, -1))
    blocks = -(-columns // block_size)
    codes = _unpacked(node, 1, "B", bits, rows)[:, :columns]
    if not node.has_input(3):
        zero_point = _middle(bits)
    elif node.get_input(3).element_type is Type.u8:
        zero_point = Constant(_unpacked(node, 3, "zero_points", bits, rows)[:, :blocks]).output(0)
    else:
        zero_point = reshape(node.get_input(3), (rows, -1))
    # Which block a column is in: one after the other, or as g_idx says.
    places = node.get_input(4) if node.has_input(4) else int64(np.arange(columns) // block_size).output(0)
    scales, zero_point = (_columns(parameter, places) for parameter in (scales, zero_point))
    weights = dequantize(Constant(codes).output(0), scales, zero_point, value.element_type)
    product = ops.MatMul(value, weights, False, True)
    return ops.Add(product, node.get_input(5)) if node.has_input(5) else product


def _unpacked(node: OnnxNodeContext, index: int, name: str, bits: int, rows: int) -> np.ndarray:
    """Codes ``[rows, …]`` of an input of bytes, each row of which begins with a byte of its own."""
    if bits not in _CODES:
        raise FrontendError(f"codes of {bits} bits are not supported")
    content = constant_input(node, index, name)
    if bits == 8:
        return content.reshape(rows, -1)
    return unpack(np.ascontiguousarray(content), _CODES[bits], (content.size * 8 // bits,)).reshape(rows, -1)


def _middle(bits: int) -> Output:
    return Constant(np.array(1 << bits - 1, _CODES[bits].to_dtype())).output(0)


def _columns(parameter: Output, places: Output) -> Output:
    return ops.Gather(parameter, places, int64(1)).output(0) if rank_of(parameter) else parameter


@translator("GatherBlockQuantized", domain=DOMAIN)
def gather_block_quantized(node: OnnxNodeContext) -> Translation:
    """Rows of a table of codes, and of their scales, as numbers."""
    data, scales, zero_point = node.get_input(0), node.get_input(2), node.get_optional_input(3)
    if data.element_type is Type.u8:
        bits = node.get_attribute("bits", 4)
        zero_point = _middle(bits) if zero_point is None else _table(node, 3, "zero_points", bits, scales)
        data = _table(node, 0, "data", bits, None)
    rank = rank_of(data)
    gather_axis = normalize_axis(node.get_attribute("gather_axis", 0), rank)
    quantize_axis = normalize_axis(node.get_attribute("quantize_axis", 1), rank)
    if gather_axis == quantize_axis:
        raise FrontendError(f"both gather_axis and quantize_axis are {gather_axis}")
    indices = node.get_input(1)
    picked = _picked(data, indices, gather_axis)
    if quantize_axis > gather_axis:
        quantize_axis += rank_of(indices) - 1
    block_size = node.get_attribute("block_size", 128)
    scale, zero_point = (
        broadcast_along_axis(_picked(parameter, indices, gather_axis), picked, quantize_axis, block_size)
        if parameter is not None and rank_of(parameter)
        else parameter
        for parameter in (scales, zero_point)
    )
    return dequantize(picked, scale, zero_point, scales.element_type)


def _table(node: OnnxNodeContext, index: int, name: str, bits: int, like: Output | None) -> Output:
    """Codes of an input of bytes, packed along the last axis; as long on it as another input is."""
    content = constant_input(node, index, name)
    codes = _unpacked(node, index, name, bits, int(np.prod(content.shape[:-1])))
    codes = codes.reshape(*content.shape[:-1], -1)
    return Constant(codes if like is None else codes[..., : like.shape[-1]]).output(0)


def _picked(value: Output, indices: Output, axis: int) -> Output:
    return ops.Gather(value, indices, int64(axis)).output(0)


# The numbers that codes of FP4 stand for, of which the highest bit is the sign: those of the library bitsandbytes.
_FP4 = np.float32([0, 0.0625, 8, 12, 4, 6, 2, 3]) / 12


@translator("MatMulBnb4", domain=DOMAIN)
def matmul_bnb4(node: OnnxNodeContext) -> Translation:
    """A · Wᵀ, or A · W, with W ``[N, K]`` in blocks of elements that follow each other, scaled by their largest."""
    rows, columns, block_size = (node.get_attribute(name) for name in ("N", "K", "block_size"))
    content = constant_input(node, 1, "B")
    # The first of two codes is in the higher bits of a byte.
    codes = np.stack([content >> 4, content & 15], axis=-1).reshape(-1)[: rows * columns]
    if node.get_attribute("quant_type") == 1:
        numbers = ops.Convert(Constant(codes.view(Type.nf4.to_dtype())), Type.f32).output(0)
    else:
        numbers = ops.Gather(Constant(np.concatenate([_FP4, -_FP4])), Constant(codes), int64(0)).output(0)
    scales = broadcast_along_axis(reshape(node.get_input(2), (-1,)), numbers, 0, block_size)
    kind = node.get_input(0).element_type
    weights = ops.Convert(ops.Multiply(numbers, ops.Convert(scales, Type.f32)), kind)
    weights = ops.Reshape(weights, int64([rows, columns]), False)
    return ops.MatMul(node.get_input(0), weights, False, bool(node.get_attribute("transB", 1)))


@translator("MatMulInteger16", domain=DOMAIN)
def matmul_integer_16(node: OnnxNodeContext) -> Translation:
    first, second = (ops.Convert(node.get_input(index), Type.i32) for index in (0, 1))
    product = ops.MatMul(first, second, False, False)
    return product if node.get_input(0).element_type.is_signed() else ops.Convert(product, Type.u32)
