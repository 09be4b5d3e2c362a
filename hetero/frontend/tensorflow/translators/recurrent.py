"""Cells and sequences of recurrent networks with all their internal values, and CTC.

The gates of an LSTM are in the order i (input), c (cell), f (forget), o (output).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import ops
from hetero.core.shape import concatenate
from hetero.core.types import Type
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.translation.control_flow import connect
from hetero.frontend.translation.subgraph import Body, ModelScope
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import arange, axis_length, convert_to, int64, reshape, scalar_like
from hetero.graph import Model, Node, Output, Parameter, as_output
from hetero.ops.control_flow.bodies import ConcatOutputDescription, MergedInputDescription, SliceInputDescription


def _gru_cell(
    data: Output, state: Output, gate_weights: Output, weights: Output, gate_bias: Output, bias: Output
) -> Translation:
    """Return the reset gate r, the update gate u, the candidate c and the new state."""
    gates = ops.Add(ops.MatMul(ops.Concat([data, state], 1), gate_weights, False, False), gate_bias)
    reset, update = ops.Split(ops.Sigmoid(gates), int64(1), 2).outputs()
    reset_state = ops.Concat([data, ops.Multiply(state, reset)], 1)
    candidate = ops.Tanh(ops.Add(ops.MatMul(reset_state, weights, False, False), bias)).output(0)
    kept = ops.Multiply(ops.Subtract(scalar_like(update, 1), update), candidate)
    return [reset, update, candidate, ops.Add(ops.Multiply(update, state), kept)]


@translator("LSTMBlockCell")
def lstm_cell(node: TensorflowNodeContext) -> Translation:
    """Return i, the new cell state, f, o, c, the activated cell state, and the new hidden state."""
    data, cell, hidden, *weights = node.get_inputs()
    return _lstm_step(node, data, cell, hidden, weights)


def _lstm_step(
    node: TensorflowNodeContext, data: Output, cell: Output, hidden: Output, weights: list[Output]
) -> list[Output]:
    """``weights``: of the gates, the three peepholes of i, f and o, the bias."""
    matrix, *peepholes, bias = weights
    use_peepholes = node.get_attribute("use_peephole", False, bool)

    def sigmoid(gate: Output | Node, state: Output, peephole: Output) -> Output:
        if use_peepholes:
            gate = ops.Add(gate, ops.Multiply(state, peephole))
        return ops.Sigmoid(gate).output(0)

    products = ops.Add(ops.MatMul(ops.Concat([data, hidden], 1), matrix, False, False), bias)
    i, c, f, o = ops.Split(products, int64(1), 4).outputs()
    forget_bias = node.get_attribute("forget_bias", 0.0 if node.get_op_type() == "BlockLSTMV2" else 1.0, float)
    i = sigmoid(i, cell, peepholes[0])
    f = sigmoid(ops.Add(f, scalar_like(f, forget_bias)), cell, peepholes[1])
    c = ops.Tanh(c).output(0)
    new_cell = ops.Add(ops.Multiply(c, i), ops.Multiply(cell, f)).output(0)
    limit = node.get_attribute("cell_clip", 0.0, float)
    if limit > 0:
        new_cell = ops.Clamp(new_cell, -limit, limit).output(0)
    o = sigmoid(o, new_cell, peepholes[2])
    activated = ops.Tanh(new_cell).output(0)
    return [i, new_cell, f, o, c, activated, ops.Multiply(activated, o).output(0)]


@translator("BlockLSTM", "BlockLSTMV2")
def lstm_sequence(node: TensorflowNodeContext) -> Translation:
    """Apply a cell to the steps of data ``[time, batch, input size]``; all outputs are ``[time, batch, cells]``.

    Outputs at ``seq_len_max``, input 0, and later are zeros.
    """
    length, data, cell, hidden, *weights = node.get_inputs()
    if node.get_op_type().endswith("V2"):
        # V2 has the gates in the order i, f, c, o and no attribute forget_bias.
        weights = [_swap_gates(weights[0]), *weights[1:4], _swap_gates(weights[4])]
    scope, shape = ModelScope(), data.partial_shape
    part = Parameter(data.element_type, concatenate([1], shape[1:]))
    states = [Parameter(state.element_type, state.partial_shape) for state in (cell, hidden)]
    captured = [scope.capture(value, "weights") for value in weights]
    step = ops.Squeeze(part, int64([0])).output(0)
    results = _lstm_step(node, step, states[0].output(0), states[1].output(0), captured)
    rows = [ops.Unsqueeze(value, int64([0])) for value in results]
    model = Model([*rows, results[1], results[6]], [part, *states, *scope.captured.values()], "step")
    # start, stride, part_size, end, axis
    slicing = (0, 1, 1, -1, 0)
    iterator = connect(
        ops.TensorIterator(),
        Body(model, list(scope.captured)),
        [data, cell, hidden],
        [
            SliceInputDescription(0, 0, *slicing),
            MergedInputDescription(1, 1, len(rows)),
            MergedInputDescription(2, 2, len(rows) + 1),
        ],
        [ConcatOutputDescription(index, index, *slicing) for index in range(len(rows))],
    )
    return [_zero_after(value, length) for value in iterator.outputs()]


def _swap_gates(weights: Output) -> Output:
    """Swap the second and the third quarter of the last axis."""
    axis = len(weights.partial_shape) - 1
    first, second, third, fourth = ops.Split(weights, int64(axis), 4).outputs()
    return ops.Concat([first, third, second, fourth], axis).output(0)


def _zero_after(value: Output, length: Output) -> Output:
    """Zero the steps from ``length`` on."""
    steps = ops.Range(int64(0), ops.Gather(ops.ShapeOf(value), int64(0), int64(0)), int64(1), length.element_type)
    is_step = ops.Unsqueeze(ops.Less(steps, length), int64([1, 2]))
    return as_output(ops.Select(is_step, value, scalar_like(value, 0)))


def _decode_greedily(scores: Output, lengths: Output, blank: int, merges: bool) -> Translation:
    """Return the decoded classes as a sparse tensor, its shape, and the negated sum of the best scores.

    Scores are ``[time, batch, classes]``.
    """
    scores = ops.Transpose(scores, int64([1, 0, 2])).output(0)
    last = axis_length(scores, 2)
    blank_index = int64(blank).output(0) if blank >= 0 else ops.Add(last, int64(blank)).output(0)
    decoded = ops.CTCGreedyDecoderSeqLen(scores, convert_to(lengths, Type.i64), blank_index, merges, Type.i64, Type.i64)
    indices = ops.Transpose(ops.NonZero(ops.GreaterEqual(decoded.output(0), int64(0))), int64([1, 0])).output(0)
    longest = ops.ReduceMax(decoded.output(1), int64([0]), True)
    shape = ops.Concat([reshape(axis_length(scores, 0), (1,)), longest], 0)
    best = ops.ReduceMax(scores, int64([2]), False)
    steps = ops.Unsqueeze(arange(axis_length(scores, 1)), int64([0]))
    is_step = ops.Less(steps, ops.Unsqueeze(convert_to(lengths, Type.i64), int64([1])))
    total = ops.ReduceSum(ops.Select(is_step, best, scalar_like(scores, 0)), int64([1]), True)
    return [indices, ops.GatherND(decoded.output(0), indices), shape, ops.Negative(total)]


def _ctc_loss(scores: Output, indices: Output, labels: Output, lengths: Output, **settings: Any) -> Translation:
    """Return the loss ``[batch]`` without its gradient. Labels are a sparse matrix; the blank is the last class."""
    scores = ops.Transpose(scores, int64([1, 0, 2])).output(0)
    batch, time = (reshape(axis_length(scores, axis), (1,)) for axis in (0, 1))
    labels = convert_to(labels, Type.i32)
    dense = ops.ScatterNDUpdate(ops.Broadcast(np.int32(0), ops.Concat([batch, time], 0)), indices, labels, "none")
    ones = ops.Broadcast(np.int32(1), ops.ShapeOf(labels))
    rows = ops.Gather(indices, int64([0]), int64(1))
    counts = ops.ScatterNDUpdate(ops.Broadcast(np.int32(0), batch), rows, ones, "sum")
    last = ops.Convert(ops.Subtract(axis_length(scores, 2), int64(1)), Type.i32).output(0)
    return [ops.CTCLoss(scores, convert_to(lengths, Type.i32), dense, counts, last, **settings)]


rows(
    {
        "CTCGreedyDecoder": Row(
            _decode_greedily, blank=Attr("blank_index", -1, int), merges=Attr("merge_repeated", False, bool)
        ),
        "CTCLoss": Row(
            _ctc_loss,
            preprocess_collapse_repeated=Attr("preprocess_collapse_repeated", False, bool),
            ctc_merge_repeated=Attr("ctc_merge_repeated", True, bool),
        ),
        "GRUBlockCell": Row(_gru_cell),
    }
)
