"""Cells and sequences of recurrent networks, and all their internal values.

The gates of an LSTM are in the order i (input), c (cell), f (forget), o (output).
"""

from __future__ import annotations

from hetero import ops
from hetero.core.shape import concatenate
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.control_flow import connect
from hetero.frontend.translation.subgraph import Body, ModelScope
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, scalar_like
from hetero.graph import Model, Node, Output, Parameter, as_output
from hetero.ops.control_flow.bodies import ConcatOutputDescription, MergedInputDescription, SliceInputDescription


@translator("GRUBlockCell")
def gru_cell(node: TensorflowNodeContext) -> Translation:
    """Return the reset gate r, the update gate u, the candidate c and the new state."""
    data, state, gate_weights, weights, gate_bias, bias = node.get_inputs()
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
