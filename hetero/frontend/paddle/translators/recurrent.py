"""RNN, GRU and LSTM: networks of several layers and directions."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.numerics.recurrent import RECURRENT_KINDS, recurrent_layer, recurrent_weights, with_swapped_axes
from hetero.frontend.paddle.node_context import PaddleNodeContext, translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import int64, scalar_like
from hetero.graph import Output
from hetero.system.errors import FrontendError


@translator("rnn")
def network(node: PaddleNodeContext) -> ConversionResult:
    """All layers; the states are ``[layers · directions, batch, size]``, the data ``[time, batch, size]``.

    ``WeightList`` has the weights of all layers and directions, then the biases of all.
    """
    mode = node.get_attribute("mode", "RNN_TANH").lower()
    if mode not in RECURRENT_KINDS:
        raise FrontendError(f"mode must be one of {', '.join(RECURRENT_KINDS).upper()}, but is {mode.upper()}")
    kind, value, states = RECURRENT_KINDS[mode], with_swapped_axes(node.get_input("Input")), node.get_inputs("PreState")
    layers, directions = node.get_attribute("num_layers", 1), 2 if node.get_attribute("is_bidirec", False) else 1
    parameters, count = node.get_inputs("WeightList"), 2 * layers * directions
    if len(parameters) != 2 * count or len(states) != (2 if mode == "lstm" else 1):
        raise FrontendError(f"it has {len(parameters)} weights and {len(states)} states for {layers} layers")
    lengths = node.get_optional_input("SequenceLength")
    last: list[list[Output]] = [[] for _ in states]
    for layer in range(layers):
        places = range(layer * directions, (layer + 1) * directions)
        weights = [
            recurrent_weights(
                kind, [*parameters[2 * at : 2 * at + 2], *parameters[count + 2 * at : count + 2 * at + 2]]
            )
            for at in places
        ]
        initial = [ops.Gather(state, int64(places), int64(0)).output(0) for state in states]
        value, *after = recurrent_layer(kind, value, initial, weights, lengths)
        for found, state, before in zip(last, after, initial):
            found.append(state if lengths is None else _unless_empty(state, before, lengths))
    finals = [ops.Concat(found, 0).output(0) for found in last]
    return {"Out": with_swapped_axes(value), "State": finals}


def _unless_empty(state: Output, before: Output, lengths: Output) -> Output:
    """Return the states after sequences; an empty one keeps the state before it."""
    is_empty = ops.Unsqueeze(ops.LessEqual(lengths, scalar_like(lengths, 0)), int64([0, 2]))
    return ops.Select(is_empty, before, state).output(0)
