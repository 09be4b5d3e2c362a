"""Convolutions, transposed convolutions and matrix products, of real numbers and of 8-bit integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import Node, Output, constant_array, is_constant
from hetero_onednn.library.api import FORWARD_INFERENCE, Algorithm, Argument, DataType, OneDnnError
from hetero_onednn.library.primitive import (
    ELEMENT_SIZES,
    Attributes,
    Descriptor,
    EltwiseOp,
    PrimitiveDescriptor,
    any_layout,
    describe,
    plain,
)
from hetero_onednn.lowering import Lowering, PrimitiveOperation, padded_shape
from hetero_onednn.primitives.elementwise import run_post_ops
from hetero_onednn.primitives.post_ops import bias_and_post_ops, chain_of
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason
from hetero_onednn.program import Value
from hetero_onednn.quantization import Quantized, quantized, quantized_weights


@dataclass(frozen=True)
class Int8Operands:
    """Integers with the scale and the zero point of the data, and the scales of the weights."""

    data: Quantized
    weights: np.ndarray
    scales: np.ndarray

    def describe(self, attributes: Attributes, weights_mask: int) -> None:
        """Set the attributes; ``weights_mask`` has the axes of the weights along which their scales are."""
        attributes.set_quantization(weights_mask, self.data.zero_point != 0)

    def arguments(self, lowering: Lowering, reader: Node) -> Mapping[int, Value]:
        """Return the arguments with scales and zero points, for a node that reads them."""
        values: dict[int, Value] = {
            Argument.scales | Argument.src: lowering.constant(np.array([self.data.scale], np.float32)),
            Argument.scales | Argument.weights: lowering.constant(self.scales),
        }
        argument, zero_point = Argument.zero_points | Argument.src, self.data.zero_point
        number = plain([1], DataType.s32)
        if isinstance(zero_point, Output):
            values[argument] = lowering.as_single(zero_point, number, reader)
        elif zero_point:
            values[argument] = lowering.constant(np.array([zero_point], np.int32), number)
        return values


def int8_operands(
    lowering: Lowering, data: Output, weights: Output, quantize: Callable[[np.ndarray], tuple[Any, ...] | None]
) -> Int8Operands | None:
    """Return the integers behind two operands, None if they are no products of integers with scales.

    ``quantize`` returns the integers and the scales of constant weights, as ``quantized_weights``.
    """
    source, array = quantized(data), constant_array(weights)
    if source is None or array is None:
        return None
    quantization = lowering.constants.derived(array, quantize)
    return None if quantization is None else Int8Operands(source, *quantization)


def quantized_group_filters(filters: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return integers and scales for filters ``[groups, channels, …]``."""
    quantization = quantized_weights(filters.reshape(-1, *filters.shape[2:]))
    return None if quantization is None else (quantization[0].reshape(filters.shape), quantization[1])


