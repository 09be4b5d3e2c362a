"""Long short-term memory: cells with gates for what is forgotten (f), let in (i), new (c) and let out (o)."""

from __future__ import annotations

from dataclasses import dataclass

import tflite

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import apply_activation
from hetero.frontend.tflite.translators.states import fake_quantize, update_state
from hetero.frontend.tflite.translators.time_steps import (
    SEQUENCE_ACTIVATIONS,
    Capture,
    add_auxiliary_input,
    batch_major,
    full_sequence_lengths,
    merge_directions,
    scan,
)
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, scalar_like
from hetero.graph import Output

_ORDER = "ifco"
_EPSILON = 1e-8
# What the functions of gates are given in quantized networks: 16 bits, of which 12 are behind the point.
_RANGE_OF_GATES = (-8.0, 8.0 - 2.0**-12)


@dataclass
class _Network:
    """One direction: gates by their letters, without i where that is 1 - f; what is not there is empty or None.

    ``states``: which inputs are the last result and the cells.
    """

    node: TfliteNodeContext
    input_weights: dict[str, Output]
    recurrent_weights: dict[str, Output]
    peephole_weights: dict[str, Output]
    biases: dict[str, Output]
    layer_norm_weights: dict[str, Output]
    projection: Output | None
    projection_bias: Output | None
    states: tuple[int, int]

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.input_weights["f"].partial_shape[0].get_length()

    def entered(self, enter: Capture) -> _Network:
        """The same with the values that stand for the weights within a step."""
        fields = {
            name: {gate: enter(value) for gate, value in getattr(self, name).items()}
            for name in ("of_data", "of_state", "of_cells", "biases", "norms")
        }
        projection, bias = (value and enter(value) for value in (self.projection, self.projection_bias))
        return _Network(self.node, **fields, projection=projection, projection_bias=bias, states=self.states)


@translator("LSTM")
@computes_in_float
def lstm(node: TfliteNodeContext) -> Translation:
    """One step."""
    if node.get_attribute("kernel_type", tflite.LSTMKernelType.FULL) == tflite.LSTMKernelType.BASIC:
        return _basic(node)
    network = _read(node, 1, (18, 19), 20)
    data = ops.Unsqueeze(node.get_input(0), int64([1])).output(0)
    return ops.Squeeze(_sequence(network, data, 1, False), int64([1]))


@translator("UNIDIRECTIONAL_SEQUENCE_LSTM")
@computes_in_float
def sequence_lstm(node: TfliteNodeContext) -> Translation:
    return _sequence(_read(node, 1, (18, 19), 20), node.get_input(0), _axis(node), False)


@translator("BIDIRECTIONAL_SEQUENCE_LSTM")
@computes_in_float
def bidirectional_sequence_lstm(node: TfliteNodeContext) -> Translation:
    """The weights of the forward direction, those of the backward one, the states of both, then auxiliary data and
    its weights in both directions."""
    results = []
    for direction, (first, states) in enumerate(((1, (35, 36)), (18, (37, 38)))):
        network, first_of_auxiliary = _read(node, first, states, None), 40 + 4 * direction
        gates = list(network.input_weights)
        places = [first_of_auxiliary + _ORDER.index(gate) for gate in gates]
        data, weights = add_auxiliary_input(node, 39, direction, list(network.input_weights.values()), places)
        network.input_weights = dict(zip(gates, weights))
        results.append(_sequence(network, data, _axis(node), direction == 1))
    return merge_directions(node, results)


def _basic(node: TfliteNodeContext) -> Translation:
    """Inputs: data, last result, weights of both ``[gates i, c, f, o times O, I + O]``, biases and cells.

    Outputs: the result, the cells, data beside the last result, and the gates before their functions.
    """
    data, state, weights, biases, cells = node.get_inputs()
    both = ops.Concat([data, state], 1)
    total = ops.Add(ops.MatMul(both, weights, False, True), biases)
    entry, new, forget, out = ops.Split(total, int64(1), 4).outputs()
    kept = ops.Multiply(ops.Sigmoid(forget), cells)
    cells = ops.Add(kept, ops.Multiply(ops.Sigmoid(entry), ops.Tanh(new))).output(0)
    cells = fake_quantize(cells, node.output_tensor(1))
    result = ops.Multiply(ops.Sigmoid(out), ops.Tanh(cells)).output(0)
    for index, value in ((1, result), (4, cells)):
        if node.input_tensor(index).is_variable:
            update_state(node, index, value)
    return [result, cells, both, total]


def _axis(node: TfliteNodeContext) -> int:
    """That of the times."""
    return 0 if node.get_attribute("time_major") else 1


def _read(node: TfliteNodeContext, first: int, states: tuple[int, int], layer_norm_weights: int | None) -> _Network:
    """The inputs of a direction whose weights begin at ``first``, its factors of normalization at ``layer_norm_weights``."""

    def gates(start: int | None, letters: str = _ORDER) -> dict[str, Output]:
        if start is None:
            return {}
        places = {gate: start + index for index, gate in enumerate(letters)}
        return {gate: node.get_input(place) for gate, place in places.items() if node.has_input(place)}

    return _Network(
        node,
        input_weights=gates(first),
        recurrent_weights=gates(first + 4),
        peephole_weights=gates(first + 8, "ifo"),
        biases=gates(first + 11),
        layer_norm_weights=gates(layer_norm_weights),
        projection=node.get_optional_input(first + 15),
        projection_bias=node.get_optional_input(first + 16),
        states=states,
    )


