"""DynamicQuantizeLSTM of the domain com.microsoft: the data and, in each step, the hidden state are quantized."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import dequantize
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.onnx.translators.microsoft.fused import DOMAIN
from hetero.frontend.onnx.translators.quantization import quantize_dynamically
from hetero.frontend.onnx.translators.recurrent import Recurrence, lstm_sequence, translate_lstm
from hetero.frontend.translation.control_flow import connect, slice_parameter
from hetero.frontend.translation.subgraph import Body, ModelScope
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, convert_to, int64, reshape, scalar_like
from hetero.graph import Model, Output, Parameter
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    MergedInputDescription,
    SliceInputDescription,
)


@translator("DynamicQuantizeLSTM", domain=DOMAIN)
def dynamic_quantize_lstm(node: OnnxNodeContext) -> Translation:
    """LSTM with quantized weights ``[directions, inputs, 4 · hidden_size]``.

    The data are quantized by their range, all steps and sequences together, and the hidden state by its range in each
    step, all sequences together: as in ONNX Runtime, which on several threads divides a batch into parts.
    """
    x = node.get_input(0)
    if node.has_input(4):
        # Steps that no sequence has do not count.
        longest = ops.ReduceMax(convert_to(node.get_input(4), Type.i64), int64(0), False)
        runs = reshape(ops.Less(arange(axis_length(x, 0)), longest).output(0), (-1, 1, 1))
        x = ops.Select(runs, x, scalar_like(x, 0)).output(0)
    weights = [_weights(node, index, first) for index, first in ((1, 8), (2, 10))]
    others = [node.get_optional_input(index) for index in range(3, 8)]
    network = node.with_inputs([_requantized(x), *weights, *others])
    return translate_lstm(network, lambda part, attributes: _steps(network, part, attributes), splits_directions=True)


def _weights(node: OnnxNodeContext, index: int, scale_index: int) -> Output:
    """Dequantize weights to ``[directions, 4 · hidden_size, inputs]``; the zero point follows the scale input."""
    weights = node.get_input(index)
    scale, zero_point = (reshape(node.get_input(scale_index + i), (weights.shape[0], 1, -1)) for i in (0, 1))
    return ops.Transpose(dequantize(weights, scale, zero_point, Type.f32), int64([0, 2, 1])).output(0)


def _requantized(value: Output) -> Output:
    """Return a value quantized dynamically to u8, as real numbers."""
    return dequantize(*quantize_dynamically(value), Type.f32)


def _steps(node: OnnxNodeContext, network: Recurrence, attributes: dict[str, Any]) -> list[Output]:
    """Return the results of a network of one direction, as LSTMSequence returns them, computed step by step."""
    is_reverse, has_lengths = attributes["direction"] == "reverse", node.has_input(4)
    x = network.x
    if is_reverse:
        x = ops.ReverseSequence(x, network.lengths, 0, 1).output(0)
    part, index = slice_parameter(x, 1), Parameter(Type.i64, [1])
    hidden, cell = (Parameter(state.element_type, state.partial_shape) for state in network.states)
    scope = ModelScope()

    def inside(value: Output) -> Output:
        return scope.capture(value, "input")

    step = replace(
        network,
        x=part.output(0),
        # The hidden state is read by the product with its weights only.
        states=[_requantized(hidden.output(0)), cell.output(0)],
        lengths=ops.Broadcast(int64(1), axis_length(part, [0])).output(0),
        w=inside(network.w),
        r=inside(network.r),
        bias=(inside(network.bias[0]), inside(network.bias[1])),
        peepholes=None if network.peepholes is None else inside(network.peepholes),
    )
    y, *states = lstm_sequence(node, step, attributes | {"direction": "forward"})
    if has_lengths:
        # The sequences that have ended keep their state.
        runs = reshape(ops.Less(index, inside(convert_to(network.lengths, Type.i64))).output(0), (-1, 1, 1))
        y = ops.Select(reshape(runs, (-1, 1, 1, 1)), y, scalar_like(y, 0)).output(0)
        states = [ops.Select(runs, new, old).output(0) for new, old in zip(states, (hidden, cell))]
    body = Model([y, *states], [part, index, hidden, cell, *scope.captured.values()], f"{node.name}/step")
    slicing = (0, 1, 1, -1)  # start, stride, part size, end
    iterator = connect(
        ops.TensorIterator(),
        Body(body, list(scope.captured)),
        [x, arange(axis_length(x, 1)), *network.states],
        [
            SliceInputDescription(0, 0, *slicing, 1),
            SliceInputDescription(1, 1, *slicing, 0),
            MergedInputDescription(2, 2, 1),
            MergedInputDescription(3, 3, 2),
        ],
        [ConcatOutputDescription(0, 0, *slicing, 2), BodyOutputDescription(1, 1), BodyOutputDescription(2, 2)],
    )
    y, *states = iterator.outputs()
    if is_reverse:
        y = ops.ReverseSequence(y, network.lengths, 0, 2).output(0)
    return [y, *states]
