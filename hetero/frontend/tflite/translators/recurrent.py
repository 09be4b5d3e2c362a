"""Recurrent operators, of one time step or of sequences: RNN, LSTM and SVDF.

RNN: result = activation(data · input weights + state · recurrent weights + bias). The gates of an LSTM: forget (f),
input (i), cell (c, the candidate values) and output (o).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import tflite

from hetero import ops
from hetero.core.shape import concatenate
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.translators.common import apply_activation, fake_quantize, update_state
from hetero.frontend.translation.control_flow import connect
from hetero.frontend.translation.subgraph import Body, ModelScope
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, rank_of, reshape, scalar_like
from hetero.graph import Model, Op, Output, Parameter
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    MergedInputDescription,
    SliceInputDescription,
)

# The activations that RNNSequence and LSTMSequence support; others run step by step.
SEQUENCE_ACTIVATIONS = {tflite.ActivationFunctionType.RELU: "relu", tflite.ActivationFunctionType.TANH: "tanh"}
# Returns the representation, within a step, of a value from outside, such as weights.
Capture = Callable[[Output], Output]
# Takes the data of one time step and the states; returns the result and the new states.
Step = Callable[[Output, list[Output], Capture], tuple[Output, list[Output]]]


def scan(step: Step, data: Output, states: Sequence[Output], axis: int, reverse: bool) -> tuple[Output, list[Output]]:
    """Apply a step to all time steps; return the results, concatenated along the axis, and the last states.

    ``axis``: the time axis of the data. ``reverse``: whether to start from the last time step.
    """
    if data.partial_shape[axis] == 1:
        result, last = step(_squeeze(data, axis), list(states), lambda value: value)
        return _unsqueeze(result, axis), last
    scope, shape = ModelScope(), data.partial_shape
    part = Parameter(data.element_type, concatenate(shape[:axis], [1], shape[axis + 1 :]))
    carried = [Parameter(state.element_type, state.partial_shape) for state in states]
    result, new = step(
        _squeeze(part.output(0), axis),
        [parameter.output(0) for parameter in carried],
        lambda value: scope.capture(value, "weights"),
    )
    model = Model([_unsqueeze(result, axis), *new], [part, *carried, *scope.captured.values()], "step")
    # start, stride, part_size, end, axis
    slicing = (-1, -1, 1, 0, axis) if reverse else (0, 1, 1, -1, axis)
    count = len(carried)
    iterator = connect(
        ops.TensorIterator(),
        Body(model, list(scope.captured)),
        [data, *states],
        [SliceInputDescription(0, 0, *slicing), *(MergedInputDescription(i, i, i) for i in range(1, 1 + count))],
        [ConcatOutputDescription(0, 0, *slicing), *(BodyOutputDescription(i, i) for i in range(1, 1 + count))],
    )
    return iterator.output(0), iterator.outputs()[1:]


def run_sequence(
    operation: type[Op],
    data: Output,
    states: Sequence[Output],
    weights: Sequence[Output],
    activations: Sequence[str],
    axis: int,
    reverse: bool,
) -> tuple[Output, list[Output]]:
    """Apply RNNSequence or an LSTMSequence to sequences of full length; the last states are ``[N, cells]``.

    ``states`` are ``[N, cells]``, ``weights`` have no axis of directions. Otherwise like ``scan``.
    """
    data = _batch_major(data, axis)
    sequence = operation(
        data,
        *(_unsqueeze(state, 1) for state in states),
        ops.Broadcast(axis_length(data, 1), reshape(axis_length(data, 0), (1,))),
        *(_unsqueeze(part, 0) for part in weights),
        hidden_size=states[0].partial_shape[-1].get_length(),
        direction="reverse" if reverse else "forward",
        activations=activations,
    )
    results, *last = (_squeeze(value, 1) for value in sequence.outputs())
    return _batch_major(results, axis), last


def _batch_major(data: Output, axis: int) -> Output:
    """Swap axes 0 and 1 unless the time axis already is 1: to ``[N, time, …]`` and, from there, back."""
    if axis == 1:
        return data
    return ops.Transpose(data, int64([1, 0, *range(2, rank_of(data))])).output(0)


def add_auxiliary_input(
    node: TfliteNodeContext, auxiliary: int, direction: int, weights: Sequence[Output], auxiliary_weights: Sequence[int]
) -> tuple[Output, list[Output]]:
    """Return the data and the input weights of a direction of a bidirectional network that may have auxiliary data.

    ``auxiliary`` and ``auxiliary_weights``: the indices of the inputs with the auxiliary data and its weights.
    Auxiliary data with weights is concatenated to the data; without weights, it is the data of the backward direction.
    """
    data = node.get_input(0)
    if not node.has_input(auxiliary):
        return data, list(weights)
    other = node.get_input(auxiliary)
    if not node.has_input(auxiliary_weights[-1]):
        return other if direction else data, list(weights)
    both = [ops.Concat([part, node.get_input(index)], 1).output(0) for part, index in zip(weights, auxiliary_weights)]
    return ops.Concat([data, other], 2).output(0), both


def merge_directions(node: TfliteNodeContext, results: Sequence[Output]) -> Translation:
    """Return the results of both directions: concatenated if ``merge_outputs`` is set, else as two outputs."""
    return ops.Concat(results, 2) if node.get_attribute("merge_outputs") else results


def _squeeze(value: Output, axis: int) -> Output:
    return ops.Squeeze(value, int64([axis])).output(0)


def _unsqueeze(value: Output, axis: int) -> Output:
    return ops.Unsqueeze(value, int64([axis])).output(0)


@translator("RNN")
@computes_in_float
def rnn(node: TfliteNodeContext) -> Translation:
    """Inputs: data ``[N, I]``, input weights ``[O, I]``, recurrent weights ``[O, O]``, bias ``[O]``, state."""
    weights = [node.get_input(index) for index in (1, 2, 3)]
    result = _rnn_step(node, node.get_input(0), node.get_input(4), weights)
    node.set_variable_input(4, result)
    return result


rows(
    {
        # The inputs are those of RNN, with data for all time steps.
        "UNIDIRECTIONAL_SEQUENCE_RNN": computes_in_float(
            lambda node: _rnn_sequence(
                node, node.get_input(0), [node.get_input(index) for index in (1, 2, 3)], 4, False
            )
        ),
        "UNIDIRECTIONAL_SEQUENCE_LSTM": computes_in_float(
            lambda node: _run(_read_network(node, 1, (18, 19), 20), node.get_input(0), _time_axis(node), False)
        ),
    }
)


@translator("BIDIRECTIONAL_SEQUENCE_RNN")
@computes_in_float
def bidirectional_sequence_rnn(node: TfliteNodeContext) -> Translation:
    """Inputs after the data: weights, bias and state of the forward direction, then of the backward one; auxiliary data
    and its weights for both directions."""
    results = []
    for direction, first in enumerate((1, 5)):
        weights = [node.get_input(first + index) for index in range(3)]
        data, (weights[0],) = add_auxiliary_input(node, 9, direction, weights[:1], [10 + direction])
        results.append(_rnn_sequence(node, data, weights, first + 3, direction == 1))
    return merge_directions(node, results)


def _rnn_sequence(node: TfliteNodeContext, data: Output, weights: list[Output], state: int, reverse: bool) -> Output:
    """Return the results of all time steps and update the state; ``state``: the index of the state input."""
    axis, initial = _time_axis(node), node.get_input(state)
    function = node.get_attribute("fused_activation_function")
    if function in SEQUENCE_ACTIVATIONS:
        activations = [SEQUENCE_ACTIVATIONS[function]]
        results, (last,) = run_sequence(ops.RNNSequence, data, [initial], weights, activations, axis, reverse)
    else:

        def step(part: Output, states: list[Output], capture: Capture) -> tuple[Output, list[Output]]:
            result = _rnn_step(node, part, states[0], [capture(value) for value in weights])
            return result, [result]

        results, (last,) = scan(step, data, [initial], axis, reverse)
    node.set_variable_input(state, last)
    return results


def _rnn_step(node: TfliteNodeContext, data: Output, state: Output, weights: list[Output]) -> Output:
    input_weights, recurrent_weights, bias = weights
    total = ops.Add(ops.MatMul(data, input_weights, False, True), ops.MatMul(state, recurrent_weights, False, True))
    return apply_activation(node, ops.Add(total, bias))


_GATES = "ifco"
# The weights of one direction, in the order of the operator's inputs.
_WEIGHTS = [
    *(f"{kind} {gate}" for kind in ("input", "recurrent") for gate in _GATES),
    *(f"peephole {gate}" for gate in "ifo"),
    *(f"bias {gate}" for gate in _GATES),
    "projection",
    "projection bias",
]
_EPSILON = 1e-8
# The range of a gate's pre-activation in quantized networks: Q3.12 fixed point.
_GATE_RANGE = (-8.0, 8.0 - 2.0**-12)


@dataclass
class _LstmDirection:
    """One direction of an LSTM.

    ``weights``: those that the operator has, by their names in ``_WEIGHTS``, and ``norm i`` … for layer normalization.
    There are none of gate i if it is coupled (i = 1 - f). ``states``: the indices of the hidden-state and the
    cell-state inputs.
    """

    node: TfliteNodeContext
    weights: dict[str, Output]
    states: tuple[int, int]


@translator("LSTM")
@computes_in_float
def lstm(node: TfliteNodeContext) -> Translation:
    """Translate an LSTM of one time step."""
    if node.get_attribute("kernel_type", tflite.LSTMKernelType.FULL) == tflite.LSTMKernelType.BASIC:
        return _basic_lstm(node)
    network = _read_network(node, 1, (18, 19), 20)
    data = ops.Unsqueeze(node.get_input(0), int64([1])).output(0)
    return ops.Squeeze(_run(network, data, 1, False), int64([1]))


@translator("BIDIRECTIONAL_SEQUENCE_LSTM")
@computes_in_float
def bidirectional_sequence_lstm(node: TfliteNodeContext) -> Translation:
    """Inputs after the data: forward weights, backward weights, the states of both directions, auxiliary data and its
    weights for both directions."""
    results = []
    for direction, (first, states) in enumerate(((1, (35, 36)), (18, (37, 38)))):
        network = _read_network(node, first, states)
        indices = {name: 40 + 4 * direction + i for i, name in enumerate(_WEIGHTS[:4]) if name in network.weights}
        own_weights = [network.weights[name] for name in indices]
        data, weights = add_auxiliary_input(node, 39, direction, own_weights, list(indices.values()))
        network.weights.update(zip(indices, weights))
        results.append(_run(network, data, _time_axis(node), direction == 1))
    return merge_directions(node, results)


def _basic_lstm(node: TfliteNodeContext) -> Translation:
    """Translate the BASIC kernel.

    Inputs: data, hidden state, weights of both ``[4 · O, I + O]`` (gates i, c, f, o), biases and cell state.
    Outputs: hidden state, cell state, data concatenated with the old hidden state, and the gates' pre-activations.
    """
    data, state, weights, biases, cells = node.get_inputs()
    both = ops.Concat([data, state], 1)
    total = ops.Add(ops.MatMul(both, weights, False, True), biases)
    input_gate, candidate, forget_gate, output_gate = ops.Split(total, int64(1), 4).outputs()
    kept = ops.Multiply(ops.Sigmoid(forget_gate), cells)
    cells = ops.Add(kept, ops.Multiply(ops.Sigmoid(input_gate), ops.Tanh(candidate))).output(0)
    cells = fake_quantize(cells, node.output_tensor(1))
    result = ops.Multiply(ops.Sigmoid(output_gate), ops.Tanh(cells)).output(0)
    for index, value in ((1, result), (4, cells)):
        if node.input_tensor(index).is_variable:
            update_state(node, index, value)
    return [result, cells, both, total]


def _time_axis(node: TfliteNodeContext) -> int:
    return 0 if node.get_attribute("time_major") else 1


def _read_network(
    node: TfliteNodeContext, first: int, states: tuple[int, int], first_norm: int | None = None
) -> _LstmDirection:
    """Return a direction with the weights from input ``first`` on, and layer normalization from ``first_norm`` on."""
    indices = {name: first + index for index, name in enumerate(_WEIGHTS)}
    if first_norm is not None:
        indices |= {f"norm {gate}": first_norm + index for index, gate in enumerate(_GATES)}
    weights = {name: node.get_input(index) for name, index in indices.items() if node.has_input(index)}
    return _LstmDirection(node, weights, states)


def _run(network: _LstmDirection, data: Output, axis: int, reverse: bool) -> Output:
    """Return the results of all time steps and update the states. ``axis``: the time axis of the data."""
    build = _lstm_sequence if _fits_lstm_sequence(network) else _scan_steps
    results, last = build(network, data, axis, reverse)
    for index, value in zip(network.states, last):
        update_state(network.node, index, value)
    return results


def _fits_lstm_sequence(network: _LstmDirection) -> bool:
    """Return whether the operation LSTMSequence has all features that the network uses."""
    node = network.node
    return (
        node.get_attribute("fused_activation_function") in SEQUENCE_ACTIVATIONS
        and not node.get_attribute("cell_clip", 0.0)
        and "norm f" not in network.weights
        and "projection" not in network.weights
        and rank_of(network.weights["recurrent f"]) == 2
        and node.input_tensor(network.states[1]).quantization is None
    )


def _lstm_sequence(network: _LstmDirection, data: Output, axis: int, reverse: bool) -> tuple[Output, list[Output]]:
    operation: type[Op] = ops.LSTMSequence
    weights = [_concat_gates(network.weights, kind, "fico") for kind in ("input", "recurrent", "bias")]
    if "peephole f" in network.weights:
        operation = ops.PeepholeLSTMSequence
        weights.append(_concat_gates(network.weights, "peephole", "iof"))
    states = [network.node.get_input(index) for index in network.states]
    function = SEQUENCE_ACTIVATIONS[network.node.get_attribute("fused_activation_function")]
    return run_sequence(operation, data, states, weights, ["sigmoid", function, function], axis, reverse)


def _concat_gates(weights: dict[str, Output], kind: str, gates: str) -> Output:
    """Concatenate weights of all gates. A coupled gate i has those of f negated, because 1 - σ(x) = σ(-x)."""
    parts = [weights.get(f"{kind} {gate}") or ops.Negative(weights[f"{kind} f"]) for gate in gates]
    return ops.Concat(parts, 0).output(0)


def _scan_steps(network: _LstmDirection, data: Output, axis: int, reverse: bool) -> tuple[Output, list[Output]]:
    initial = [network.node.get_input(index) for index in network.states]

    def step(part: Output, states: list[Output], capture: Capture) -> tuple[Output, list[Output]]:
        weights = {name: capture(value) for name, value in network.weights.items()}
        result, cells = _step(replace(network, weights=weights), part, *states)
        return result, [result, cells]

    return scan(step, data, initial, axis, reverse)


def _step(network: _LstmDirection, data: Output, state: Output, cells: Output) -> tuple[Output, Output]:
    """Return the new hidden state and the new cell state, rounded to their quantization."""
    node, weights = network.node, network.weights
    state_tensor, cell_tensor = (node.input_tensor(index) for index in network.states)

    def gate(letter: str, cells: Output) -> Output:
        total = ops.MatMul(data, weights[f"input {letter}"], False, True).output(0)
        total = ops.Add(total, _recurrent(state, weights[f"recurrent {letter}"])).output(0)
        if f"peephole {letter}" in weights:
            total = ops.Add(total, ops.Multiply(cells, weights[f"peephole {letter}"])).output(0)
        if f"norm {letter}" in weights:
            total = ops.MVN(total, int64([-1]), True, _EPSILON, "INSIDE_SQRT").output(0)
            total = ops.Multiply(total, weights[f"norm {letter}"]).output(0)
        if f"bias {letter}" in weights:
            total = ops.Add(total, weights[f"bias {letter}"]).output(0)
        if cell_tensor.quantization is not None:
            total = ops.Clamp(total, *_GATE_RANGE).output(0)
        return apply_activation(node, total) if letter == "c" else ops.Sigmoid(total).output(0)

    forget = gate("f", cells)
    update = gate("i", cells) if "input i" in weights else ops.Subtract(scalar_like(forget, 1), forget)
    cells = ops.Add(ops.Multiply(forget, cells), ops.Multiply(update, gate("c", cells))).output(0)
    cells = fake_quantize(_clip(cells, node.get_attribute("cell_clip", 0.0)), cell_tensor)
    result = ops.Multiply(gate("o", cells), apply_activation(node, cells)).output(0)
    if "projection" in weights:
        if state_tensor.quantization is not None:
            result = fake_quantize(result, node.intermediate_tensors[-1])
        result = ops.MatMul(result, weights["projection"], False, True).output(0)
        if "projection bias" in weights:
            result = ops.Add(result, weights["projection bias"]).output(0)
        result = _clip(result, node.get_attribute("proj_clip", 0.0))
    return fake_quantize(result, state_tensor), cells


def _recurrent(state: Output, weights: Output) -> Output:
    """Multiply the state by recurrent weights; a vector of weights is a diagonal matrix."""
    if rank_of(weights) == 1:
        return ops.Multiply(state, weights).output(0)
    return ops.MatMul(state, weights, False, True).output(0)


def _clip(value: Output, limit: float) -> Output:
    return ops.Clamp(value, -limit, limit).output(0) if limit > 0 else value


@translator("SVDF")
@computes_in_float
def svdf(node: TfliteNodeContext) -> Translation:
    """Apply a filter over features and time, stored as a low-rank product (singular value decomposition filter).

    See Nakkiran et al., Compressing Deep Neural Networks Using a Rank-Constrained Topology, 2015.
    Inputs: data ``[N, I]``, feature weights ``[filters, I]``, time weights ``[filters, times]``, bias ``[units]``.

    Input 4, the state ``[N, filters · times]``, has the results of the feature filters of the latest inferences. A unit
    is the sum of ``rank`` filters.
    """
    data, feature_weights, time_weights = (node.get_input(index) for index in range(3))
    filters, times = time_weights.shape
    state = reshape(node.get_input(4), (-1, filters, times))
    features = ops.MatMul(data, feature_weights, False, True).output(0)
    features = fake_quantize(reshape(features, (-1, filters, 1)), node.input_tensor(4))
    if times > 1:
        previous = ops.Slice(state, int64([1]), int64([times]), int64([1]), int64([2]))
        features = ops.Concat([previous, features], 2).output(0)
    update_state(node, 4, reshape(features, (-1, filters * times)))
    rank = node.get_attribute("rank")
    weighted = reshape(ops.Multiply(features, time_weights).output(0), (-1, filters // rank, rank * times))
    total = ops.ReduceSum(weighted, int64([2]), False).output(0)
    if node.has_input(3):
        total = ops.Add(total, node.get_input(3)).output(0)
    return apply_activation(node, total)
