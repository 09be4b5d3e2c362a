"""Operators of the domain com.microsoft with block-quantized weights of 2, 4 or 8 bits.

The weights become integer constants and their dequantization, which constant folding can evaluate.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.compressed import PackedArray
from hetero.core.packing import unpack
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import broadcast_along_axis, dequantize, dequantize_in_blocks
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.onnx.translators.microsoft.fused import DOMAIN, add_optional
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import constant_input, int64, normalize_axis, rank_of, reshape
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError

# Element types by number of bits.
_TYPES = {2: Type.u2, 4: Type.u4, 8: Type.u8}


@translator("MatMulNBits", domain=DOMAIN)
def matmul_n_bits(node: OnnxNodeContext) -> Translation:
    """Return A · Wᵀ with W ``[N, K]`` quantized in blocks along K."""
    node.check_only_supported(weight_prepacked=0)
    rows, columns, bits = (node.get_attribute(name) for name in ("N", "K", "bits"))
    block_size = node.get_attribute("block_size")
    _check_bits(bits)
    value, scales = node.get_input(0), reshape(node.get_input(2), (rows, -1))
    block_count = -(-columns // block_size)
    if not node.has_input(3):
        zero_point = _default_zero_point(bits)
    elif node.get_input(3).element_type is Type.u8:
        zero_point = Constant(_unpack(node, 3, "zero_points", bits, rows)[:, :block_count]).output(0)
    else:
        zero_point = reshape(node.get_input(3), (rows, -1))
    if not node.has_input(4) and not columns % block_size and rank_of(zero_point) in (0, 2):
        codes = Constant(_packed(node, bits, (rows, columns)))
        weights = dequantize_in_blocks(codes, scales, zero_point, 1, block_size, value.element_type)
        return add_optional(ops.MatMul(value, weights, False, True), node.get_optional_input(5))
    integers = _unpack(node, 1, "B", bits, rows)[:, :columns]
    # The block of each column: consecutive blocks, or as in the input g_idx.
    blocks = node.get_input(4) if node.has_input(4) else int64(np.arange(columns) // block_size).output(0)
    scales, zero_point = (_take(p, blocks, 1) if rank_of(p) else p for p in (scales, zero_point))
    weights = dequantize(Constant(integers).output(0), scales, zero_point, value.element_type)
    return add_optional(ops.MatMul(value, weights, False, True), node.get_optional_input(5))


def _check_bits(bits: int) -> None:
    if bits not in _TYPES:
        raise FrontendError(f"attribute bits must be 2, 4 or 8, but is {bits}")


def _unpack(node: OnnxNodeContext, index: int, name: str, bits: int, rows: int) -> np.ndarray:
    """Unpack the bytes of a constant input to integers ``[rows, …]``. Each row begins at a byte boundary."""
    _check_bits(bits)
    content = constant_input(node, index, name)
    if bits == 8:
        return content.reshape(rows, -1)
    return unpack(np.ascontiguousarray(content), _TYPES[bits], (content.size * 8 // bits,)).reshape(rows, -1)


def _packed(node: OnnxNodeContext, bits: int, shape: tuple[int, int]) -> np.ndarray | PackedArray:
    """Return the integers of B, whose rows have whole blocks, as they are in the file."""
    content = constant_input(node, 1, "B").reshape(-1)
    return content.reshape(shape) if bits == 8 else PackedArray(content, _TYPES[bits], shape)


def _default_zero_point(bits: int) -> Output:
    return Constant(np.array(1 << bits - 1, _TYPES[bits].to_dtype())).output(0)


def _take(value: Output, indices: Output, axis: int) -> Output:
    return ops.Gather(value, indices, int64(axis)).output(0)


@translator("GatherBlockQuantized", domain=DOMAIN)
def gather_block_quantized(node: OnnxNodeContext) -> Translation:
    """Gather from a block-quantized table, and dequantize the result."""
    data, scales, zero_point = node.get_input(0), node.get_input(2), node.get_optional_input(3)
    if data.element_type is Type.u8:
        bits = node.get_attribute("bits", 4)
        if zero_point is None:
            zero_point = _default_zero_point(bits)
        else:
            zero_point = _unpack_last_axis(node, 3, "zero_points", bits, scales)
        data = _unpack_last_axis(node, 0, "data", bits)
    rank = rank_of(data)
    gather_axis = normalize_axis(node.get_attribute("gather_axis", 0), rank)
    quantize_axis = normalize_axis(node.get_attribute("quantize_axis", 1), rank)
    if gather_axis == quantize_axis:
        raise FrontendError(f"gather_axis and quantize_axis must differ, but both are {gather_axis}")
    indices = node.get_input(1)
    result = _take(data, indices, gather_axis)
    if quantize_axis > gather_axis:
        quantize_axis += rank_of(indices) - 1
    block_size = node.get_attribute("block_size", 128)

    def gathered(parameter: Output) -> Output:
        """Return scales or zero points, which may be a scalar, for the gathered elements."""
        if not rank_of(parameter):
            return parameter
        return broadcast_along_axis(_take(parameter, indices, gather_axis), result, quantize_axis, block_size)

    zero_point = None if zero_point is None else gathered(zero_point)
    return dequantize(result, gathered(scales), zero_point, scales.element_type)


def _unpack_last_axis(node: OnnxNodeContext, index: int, name: str, bits: int, like: Output | None = None) -> Output:
    """Unpack the bytes of a constant input along its last axis, cut to the last dimension of ``like``."""
    shape = constant_input(node, index, name).shape
    integers = _unpack(node, index, name, bits, int(np.prod(shape[:-1]))).reshape(*shape[:-1], -1)
    return Constant(integers if like is None else integers[..., : like.shape[-1]]).output(0)


# The values of the FP4 type of the library bitsandbytes, without the sign, which is the highest bit.
_FP4 = np.array([0, 0.0625, 8, 12, 4, 6, 2, 3], np.float32) / 12


@translator("MatMulBnb4", domain=DOMAIN)
def matmul_bnb4(node: OnnxNodeContext) -> Translation:
    """Return A · Wᵀ or A · W with W ``[N, K]`` in NF4 or FP4. Each block of consecutive elements has a scale."""
    rows, columns, block_size = (node.get_attribute(name) for name in ("N", "K", "block_size"))
    content = constant_input(node, 1, "B")
    # The first of two elements is in the higher bits of a byte.
    codes = np.stack([content >> 4, content & 15], axis=-1).reshape(-1)[: rows * columns]
    if node.get_attribute("quant_type") == 1:
        values = ops.Convert(Constant(codes.view(Type.nf4.to_dtype())), Type.f32).output(0)
    else:
        values = ops.Gather(Constant(np.concatenate([_FP4, -_FP4])), Constant(codes), int64(0)).output(0)
    scales = broadcast_along_axis(reshape(node.get_input(2), (-1,)), values, 0, block_size)
    kind = node.get_input(0).element_type
    products = ops.Convert(ops.Multiply(values, ops.Convert(scales, Type.f32)), kind)
    weights = ops.Reshape(products, int64([rows, columns]), False)
    return ops.MatMul(node.get_input(0), weights, False, bool(node.get_attribute("transB", 1)))


@translator("MatMulInteger16", domain=DOMAIN)
def matmul_integer_16(node: OnnxNodeContext) -> Translation:
    first, second = (ops.Convert(node.get_input(index), Type.i32) for index in (0, 1))
    product = ops.MatMul(first, second, False, False)
    return product if node.get_input(0).element_type.is_signed() else ops.Convert(product, Type.u32)
