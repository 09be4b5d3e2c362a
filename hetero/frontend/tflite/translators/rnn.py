"""RNN operators: result = activation(data · input weights + state · recurrent weights + bias)."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import apply_activation
from hetero.frontend.tflite.translators.time_steps import (
    SEQUENCE_ACTIVATIONS,
    Capture,
    add_auxiliary_input,
    merge_directions,
    run_sequence,
    scan,
)
from hetero.frontend.translation.translators import Translation
from hetero.graph import Output


@translator("RNN")
@computes_in_float
def rnn(node: TfliteNodeContext) -> Translation:
    """Inputs: data ``[N, I]``, input weights ``[O, I]``, recurrent weights ``[O, O]``, bias ``[O]``, state."""
    weights = [node.get_input(index) for index in (1, 2, 3)]
    result = _step(node, node.get_input(0), node.get_input(4), weights)
    node.set_variable_input(4, result)
    return result


@translator("UNIDIRECTIONAL_SEQUENCE_RNN")
@computes_in_float
def sequence_rnn(node: TfliteNodeContext) -> Translation:
    """The inputs are those of RNN, with data for all time steps."""
    return _sequence(node, node.get_input(0), [node.get_input(index) for index in (1, 2, 3)], 4, False)


@translator("BIDIRECTIONAL_SEQUENCE_RNN")
@computes_in_float
def bidirectional_sequence_rnn(node: TfliteNodeContext) -> Translation:
    """Inputs after the data: weights, bias and state of the forward direction, then of the backward one; auxiliary data
    and its weights for both directions."""
    results = []
    for direction, first in enumerate((1, 5)):
        weights = [node.get_input(first + index) for index in range(3)]
        data, (weights[0],) = add_auxiliary_input(node, 9, direction, weights[:1], [10 + direction])
        results.append(_sequence(node, data, weights, first + 3, direction == 1))
    return merge_directions(node, results)


def _sequence(node: TfliteNodeContext, data: Output, weights: list[Output], state: int, reverse: bool) -> Output:
    """Return the results of all time steps and update the state; ``state``: the index of the state input."""
    axis, initial = 0 if node.get_attribute("time_major") else 1, node.get_input(state)
    function = node.get_attribute("fused_activation_function")
    if function in SEQUENCE_ACTIVATIONS:
        activations = [SEQUENCE_ACTIVATIONS[function]]
        results, (last,) = run_sequence(ops.RNNSequence, data, [initial], weights, activations, axis, reverse)
    else:

        def step(part: Output, states: list[Output], capture: Capture) -> tuple[Output, list[Output]]:
            result = _step(node, part, states[0], [capture(value) for value in weights])
            return result, [result]

        results, (last,) = scan(step, data, [initial], axis, reverse)
    node.set_variable_input(state, last)
    return results


def _step(node: TfliteNodeContext, data: Output, state: Output, weights: list[Output]) -> Output:
    input_weights, recurrent_weights, bias = weights
    total = ops.Add(ops.MatMul(data, input_weights, False, True), ops.MatMul(state, recurrent_weights, False, True))
    return apply_activation(node, ops.Add(total, bias))