def quantized_columns(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return integers and scales for a matrix ``[sums, columns]``."""
    quantization = quantized_weights(matrix.T)
    return None if quantization is None else (np.ascontiguousarray(quantization[0].T), quantization[1])


Pads = tuple[Sequence[int], Sequence[int]]


def _unsupported_convolution(node: ops.Convolution) -> str | None:
    if min((*node.pads_begin, *node.pads_end), default=0) < 0:
        return "oneDNN does not pad by negative amounts"
    return type_reason(node, inputs=2) or rank_reason(node, 3, 5)


@lowers(ops.Convolution, ops.GroupConvolution, unless=_unsupported_convolution)
def convolution(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node = operation.main
    data, filters = operation.inputs
    pads = node.resolve_pads(data.shape[2:], filters.shape[node.filter_axes :])
    is_grouped = isinstance(node, ops.GroupConvolution)
    quantize = quantized_group_filters if is_grouped else quantized_weights
    int8 = int8_operands(lowering, data, filters, quantize)
    axes = range(len(filters.shape))
    try:
        _lower(lowering, operation, "convolution", axes, pads, int8)
    except OneDnnError as error:
        if int8 is None or not error.is_unimplemented:
            raise
        _lower(lowering, operation, "convolution", axes, pads)


@lowers(ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData, unless=_unsupported_convolution)
def transposed_convolution(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node = operation.main
    data, filters = operation.inputs[:2]
    channels = node.filter_axes - 2
    order = [*range(channels), channels + 1, channels, *range(node.filter_axes, len(filters.shape))]
    lengths, kernel = operation.result.shape[2:], filters.shape[node.filter_axes :]
    output_shape = lengths if node.has_input("output_shape") else None
    begin, _ = node.resolve_pads(data.shape[2:], kernel, output_shape)
    # The padding at the end follows from the length of the output, which has output_padding in it.
    end = [
        (size - 1) * stride + (taps - 1) * dilation + 1 - length - before
        for size, stride, taps, dilation, length, before in zip(
            data.shape[2:], node.strides, kernel, node.dilations, lengths, begin
        )
    ]
    _lower(lowering, operation, "deconvolution", order, (begin, end))


def _lower(
    lowering: Lowering,
    operation: PrimitiveOperation,
    kind: str,
    order: Sequence[int],
    pads: Pads,
    int8: Int8Operands | None = None,
) -> None:
    """Lower a convolution, of integers if there are any.

    ``order`` are the axes of the filters as oneDNN has them: groups, output, input, kernel.
    """
    node = operation.main
    data, filters = operation.inputs[:2]
    bias, post_ops = bias_and_post_ops(operation, axis=1)
    separate = chain_of(operation) if kind == "deconvolution" and _sums_in_parts(node, filters.shape) else []
    if separate:
        bias, post_ops = None, []
    # Rows of one element are slow: the last two axes are exchanged.
    is_column = len(data.shape) == 4 and data.shape[3] == operation.result.shape[3] == 1
    turned = _exchanged if is_column and all(isinstance(op, EltwiseOp) for op in post_ops) else list
    axes = turned(range(len(data.shape)))
    order = turned(order)
    shape = [filters.shape[axis] for axis in order]
    data_type, filters_type = lowering.data_type(data), lowering.data_type(filters)
    if int8 is not None:
        data, data_type, filters_type = int8.data.integers, lowering.data_type(int8.data.integers), DataType.s8
    seen = plain(filters.shape, DataType.s8 if int8 else lowering.stored_type(filters)).transposed(order)

    def describe_it(attributes: Attributes) -> PrimitiveDescriptor:
        if int8 is not None:
            int8.describe(attributes, weights_mask=3 if node.filter_axes == 3 else 1)
        return describe(
            f"{kind}_forward",
            FORWARD_INFERENCE,
            Algorithm[f"{kind}_direct"],
            any_layout(turned(data.shape), data_type),
            any_layout(shape, filters_type),
            None if bias is None else plain([bias.size], DataType.f32),
            any_layout(turned(operation.result.shape), lowering.result_type(operation, is_int8=int8 is not None)),
            turned(node.strides),
            turned([dilation - 1 for dilation in node.dilations]),
            turned(pads[0]),
            turned(pads[1]),
            attributes,
        )

    def arguments(descriptor: PrimitiveDescriptor) -> Mapping[int, Value]:
        source = lowering.value(data, descriptor.src.transposed(axes), node)
        values: dict[int, Value] = {Argument.src: Value(source.buffer, descriptor.src, source.offset)}
        if int8 is None:
            values[Argument.weights] = lowering.as_seen(filters, seen, descriptor.weights, node)
        else:
            values[Argument.weights] = lowering.constant(int8.weights, seen, descriptor.weights)
            values.update(int8.arguments(lowering, node))
        return values if bias is None else values | {Argument.bias: lowering.constant(bias)}

    value = lowering.emit(operation, post_ops, describe_it, arguments)
    value = Value(value.buffer, value.descriptor.transposed(axes).canonical)
    value = run_post_ops(lowering, operation, value, separate)
    lowering.define(operation.result, lowering.in_type(value, operation))


def _sums_in_parts(node: Any, filters: Sequence[int]) -> bool:
    """Return whether a transposed convolution may add up its channels in several parts, for the caches.

    oneDNN 3's `brgconv_strided` then adds the bias and applies post-ops more than once.
    """
    channels, results, *taps = filters[node.filter_axes - 2 :]
    weights = channels * min(results, _RESULT_BLOCK) * math.prod(taps) * ELEMENT_SIZES[DataType.f32]
    return max(node.strides) > 1 and weights > _CACHED_WEIGHTS


# The largest number of channels that a transposed convolution computes at once, and a size of weights in bytes that
# fits every cache of the second level.
_RESULT_BLOCK, _CACHED_WEIGHTS = 64, 1 << 17


def _exchanged(values: Sequence[int]) -> list[int]:
    """Return numbers by axis with the last two exchanged."""
    return [*values[:-2], values[-1], values[-2]]


def _unsupported_matmul(node: ops.MatMul) -> str | None:
    if reason := type_reason(node) or rank_reason(node, 1):
        return reason
    shapes = [node.get_input_partial_shape(index) for index in (0, 1)]
    return None if shapes[1].has_rank else "the rank of its second operand is not known"


@lowers(ops.MatMul, unless=_unsupported_matmul)
def matmul(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, result = operation.main, operation.result
    left, right = operation.inputs
    rank = max(2, len(left.shape), len(right.shape))
    first = _seen(lowering, left, rank, node.transpose_a, is_left=True)
    second = _seen(lowering, right, rank, node.transpose_b, is_left=False)
    batch = [max(a, b) if min(a, b) else 0 for a, b in zip(first.dims[:-2], second.dims[:-2])]
    shape = [*batch, first.dims[-2], second.dims[-1]]
    int8 = None
    if len(left.shape) > 1 and len(right.shape) == 2:
        int8 = int8_operands(lowering, left, right, quantized_weights if node.transpose_b else quantized_columns)
    if int8 is not None:
        left = int8.data.integers
        first = _seen(lowering, left, rank, node.transpose_a, is_left=True)
        second = second.resized(second.dims, DataType.s8)
    bias, post_ops = bias_and_post_ops(operation, axis=len(result.shape) - 1) if result.shape else (None, [])
    kind = DataType.s8 if int8 else lowering.data_type(right)
    weights = any_layout(second.dims, kind) if is_constant(right) else second

    def describe_it(attributes: Attributes) -> PrimitiveDescriptor:
        added = None if bias is None else plain([1] * (rank - 1) + [bias.size], DataType.f32)
        target = plain(shape, lowering.result_type(operation, is_int8=int8 is not None))
        if int8 is not None:
            int8.describe(attributes, weights_mask=1 << rank - 1)
        return describe("matmul", first, weights, added, target, attributes)

    def arguments(descriptor: PrimitiveDescriptor) -> Mapping[int, Value]:
        values: dict[int, Value] = {
            Argument.src: lowering.as_seen(left, first, first, operation.node),
            Argument.weights: lowering.as_seen(right, second, descriptor.weights, operation.node)
            if int8 is None
            else lowering.constant(int8.weights, second, descriptor.weights),
        }
        if int8 is not None:
            values.update(int8.arguments(lowering, operation.node))
        return values if bias is None else values | {Argument.bias: lowering.constant(bias)}

    value = lowering.emit(operation, post_ops, describe_it, arguments)
    value = Value(value.buffer, plain(result.shape, value.descriptor.data_type))
    lowering.define(result, lowering.in_type(value, operation))


def _seen(lowering: Lowering, value: Output, rank: int, transposed: bool, is_left: bool) -> Descriptor:
    """Return how the product reads a row-major operand: with all axes, and not transposed."""
    shape = tuple(value.shape)
    if len(shape) == 1:
        # A vector is a row on the left and a column on the right.
        shape, transposed = ((1, *shape) if is_left else (*shape, 1)), False
    descriptor = plain(padded_shape(shape, rank), lowering.stored_type(value))
    return descriptor.transposed([*range(rank - 2), rank - 1, rank - 2]) if transposed else descriptor
