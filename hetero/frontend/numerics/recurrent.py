"""Recurrent networks of PyTorch and PaddlePaddle, whose weights have the same order of gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.translation.values import axis_length, convert_to, int64, known_length, scalar_like
from hetero.graph import Op, Output


class RecurrentKind(NamedTuple):
    """The operations for a cell and for a sequence, the positions of their gates in the weights, and attributes."""

    cell: type[Op]
    sequence: type[Op]
    gates: Sequence[int]
    attributes: dict[str, Any]


def _activation(name: str) -> dict[str, Any]:
    return {"activations": [name], "activations_alpha": [], "activations_beta": []}


RECURRENT_KINDS = {
    "rnn_tanh": RecurrentKind(ops.RNNCell, ops.RNNSequence, (0,), _activation("tanh")),
    "rnn_relu": RecurrentKind(ops.RNNCell, ops.RNNSequence, (0,), _activation("relu")),
    # PyTorch and PaddlePaddle have r, z, h; OpenVINO z, r, h.
    "gru": RecurrentKind(ops.GRUCell, ops.GRUSequence, (1, 0, 2), {"linear_before_reset": True}),
    # PyTorch and PaddlePaddle have i, f, c, o; OpenVINO f, i, c, o.
    "lstm": RecurrentKind(ops.LSTMCell, ops.LSTMSequence, (1, 0, 2, 3), {}),
}


def recurrent_layer(
    kind: RecurrentKind, value: Output, states: list[Output], weights: list[list[Output]], lengths: Output | None
) -> list[Output]:
    """Return the results ``[batch, time, directions · size]`` of a layer, and its last states."""
    size = known_length(weights[0][1], -1, "the size of the state")
    if lengths is None:
        lengths = ops.Broadcast(axis_length(value, 1), axis_length(value, [0])).output(0)
    stacked = [ops.Concat([ops.Unsqueeze(part, int64([0])) for part in parts], 0) for parts in zip(*weights)]
    found = kind.sequence(
        value, *(with_swapped_axes(state) for state in states), convert_to(lengths, Type.i64), *stacked,
        hidden_size=size, direction="bidirectional" if len(weights) == 2 else "forward", **kind.attributes,
    ).outputs()  # fmt: skip
    joined = ops.Reshape(ops.Transpose(found[0], int64([0, 2, 1, 3])), int64([0, 0, len(weights) * size]), True)
    return [joined.output(0), *(with_swapped_axes(state) for state in found[1:])]


def recurrent_network(
    kind: RecurrentKind,
    value: Output,
    states: Sequence[Output],
    parameters: Sequence[Sequence[Output]],
    layers: int,
    lengths: Output | None = None,
) -> tuple[Output, list[Output]]:
    """Return the results ``[batch, time, directions · size]`` of all layers, and the last states of all.

    ``states``: ``[layers · directions, batch, size]``. ``parameters``: the weights and biases of each direction of each
    layer, as ``recurrent_weights`` takes them. ``lengths``: of the sequences; an empty one keeps the state before it.
    """
    directions = len(parameters) // layers
    last: list[list[Output]] = [[] for _ in states]
    for layer in range(layers):
        places = range(layer * directions, (layer + 1) * directions)
        weights = [recurrent_weights(kind, parameters[place]) for place in places]
        initial = [ops.Gather(state, int64(places), int64(0)).output(0) for state in states]
        value, *after = recurrent_layer(kind, value, initial, weights, lengths)
        for finals, state, before in zip(last, after, initial):
            finals.append(state if lengths is None else _unless_empty(state, before, lengths))
    return value, [ops.Concat(finals, 0).output(0) for finals in last]


def _unless_empty(state: Output, before: Output, lengths: Output) -> Output:
    """Return the states after sequences; an empty one keeps the state before it."""
    is_empty = ops.Unsqueeze(ops.LessEqual(lengths, scalar_like(lengths, 0)), int64([0, 2]))
    return ops.Select(is_empty, before, state).output(0)


def recurrent_weights(kind: RecurrentKind, given: Sequence[Output | None]) -> list[Output]:
    """Return the weights of the input and of the state, and the bias, with OpenVINO's order of gates."""
    data, recurrent = (part for part in given[:2] if part is not None)
    size = known_length(recurrent, -1, "the size of the state")
    rows = int64(np.arange(len(kind.gates) * size).reshape(-1, size)[list(kind.gates)].reshape(-1))
    zeros = ops.Broadcast(scalar_like(data, 0), int64([len(kind.gates) * size])).output(0)
    biases = [part if part is not None else zeros for part in (*given[2:], None, None)[:2]]
    data, recurrent, *biases = (ops.Gather(part, rows, int64(0)).output(0) for part in (data, recurrent, *biases))
    bias = ops.Add(*biases).output(0)
    if "linear_before_reset" in kind.attributes:
        # The last gate adds the bias of the state before the reset, so it has both.
        gates = ops.VariadicSplit(bias, int64(0), int64([2 * size, size])).output(0)
        parts = [ops.VariadicSplit(one, int64(0), int64([2 * size, size])).output(1) for one in biases]
        bias = ops.Concat([gates, *parts], 0).output(0)
    return [data, recurrent, bias]


def with_swapped_axes(value: Output) -> Output:
    """Swap the first two axes, of which one is the batch."""
    return ops.Transpose(value, int64([1, 0, 2])).output(0)
