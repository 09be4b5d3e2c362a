"""Recurrent networks: one gemm for the data of all steps, then step by step for all directions at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hetero import ops
from hetero.reference.activation import sigmoid
from hetero.reference.registry import Array, evaluates

# Functions of x, alpha and beta, with the default alpha and beta.
_FUNCTIONS: dict[str, tuple[Callable[..., Array], float, float]] = {
    "affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
    "elu": (lambda x, a, b: np.where(x > 0, x, a * np.expm1(np.minimum(x, 0))), 1.0, 0.0),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    "leakyrelu": (lambda x, a, b: np.where(x > 0, x, a * x), 0.01, 0.0),
    "relu": (lambda x, a, b: np.maximum(x, 0), 0.0, 0.0),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), 1.0, 1.0),
    "sigmoid": (lambda x, a, b: sigmoid(x), 0.0, 0.0),
    "softplus": (lambda x, a, b: np.logaddexp(x, x.dtype.type(0)), 0.0, 0.0),
    "softsign": (lambda x, a, b: x / (1 + np.abs(x)), 0.0, 0.0),
    "tanh": (lambda x, a, b: np.tanh(x), 0.0, 0.0),
    "thresholdedrelu": (lambda x, a, b: np.where(x > a, x, 0), 1.0, 0.0),
}


@dataclass
class Steps:
    """The data of a recurrence over D directions; the time axis of the reverse direction is flipped.

    ``projected``: X·Wᵀ + biases ``[time, D, N, gates·hidden]``; ``weights``: Rᵀ ``[D, hidden, gates·hidden]``;
    ``active``: whether a step is within the sequence's length ``[time, D, N, 1]``, None if all are.
    """

    projected: Array
    weights: Array
    active: Array | None


def _activations(node) -> list[Callable[[Array], Array]]:
    def bind(index: int) -> Callable[[Array], Array]:
        function, alpha, beta = _FUNCTIONS[node.activations[index]]
        own_alpha, own_beta = node.activations_alpha[index : index + 1], node.activations_beta[index : index + 1]
        (alpha,), (beta,), limit = own_alpha or (alpha,), own_beta or (beta,), node.clip
        if limit:
            return lambda x: function(np.clip(x, -limit, limit), alpha, beta)
        return lambda x: function(x, alpha, beta)

    return [bind(index) for index in range(len(node.activations))]


def _steps(node, x: Array, lengths: Array | None, w: Array, r: Array, b: Array) -> Steps:
    """Return the steps for data ``[N, time, features]``; w, r and b have a leading axis of directions."""
    batch, time, features = x.shape
    rows = x.reshape(-1, features)
    # All biases are added here, except the last part with linear_before_reset, which is inside the recurrence.
    projected = np.empty((len(w), len(rows), w.shape[1]), x.dtype)
    np.matmul(rows, w.swapaxes(-1, -2), out=projected)
    projected += b[:, None, : w.shape[1]]
    projected = projected.reshape(len(w), batch, time, w.shape[1]).transpose(2, 0, 1, 3)
    active = None
    if lengths is not None and (lengths < time).any():
        active = (np.arange(time)[:, None] < lengths)[:, None, :, None].repeat(len(w), axis=1)
    return Steps(_flipped(node, projected), r.swapaxes(-1, -2), None if active is None else _flipped(node, active))


def _flipped(node, steps: Array) -> Array:
    """Flip the time axis of the reverse direction in ``[time, D, …]``; its own inverse."""
    direction = getattr(node, "direction", "forward")
    if direction == "forward":
        return steps
    if direction == "reverse":
        return steps[::-1]
    return np.stack([steps[:, 0], steps[::-1, 1]], axis=1)


def _run(steps: Steps, states: tuple[Array, ...], step: Callable[..., tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return the hidden state after every step ``[time, D, N, hidden]`` and the final states ``[D, N, hidden]``."""
    hidden = np.zeros((len(steps.projected), *states[0].shape), states[0].dtype)
    for time, projected in enumerate(steps.projected):
        new = step(projected, *states)
        if steps.active is None:
            states = new
            hidden[time] = new[0]
        else:
            active = steps.active[time]
            states = tuple(np.where(active, after, before) for after, before in zip(new, states))
            np.copyto(hidden[time], new[0], where=active)
    return hidden, *states


def _rnn_step(node, weights: Array, b: Array) -> Callable[..., tuple[Array, ...]]:
    (function,) = _activations(node)
    return lambda projected, h: (function(projected + h @ weights),)