def _sequence(network: _Network, data: Output, axis: int, reverse: bool) -> Output:
    """The results for all times; the states keep those of the last."""
    make = _at_once if _is_plain(network) else _step_by_step
    results, last = make(network, data, axis, reverse)
    for index, value in zip(network.states, last):
        update_state(network.node, index, value)
    return results


def _is_plain(network: _Network) -> bool:
    """Whether the operation LSTMSequence does all of it."""
    node = network.node
    return (
        node.get_attribute("fused_activation_function") in SEQUENCE_ACTIVATIONS
        and not node.get_attribute("cell_clip", 0.0)
        and not network.layer_norm_weights
        and network.projection is None
        and rank_of(network.recurrent_weights["f"]) == 2
        and node.input_tensor(network.states[1]).quantization is None
    )


def _at_once(network: _Network, data: Output, axis: int, reverse: bool) -> tuple[Output, list[Output]]:
    node, data = network.node, batch_major(data, axis)
    function = SEQUENCE_ACTIVATIONS[node.get_attribute("fused_activation_function")]
    inputs = [
        data,
        *(ops.Unsqueeze(node.get_input(index), int64([1])) for index in network.states),
        full_sequence_lengths(data),
        *(_joined(gates, "fico") for gates in (network.input_weights, network.recurrent_weights, network.biases)),
    ]
    operation = ops.LSTMSequence
    if network.peephole_weights:
        inputs.append(_joined(network.peephole_weights, "iof"))
        operation = ops.PeepholeLSTMSequence
    made = operation(
        *inputs,
        hidden_size=network.size,
        direction="reverse" if reverse else "forward",
        activations=["sigmoid", function, function],
    )
    results, *last = (ops.Squeeze(value, int64([1])).output(0) for value in made.outputs())
    return batch_major(results, axis), last


def _joined(gates: dict[str, Output], order: str) -> Output:
    """All of a direction one after the other. Where i is 1 - f it is σ of what f is σ of, negated."""
    parts = [gates[gate] if gate in gates else ops.Negative(gates["f"]) for gate in order]
    return ops.Unsqueeze(ops.Concat(parts, 0), int64([0])).output(0)


def _step_by_step(network: _Network, data: Output, axis: int, reverse: bool) -> tuple[Output, list[Output]]:
    initial = [network.node.get_input(index) for index in network.states]

    def step(part: Output, states: list[Output], enter: Capture) -> tuple[Output, list[Output]]:
        result, cells = _step(network.entered(enter), part, *states)
        return result, [result, cells]

    return scan(step, data, initial, axis, reverse)


def _step(network: _Network, data: Output, state: Output, cells: Output) -> tuple[Output, Output]:
    """The new state and the new cells, rounded as the model keeps them."""
    node = network.node
    kept, kept_cells = (node.input_tensor(index) for index in network.states)

    def gate(letter: str, cells: Output) -> Output:
        total = ops.MatMul(data, network.input_weights[letter], False, True).output(0)
        total = ops.Add(total, _recurrent(state, network.recurrent_weights[letter])).output(0)
        if letter in network.peephole_weights:
            total = ops.Add(total, ops.Multiply(cells, network.peephole_weights[letter])).output(0)
        if letter in network.layer_norm_weights:
            total = ops.MVN(total, int64([-1]), True, _EPSILON, "INSIDE_SQRT").output(0)
            total = ops.Multiply(total, network.layer_norm_weights[letter]).output(0)
        if letter in network.biases:
            total = ops.Add(total, network.biases[letter]).output(0)
        if kept_cells.quantization is not None:
            total = ops.Clamp(total, *_RANGE_OF_GATES).output(0)
        return apply_activation(node, total) if letter == "c" else ops.Sigmoid(total).output(0)

    forget = gate("f", cells)
    entry = gate("i", cells) if "i" in network.input_weights else ops.Subtract(scalar_like(forget, 1), forget)
    cells = ops.Add(ops.Multiply(forget, cells), ops.Multiply(entry, gate("c", cells))).output(0)
    cells = fake_quantize(_cut(cells, node.get_attribute("cell_clip", 0.0)), kept_cells)
    result = ops.Multiply(gate("o", cells), apply_activation(node, cells)).output(0)
    if network.projection is not None:
        if kept.quantization is not None:
            result = fake_quantize(result, node.intermediate_tensors[-1])
        result = ops.MatMul(result, network.projection, False, True).output(0)
        if network.projection_bias is not None:
            result = ops.Add(result, network.projection_bias).output(0)
        result = _cut(result, node.get_attribute("proj_clip", 0.0))
    return fake_quantize(result, kept), cells


def _recurrent(state: Output, weights: Output) -> Output:
    """The state times weights, of which a vector stands for a diagonal matrix."""
    if rank_of(weights) == 1:
        return ops.Multiply(state, weights).output(0)
    return ops.MatMul(state, weights, False, True).output(0)


def _cut(value: Output, limit: float) -> Output:
    return ops.Clamp(value, -limit, limit).output(0) if limit > 0 else value
