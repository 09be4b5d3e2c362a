"""Convolutions and transposed convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hetero import ops
from hetero_onednn.library.api import FORWARD_INFERENCE, Algorithm, Argument, DataType, OneDnnError, dims
from hetero_onednn.library.attributes import Attributes, EltwiseOp
from hetero_onednn.library.descriptors import any_layout, plain
from hetero_onednn.library.primitive import PrimitiveDescriptor, describe
from hetero_onednn.lowering import Lowering
from hetero_onednn.operation import PrimitiveOperation
from hetero_onednn.primitives.int8 import (
    Int8Operands,
    int8_operands,
    quantized_group_filters,
)
from hetero_onednn.primitives.post_ops import bias_and_post_ops
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason
from hetero_onednn.program import Value
from hetero_onednn.quantization import quantized_weights

Pads = tuple[Sequence[int], Sequence[int]]


def _unsupported_reason(node: ops.Convolution) -> str | None:
    if min((*node.pads_begin, *node.pads_end), default=0) < 0:
        return "oneDNN does not pad by negative amounts"
    return type_reason(node, inputs=2) or rank_reason(node, 3, 5)


@lowers(ops.Convolution, ops.GroupConvolution, unless=_unsupported_reason)
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


@lowers(ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData, unless=_unsupported_reason)
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
    # Rows of one element are slow: the last two axes are exchanged.
    is_column = len(data.shape) == 4 and data.shape[3] == operation.result.shape[3] == 1
    turned = _exchanged if is_column and all(isinstance(op, EltwiseOp) for op in post_ops) else _same
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
            dims(turned(node.strides)),
            dims(turned([dilation - 1 for dilation in node.dilations])),
            dims(turned(pads[0])),
            dims(turned(pads[1])),
            attributes,
        )

    def arguments(descriptor: PrimitiveDescriptor) -> Mapping[int, Value]:
        source = lowering.value(data, descriptor.src.transposed(axes), node)
        values: dict[int, Value] = {Argument.src: Value(source.buffer, descriptor.src, source.offset)}
        if int8 is None:
            values[Argument.weights] = lowering.as_seen(filters, seen, descriptor.weights, node)
        else:
            values[Argument.weights] = lowering.constant(int8.weights, seen, descriptor.weights)
            values.update(int8.arguments(lowering))
        return values if bias is None else values | {Argument.bias: lowering.constant(bias)}

    value = lowering.emit(operation, post_ops, describe_it, arguments)
    value = Value(value.buffer, value.descriptor.transposed(axes))
    lowering.define(operation.result, lowering.in_type(value, operation))


def _same(values: Sequence[int]) -> list[int]:
    return list(values)


def _exchanged(values: Sequence[int]) -> list[int]:
    """Return numbers by axis with the last two exchanged."""
    return [*values[:-2], values[-1], values[-2]]
