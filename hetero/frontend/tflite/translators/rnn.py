"""Recurrent networks of one function: of the data and of what it made last."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import on_numbers
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import activated
from hetero.frontend.tflite.translators.time_steps import (
    FUNCTIONS_OF_SEQUENCES,
    Enter,
    all_times,
    batches_first,
    merged,
    over_time,
    with_auxiliary_data,
)
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64
from hetero.graph import Output


@translator("RNN")
@on_numbers
def rnn(node: TfliteNodeContext) -> Translation:
    """Inputs: data ``[N, I]``, weights of the data ``[O, I]``, of the state ``[O, O]``, bias ``[O]``, state."""
    weights = [node.get_input(index) for index in (1, 2, 3)]
    result = _step(node, node.get_input(0), node.get_input(4), weights)
    node.set_variable_input(4, result)
    return result


@translator("UNIDIRECTIONAL_SEQUENCE_RNN")
@on_numbers
def sequence_rnn(node: TfliteNodeContext) -> Translation:
    """The inputs are those of RNN, the data for all times."""
    return _sequence(node, node.get_input(0), [node.get_input(index) for index in (1, 2, 3)], 4, False)


@translator("BIDIRECTIONAL_SEQUENCE_RNN")
@on_numbers
def bidirectional_sequence_rnn(node: TfliteNodeContext) -> Translation:
    """Weights, bias and state of the forward direction, then those of the backward one, then auxiliary data and its
    weights in both directions."""
    results = []
    for direction, first in enumerate((1, 5)):
        weights = [node.get_input(first + index) for index in range(3)]
        data, (weights[0],) = with_auxiliary_data(node, 9, direction, weights[:1], [10 + direction])
        results.append(_sequence(node, data, weights, first + 3, direction == 1))
    return merged(node, results)


def _sequence(node: TfliteNodeContext, data: Output, weights: list[Output], state: int, reverse: bool) -> Output:
    """The results for all times; ``state``: the index of the input that is the state."""
    axis, initial = 0 if node.get_attribute("time_major") else 1, node.get_input(state)
    function = node.get_attribute("fused_activation_function")
    if function in FUNCTIONS_OF_SEQUENCES:
        data = batches_first(data, axis)
        made = ops.RNNSequence(
            data,
            ops.Unsqueeze(initial, int64([1])),
            all_times(data),
            *(ops.Unsqueeze(part, int64([0])) for part in weights),
            hidden_size=initial.partial_shape[-1].get_length(),
            direction="reverse" if reverse else "forward",
            activations=[FUNCTIONS_OF_SEQUENCES[function]],
        )
        results, last = (ops.Squeeze(value, int64([1])).output(0) for value in made.outputs())
        results = batches_first(results, axis)
    else:

        def step(part: Output, states: list[Output], enter: Enter) -> tuple[Output, list[Output]]:
            result = _step(node, part, states[0], [enter(value) for value in weights])
            return result, [result]

        results, (last,) = over_time(step, data, [initial], axis, reverse)
    node.set_variable_input(state, last)
    return results


def _step(node: TfliteNodeContext, data: Output, state: Output, weights: list[Output]) -> Output:
    of_data, of_state, bias = weights
    total = ops.Add(ops.MatMul(data, of_data, False, True), ops.MatMul(state, of_state, False, True))
    return activated(node, ops.Add(total, bias))
