"""RNN, GRU and LSTM: networks of several layers and directions."""

from __future__ import annotations

from hetero.frontend.numerics.recurrent import RECURRENT_KINDS, recurrent_network, with_swapped_axes
from hetero.frontend.paddle.node_context import PaddleNodeContext, translator
from hetero.frontend.translation.translators import ConversionResult
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
    pairs = range(0, count, 2)
    weights = [[*parameters[at : at + 2], *parameters[count + at : count + at + 2]] for at in pairs]
    value, finals = recurrent_network(kind, value, states, weights, layers, lengths)
    return {"Out": with_swapped_axes(value), "State": finals}