def _gru_step(node, weights: Array, b: Array) -> Callable[..., tuple[Array, ...]]:
    function, candidate = _activations(node)
    size = node.hidden_size
    gate_weights, candidate_weights = weights[..., : 2 * size], weights[..., 2 * size :]

    def linear_before_reset(projected, h):
        recurrent = h @ weights
        gates = function(projected[..., : 2 * size] + recurrent[..., : 2 * size])
        z, r = gates[..., :size], gates[..., size:]
        new = candidate(projected[..., 2 * size :] + r * (recurrent[..., 2 * size :] + b[:, None, 3 * size :]))
        return (new + z * (h - new),)

    def reset_first(projected, h):
        gates = function(projected[..., : 2 * size] + h @ gate_weights)
        z, r = gates[..., :size], gates[..., size:]
        new = candidate(projected[..., 2 * size :] + (r * h) @ candidate_weights)
        return (new + z * (h - new),)

    return linear_before_reset if node.linear_before_reset else reset_first


def _lstm_step(node, weights: Array, peepholes: Array | None) -> Callable[..., tuple[Array, ...]]:
    gate, candidate, _ = _activations(node)
    function, alpha, beta = _FUNCTIONS[node.activations[2]]  # applied to the cell state, which is not clipped
    (alpha,), (beta,) = node.activations_alpha[2:3] or (alpha,), node.activations_beta[2:3] or (beta,)
    size = node.hidden_size
    slices = {letter: slice(k * size, (k + 1) * size) for k, letter in enumerate(node.weights_format)}

    def step(projected, h, c):
        sums = h @ weights
        sums += projected
        gates = gate(sums)  # the part for c is not used, but one call is faster than three
        i, f, o = (gates[..., slices[letter]] for letter in "ifo")
        c = (1 - i if node.input_forget else f) * c + i * candidate(sums[..., slices["c"]])
        return o * function(c, alpha, beta), c

    def step_with_peepholes(projected, h, c):
        sums = projected + h @ weights
        i, f, o = (sums[..., slices[letter]] for letter in "ifo")
        i = gate(i + p_i * c)
        f = 1 - i if node.input_forget else gate(f + p_f * c)
        c = f * c + i * candidate(sums[..., slices["c"]])
        return gate(o + p_o * c) * function(c, alpha, beta), c

    if peepholes is None:
        return step
    p_i, p_o, p_f = np.split(peepholes[:, None], 3, axis=-1)
    return step_with_peepholes


@evaluates(ops.RNNCell, ops.GRUCell, in_f32=True)
def rnn_or_gru_cell(node: ops.RNNCell | ops.GRUCell, x: Array, h: Array, w: Array, r: Array, b: Array) -> Array:
    return _cell(node, x, (h,), w, r, b, _gru_step if isinstance(node, ops.GRUCell) else _rnn_step)


@evaluates(ops.LSTMCell, ops.LSTMCellV1, in_f32=True)
def lstm_cell(
    node: ops.LSTMCell | ops.LSTMCellV1,
    x: Array,
    h: Array,
    c: Array,
    w: Array,
    r: Array,
    b: Array,
    p: Array | None = None,
) -> Array:
    peepholes = None if p is None else p[None]
    return _cell(node, x, (h, c), w, r, b, lambda node, weights, _: _lstm_step(node, weights, peepholes))


@evaluates(ops.RNNSequence, ops.GRUSequence, in_f32=True)
def rnn_or_gru_sequence(
    node: ops.RNNSequence | ops.GRUSequence, x: Array, h: Array, lengths: Array, w: Array, r: Array, b: Array
) -> Array:
    make_step = _gru_step if isinstance(node, ops.GRUSequence) else _rnn_step
    return _sequence(node, x, (h,), lengths, w, r, b, make_step)


@evaluates(ops.LSTMSequence, ops.PeepholeLSTMSequence, in_f32=True)
def lstm_sequence(
    node: ops.LSTMSequence | ops.PeepholeLSTMSequence,
    x: Array,
    h: Array,
    c: Array,
    lengths: Array,
    w: Array,
    r: Array,
    b: Array,
    p: Array | None = None,
) -> Array:
    return _sequence(node, x, (h, c), lengths, w, r, b, lambda node, weights, _: _lstm_step(node, weights, p))


def _cell(node, x, states, w, r, b, make_step):
    steps = _steps(node, x[:, None], None, w[None], r[None], b[None])
    _, *states = _run(steps, tuple(state[None] for state in states), make_step(node, steps.weights, b[None]))
    return [state[0] for state in states]


def _sequence(node, x, states, lengths, w, r, b, make_step):
    steps = _steps(node, x, lengths, w, r, b)
    states = tuple(state.swapaxes(0, 1) for state in states)
    hidden, *states = _run(steps, states, make_step(node, steps.weights, b))
    if (lengths == 0).any():
        # As in OpenVINO and ONNX Runtime, the final states of an empty sequence are zeros, not its initial states.
        states = [np.where(lengths[:, None] == 0, 0, state) for state in states]
    return [_flipped(node, hidden).transpose(2, 1, 0, 3), *(state.swapaxes(0, 1) for state in states)]
