"""RNN, GRU and LSTM: networks of several layers and directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.quantization import convert_to
from hetero.frontend.translation import ConversionResult
from hetero.frontend.values import axis_length, int64, known_length
from hetero.graph import Op, Output
from hetero.types import Type


class _Kind(NamedTuple):
    """The operation for a sequence, the places of its gates in PaddlePaddle's weights, and attributes."""

    sequence: type[Op]
    gates: Sequence[int]
    attributes: dict[str, Any]


def _activation(name: str) -> dict[str, Any]:
    return {"activations": [name], "activations_alpha": [], "activations_beta": []}


_KINDS = {
    "RNN_TANH": _Kind(ops.RNNSequence, (0,), _activation("tanh")),
    "RNN_RELU": _Kind(ops.RNNSequence, (0,), _activation("relu")),
    # PaddlePaddle has r, z, h; OpenVINO z, r, h.
    "GRU": _Kind(ops.GRUSequence, (1, 0, 2), {"linear_before_reset": True}),
    # PaddlePaddle has i, f, c, o; OpenVINO f, i, c, o.
    "LSTM": _Kind(ops.LSTMSequence, (1, 0, 2, 3), {}),
}


@translator("rnn")
def network(node: PaddleNodeContext) -> ConversionResult:
    """All layers; the states are ``[layers · directions, batch, size]``, the data ``[time, batch, size]``.

    ``WeightList`` has the weights of all layers and directions, then the biases of all.
    """
    mode = node.get_attribute("mode", "RNN_TANH")
    if mode not in _KINDS:
        raise FrontendError(f"mode must be one of {', '.join(_KINDS)}, but is {mode}")
    kind, value, states = _KINDS[mode], _swapped(node.get_input("Input")), node.tensors("PreState")
    layers, directions = node.get_attribute("num_layers", 1), 2 if node.get_attribute("is_bidirec", False) else 1
    parameters, count = node.tensors("WeightList"), 2 * layers * directions
    if len(parameters) != 2 * count or len(states) != (2 if mode == "LSTM" else 1):
        raise FrontendError(f"it has {len(parameters)} weights and {len(states)} states for {layers} layers")
    lengths = node.get_optional_input("SequenceLength")
    last: list[list[Output]] = [[] for _ in states]
    for layer in range(layers):
        places = range(layer * directions, (layer + 1) * directions)
        weights = [
            _weights(kind, [*parameters[2 * at : 2 * at + 2], *parameters[count + 2 * at : count + 2 * at + 2]])
            for at in places
        ]
        initial = [ops.Gather(state, int64(places), int64(0)).output(0) for state in states]
        value, *after = _layer(kind, value, initial, weights, lengths)
        for found, state in zip(last, after):
            found.append(state)
    finals = [ops.Concat(found, 0).output(0) for found in last]
    return {"Out": _swapped(value), "State": finals}


def _layer(
    kind: _Kind, value: Output, states: list[Output], weights: list[list[Output]], lengths: Output | None
) -> list[Output]:
    """Return the results ``[batch, time, directions · size]`` of a layer, and its last states."""
    size = known_length(weights[0][1], -1, "the size of the state")
    if lengths is None:
        lengths = ops.Broadcast(axis_length(value, 1), axis_length(value, [0])).output(0)
    stacked = [ops.Concat([ops.Unsqueeze(part, int64([0])) for part in parts], 0) for parts in zip(*weights)]
    found = kind.sequence(
        value, *(_swapped(state) for state in states), convert_to(lengths, Type.i64), *stacked, hidden_size=size,
        direction="bidirectional" if len(weights) == 2 else "forward", **kind.attributes,
    ).outputs()  # fmt: skip
    joined = ops.Reshape(ops.Transpose(found[0], int64([0, 2, 1, 3])), int64([0, 0, len(weights) * size]), True)
    return [joined.output(0), *(_swapped(state) for state in found[1:])]


def _weights(kind: _Kind, given: Sequence[Output]) -> list[Output]:
    """Return the weights of the input and of the state, and the bias, with OpenVINO's order of gates."""
    size = known_length(given[1], -1, "the size of the state")
    rows = int64(np.arange(len(kind.gates) * size).reshape(-1, size)[list(kind.gates)].reshape(-1))
    data, recurrent, *biases = (ops.Gather(part, rows, int64(0)).output(0) for part in given)
    bias = ops.Add(*biases).output(0)
    if "linear_before_reset" in kind.attributes:
        # The last gate adds the bias of the state before the reset, so it has both.
        gates = ops.VariadicSplit(bias, int64(0), int64([2 * size, size])).output(0)
        parts = [ops.VariadicSplit(one, int64(0), int64([2 * size, size])).output(1) for one in biases]
        bias = ops.Concat([gates, *parts], 0).output(0)
    return [data, recurrent, bias]


def _swapped(value: Output) -> Output:
    """Swap the first two axes, of which one is the batch."""
    return ops.Transpose(value, int64([1, 0, 2])).output(0)
