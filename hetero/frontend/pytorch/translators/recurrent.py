"""RNN, GRU and LSTM: their cells, and networks of several layers and directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import axis_length, int64, known_length, rank_of, scalar_like
from hetero.graph import Op, Output


class _Kind(NamedTuple):
    """The operations for a cell and for a sequence, the positions of their gates in torch's weights, and attributes."""

    cell: type[Op]
    sequence: type[Op]
    gates: Sequence[int]
    attributes: dict[str, Any]


def _activation(name: str) -> dict[str, Any]:
    return {"activations": [name], "activations_alpha": [], "activations_beta": []}


_KINDS = {
    "rnn_tanh": _Kind(ops.RNNCell, ops.RNNSequence, (0,), _activation("tanh")),
    "rnn_relu": _Kind(ops.RNNCell, ops.RNNSequence, (0,), _activation("relu")),
    # torch has r, z, h; OpenVINO z, r, h.
    "gru": _Kind(ops.GRUCell, ops.GRUSequence, (1, 0, 2), {"linear_before_reset": True}),
    # torch has i, f, c, o; OpenVINO f, i, c, o.
    "lstm": _Kind(ops.LSTMCell, ops.LSTMSequence, (1, 0, 2, 3), {}),
}


@translator(*(f"aten::{name}_cell" for name in _KINDS))
def cell(node: TorchNodeContext) -> Translation:
    kind = _KINDS[node.get_op_type().removeprefix("aten::").removesuffix("_cell")]
    states = node.tensors("hx")
    weights = _weights(kind, [node.get_optional_input(name) for name in ("w_ih", "w_hh", "b_ih", "b_hh")])
    size = known_length(weights[1], -1, "the size of the state")
    return kind.cell(node.get_input("input"), *states, *weights, hidden_size=size, **kind.attributes).outputs()


@translator(*(f"aten::{name}.input" for name in _KINDS))
def network(node: TorchNodeContext) -> Translation:
    """All layers; the states are ``[layers · directions, batch, size]``, the data ``[time, batch, size]``."""
    kind = _KINDS[node.get_op_type().removeprefix("aten::")]
    value, states, parameters = node.get_input("input"), node.tensors("hx"), node.tensors("params")
    layers, directions = node.get_attribute("num_layers"), 2 if node.get_attribute("bidirectional") else 1
    if node.get_attribute("train") and node.get_attribute("dropout"):
        raise FrontendError("dropout in training mode is not supported: export the module after eval()")
    count = 4 if node.get_attribute("has_biases") else 2
    if len(parameters) != layers * directions * count:
        raise FrontendError("a projection of the state is not supported")
    is_unbatched, is_batch_first = rank_of(value) == 2, node.get_attribute("batch_first")
    if is_unbatched:
        value, *states = (ops.Unsqueeze(one, int64([1])).output(0) for one in (value, *states))
    if is_unbatched or not is_batch_first:
        value = _swapped(value)
    last: list[list[Output]] = [[] for _ in states]
    for layer in range(layers):
        first = layer * directions
        weights = [_weights(kind, parameters[at * count : (at + 1) * count]) for at in range(first, first + directions)]
        initial = [ops.Gather(state, int64(range(first, first + directions)), int64(0)).output(0) for state in states]
        value, *after = _layer(kind, value, initial, weights)
        for found, state in zip(last, after):
            found.append(state)
    if is_unbatched or not is_batch_first:
        value = _swapped(value)
    results = [value, *(ops.Concat(found, 0).output(0) for found in last)]
    return [ops.Squeeze(result, int64([1])) for result in results] if is_unbatched else results


def _layer(kind: _Kind, value: Output, states: list[Output], weights: list[list[Output]]) -> list[Output]:
    """Return the results ``[batch, time, directions · size]`` of a layer, and its last states."""
    size = known_length(weights[0][1], -1, "the size of the state")
    lengths = ops.Broadcast(axis_length(value, 1), axis_length(value, [0]))
    stacked = [ops.Concat([ops.Unsqueeze(part, int64([0])) for part in parts], 0) for parts in zip(*weights)]
    found = kind.sequence(
        value, *(_swapped(state) for state in states), lengths, *stacked, hidden_size=size,
        direction="bidirectional" if len(weights) == 2 else "forward", **kind.attributes,
    ).outputs()  # fmt: skip
    joined = ops.Reshape(ops.Transpose(found[0], int64([0, 2, 1, 3])), int64([0, 0, len(weights) * size]), True)
    return [joined.output(0), *(_swapped(state) for state in found[1:])]


def _weights(kind: _Kind, given: Sequence[Output | None]) -> list[Output]:
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


def _swapped(value: Output) -> Output:
    """Swap the first two axes, of which one is the batch."""
    return ops.Transpose(value, int64([1, 0, 2])).output(0)
