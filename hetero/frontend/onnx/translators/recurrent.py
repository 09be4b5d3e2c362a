"""RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.recurrent import with_swapped_axes
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, known_length, scalar_like
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError

# The activations that have an alpha or a beta, with the defaults of the ONNX operators of the same names.
_ALPHAS = {
    "affine": 1.0, "elu": 1.0, "hardsigmoid": 0.2, "leakyrelu": 0.01, "scaledtanh": 1.0, "thresholdedrelu": 1.0,
}  # fmt: skip
_BETAS = {"affine": 0.0, "hardsigmoid": 0.5, "scaledtanh": 1.0}


@dataclass
class Recurrence:
    """The inputs and attributes of a recurrent node, in the batch-first layout of OpenVINO's operation sets.

    ``x``, ``w``, ``r``: the data, the input weights and the recurrent weights. ``bias``: the input biases and the
    recurrent biases. ``attributes``: one dict for each direction.
    """

    x: Output
    states: list[Output]
    lengths: Output
    w: Output
    r: Output
    bias: tuple[Output, Output]
    peepholes: Output | None
    direction: str
    attributes: list[dict[str, Any]]


# Returns the outputs of the operation for a network, with these attributes.
Make = Callable[[Recurrence, dict[str, Any]], list[Output]]


@translator("RNN")
def rnn(node: OnnxNodeContext) -> Translation:
    def make(network: Recurrence, attributes: dict[str, Any]) -> list[Output]:
        return ops.RNNSequence(
            network.x, *network.states, network.lengths, network.w, network.r, ops.Add(*network.bias), **attributes
        ).outputs()

    return _translate(node, make, gates=1, states=(5,), functions=("Tanh",))


@translator("GRU")
def gru(node: OnnxNodeContext) -> Translation:
    linear = bool(node.get_attribute("linear_before_reset", 0))

    def make(network: Recurrence, attributes: dict[str, Any]) -> list[Output]:
        bias: Op = ops.Add(*network.bias)
        if linear:
            # GRUSequence then needs the input and the recurrent bias of the hidden gate separately.
            (z, r, _), (_, _, recurrent) = (ops.Split(part, int64(1), 3).outputs() for part in (bias, network.bias[1]))
            data = ops.Split(network.bias[0], int64(1), 3).output(2)
            bias = ops.Concat([z, r, data, recurrent], 1)
        return ops.GRUSequence(
            network.x, *network.states, network.lengths, network.w, network.r, bias, **attributes,
            linear_before_reset=linear,
        ).outputs()  # fmt: skip

    return _translate(node, make, gates=3, states=(5,), functions=("Sigmoid", "Tanh"))


@translator("LSTM")
def lstm(node: OnnxNodeContext) -> Translation:
    return translate_lstm(node, lambda network, attributes: lstm_sequence(node, network, attributes))


def translate_lstm(node: OnnxNodeContext, make: Make, splits_directions: bool = False) -> Translation:
    """Translate a node with the inputs of LSTM.

    ``make`` returns the outputs of LSTMSequence for a network; with ``splits_directions`` it is called for each
    direction of a bidirectional one.
    """
    functions = ("Sigmoid", "Tanh", "Tanh")
    return _translate(node, make, gates=4, states=(5, 6), functions=functions, splits_directions=splits_directions)


def lstm_sequence(node: OnnxNodeContext, network: Recurrence, attributes: dict[str, Any]) -> list[Output]:
    """Return the outputs of the operation for an LSTM with the attribute input_forget of a node."""
    forget, size = bool(node.get_attribute("input_forget", 0)), attributes["hidden_size"]
    w, r, bias = (_reorder_gates(part, size) for part in (network.w, network.r, ops.Add(*network.bias).output(0)))
    inputs = (network.x, *network.states, network.lengths, w, r, bias)
    if network.peepholes is None and not forget:
        return ops.LSTMSequence(*inputs, **attributes).outputs()
    peepholes = network.peepholes
    if peepholes is None:
        peepholes = _zeros_like(network.x, int64([len(network.attributes) or 1, 3 * size]).output(0))
    return ops.PeepholeLSTMSequence(*inputs, peepholes, **attributes, input_forget=forget).outputs()


def _reorder_gates(weights: Output, size: int) -> Output:
    """Reorder LSTM gates from i, o, f, c, as in ONNX, to f, i, c, o, as in OpenVINO."""
    rows = np.arange(4 * size).reshape(4, size)[[2, 0, 3, 1]]
    return ops.Gather(weights, Constant(rows.reshape(-1)), int64(1)).output(0)


def _translate(
    node: OnnxNodeContext,
    make: Make,
    gates: int,
    states: Sequence[int],
    functions: Sequence[str],
    splits_directions: bool = False,
) -> Translation:
    """Translate a recurrent node.

    ``make`` returns the outputs of the operation. ``gates``: the number of gates. ``states``: the indices of the
    initial-state inputs. ``functions``: the default activations.
    """
    network = _read(node, gates, states, functions)
    is_one = not splits_directions and network.attributes[0] == network.attributes[-1]
    if len(network.attributes) == 1 or is_one:
        outputs = make(network, network.attributes[0] | {"direction": network.direction})
    else:
        # A bidirectional operation has the same activations in both directions, so two operations are needed.
        halves = zip(_split_directions(network), network.attributes, ("forward", "reverse"))
        parts = [make(half, attributes | {"direction": name}) for half, attributes, name in halves]
        outputs = [ops.Concat(list(pair), 1).output(0) for pair in zip(*parts)]
    batch_first = node.get_attribute("layout", 0)
    hidden = ops.Transpose(outputs[0], int64([0, 2, 1, 3] if batch_first else [2, 1, 0, 3])).output(0)
    return [hidden, *(state if batch_first else with_swapped_axes(state) for state in outputs[1:])]


def _read(node: OnnxNodeContext, gates: int, states: Sequence[int], functions: Sequence[str]) -> Recurrence:
    x, w, r = (node.get_input(index) for index in range(3))
    batch_first, direction = node.get_attribute("layout", 0), node.get_attribute("direction", "forward")
    directions = 2 if direction == "bidirectional" else 1
    size = node.get_attribute("hidden_size", None) or known_length(r, -1, "hidden_size or the shape of R")
    x = x if batch_first else with_swapped_axes(x)
    batch, time = axis_length(x, [0]), axis_length(x, [1])
    lengths = node.get_input(4) if node.has_input(4) else ops.Broadcast(time, batch).output(0)
    initial = []
    for index in states:
        if node.has_input(index):
            state = node.get_input(index)
            initial.append(state if batch_first else with_swapped_axes(state))
        else:
            initial.append(_zeros_like(x, ops.Concat([batch, int64([directions, size])], 0).output(0)))
    if node.has_input(3):
        input_bias, recurrent_bias = ops.Split(node.get_input(3), int64(1), 2).outputs()
    else:
        input_bias = recurrent_bias = _zeros_like(x, int64([directions, gates * size]).output(0))
    peepholes = node.get_input(7) if gates == 4 and node.has_input(7) else None
    attributes = [
        {"hidden_size": size, "clip": node.get_attribute("clip", 0.0), **activations}
        for activations in _activations(node, functions, directions)
    ]
    return Recurrence(x, initial, lengths, w, r, (input_bias, recurrent_bias), peepholes, direction, attributes)


def _activations(node: OnnxNodeContext, functions: Sequence[str], directions: int) -> list[dict[str, Any]]:
    """Return the activation attributes of each direction, with an alpha and a beta for each activation."""
    names = [name.lower() for name in node.get_attribute("activations", None) or [*functions] * directions]
    count = len(functions)
    if len(names) != count * directions:
        raise FrontendError(f"activations must be {count * directions} names, but there are {len(names)}")
    # The file has numbers only for the activations that take one.
    alphas, betas = iter(node.get_attribute("activation_alpha", ())), iter(node.get_attribute("activation_beta", ()))
    alpha = [next(alphas, _ALPHAS[name]) if name in _ALPHAS else 0.0 for name in names]
    beta = [next(betas, _BETAS[name]) if name in _BETAS else 0.0 for name in names]
    slices = [slice(start, start + count) for start in range(0, len(names), count)]
    return [{"activations": names[s], "activations_alpha": alpha[s], "activations_beta": beta[s]} for s in slices]


def _split_directions(network: Recurrence) -> list[Recurrence]:
    """Split a bidirectional network into two networks of one direction."""

    def halves(value: Output, axis: int) -> list[Output]:
        return ops.Split(value, int64(axis), 2).outputs()

    states = [list(pair) for pair in zip(*(halves(state, 1) for state in network.states))]
    bias = list(zip(*(halves(part, 0) for part in network.bias)))
    peepholes = [None, None] if network.peepholes is None else halves(network.peepholes, 0)
    weights = zip(halves(network.w, 0), halves(network.r, 0))
    return [
        Recurrence(network.x, states[k], network.lengths, w, r, bias[k], peepholes[k], "", [])
        for k, (w, r) in enumerate(weights)
    ]


def _zeros_like(x: Output, shape: Output) -> Output:
    """Return zeros of the element type of x."""
    if x.element_type == Type.dynamic:
        raise FrontendError("the element type of X must be known")
    return ops.Broadcast(scalar_like(x, 0), shape).output(0)
