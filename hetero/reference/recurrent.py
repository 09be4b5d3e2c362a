"""Recurrent networks: one gemm for the data of all steps, then step by step for all directions at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hetero import ops
from hetero.reference.elementwise.activation import sigmoid
from hetero.reference.registry import Array, evaluates

_Cell = ops.RNNCell | ops.GRUCell | ops.LSTMCell | ops.LSTMCellV1
_Sequence = ops.RNNSequence | ops.GRUSequence | ops.LSTMSequence | ops.PeepholeLSTMSequence
_GRU = ops.GRUCell | ops.GRUSequence
_LSTM = ops.LSTMCell | ops.LSTMCellV1 | ops.LSTMSequence | ops.PeepholeLSTMSequence

# Returns the new states for the projected data of a step and the previous states.
Step = Callable[..., tuple[Array, ...]]

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


def _activation(node: _Cell | _Sequence, index: int, limit: float) -> Callable[[Array], Array]:
    """Return an activation function of a node, which clips its argument unless ``limit`` is 0."""
    function, alpha, beta = _FUNCTIONS[node.activations[index]]
    (alpha,), (beta,) = (
        node.activations_alpha[index : index + 1] or (alpha,),
        node.activations_beta[index : index + 1] or (beta,),
    )
    if limit:
        return lambda x: function(np.clip(x, -limit, limit), alpha, beta)
    return lambda x: function(x, alpha, beta)


def _steps(node: _Cell | _Sequence, x: Array, lengths: Array | None, w: Array, r: Array, b: Array) -> Steps:
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


def _flipped(node: _Cell | _Sequence, steps: Array) -> Array:
    """Flip the time axis of the reverse direction in ``[time, D, …]``; its own inverse."""
    direction = getattr(node, "direction", "forward")
    if direction == "forward":
        return steps
    if direction == "reverse":
        return steps[::-1]
    return np.stack([steps[:, 0], steps[::-1, 1]], axis=1)


def _run(steps: Steps, states: tuple[Array, ...], step: Step) -> tuple[Array, ...]:
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


def _step(node: _Cell | _Sequence, weights: Array, b: Array, *peepholes: Array) -> Step:
    if isinstance(node, _GRU):
        return _gru_step(node, weights, b)
    if isinstance(node, _LSTM):
        return _lstm_step(node, weights, *peepholes)
    function = _activation(node, 0, node.clip)
    return lambda projected, h: (function(projected + h @ weights),)


def _gru_step(node: _GRU, weights: Array, b: Array) -> Step:
    function, candidate = (_activation(node, index, node.clip) for index in range(2))
    size = node.hidden_size
    gate_weights, candidate_weights = weights[..., : 2 * size], weights[..., 2 * size :]

    def linear_before_reset(projected: Array, h: Array) -> tuple[Array, ...]:
        recurrent = h @ weights
        gates = function(projected[..., : 2 * size] + recurrent[..., : 2 * size])
        z, r = gates[..., :size], gates[..., size:]
        new = candidate(projected[..., 2 * size :] + r * (recurrent[..., 2 * size :] + b[:, None, 3 * size :]))
        return (new + z * (h - new),)

    def reset_first(projected: Array, h: Array) -> tuple[Array, ...]:
        gates = function(projected[..., : 2 * size] + h @ gate_weights)
        z, r = gates[..., :size], gates[..., size:]
        new = candidate(projected[..., 2 * size :] + (r * h) @ candidate_weights)
        return (new + z * (h - new),)

    return linear_before_reset if node.linear_before_reset else reset_first


def _lstm_step(node: _LSTM, weights: Array, *peepholes: Array) -> Step:
    gate, candidate = (_activation(node, index, node.clip) for index in range(2))
    output = _activation(node, 2, 0)  # applied to the cell state, which is not clipped
    size = node.hidden_size
    slices = {letter: slice(k * size, (k + 1) * size) for k, letter in enumerate(node.weights_format)}

    def step(projected: Array, h: Array, c: Array) -> tuple[Array, ...]:
        sums = h @ weights
        sums += projected
        gates = gate(sums)  # the part for c is not used, but one call is faster than three
        i, f, o = (gates[..., slices[letter]] for letter in "ifo")
        c = (1 - i if node.input_forget else f) * c + i * candidate(sums[..., slices["c"]])
        return o * output(c), c

    def step_with_peepholes(projected: Array, h: Array, c: Array) -> tuple[Array, ...]:
        sums = projected + h @ weights
        i, f, o = (sums[..., slices[letter]] for letter in "ifo")
        i = gate(i + p_i * c)
        f = 1 - i if node.input_forget else gate(f + p_f * c)
        c = f * c + i * candidate(sums[..., slices["c"]])
        return gate(o + p_o * c) * output(c), c

    if not peepholes:
        return step
    p_i, p_o, p_f = np.split(peepholes[0][:, None], 3, axis=-1)
    return step_with_peepholes


@evaluates(ops.RNNCell, ops.GRUCell, ops.LSTMCell, ops.LSTMCellV1, in_f32=True)
def recurrent_cell(node: _Cell, x: Array, *inputs: Array) -> list[Array]:
    states, weights = inputs[: node.output_size], [array[None] for array in inputs[node.output_size :]]
    steps = _steps(node, x[:, None], None, *weights[:3])
    _, *ends = _run(steps, tuple(state[None] for state in states), _step(node, steps.weights, *weights[2:]))
    return [state[0] for state in ends]


@evaluates(ops.RNNSequence, ops.GRUSequence, ops.LSTMSequence, ops.PeepholeLSTMSequence, in_f32=True)
def recurrent_sequence(node: _Sequence, x: Array, *inputs: Array) -> list[Array]:
    states, (lengths, *weights) = inputs[: node.output_size - 1], inputs[node.output_size - 1 :]
    steps = _steps(node, x, lengths, *weights[:3])
    hidden, *ends = _run(
        steps, tuple(state.swapaxes(0, 1) for state in states), _step(node, steps.weights, *weights[2:])
    )
    if (lengths == 0).any():
        # As in OpenVINO and ONNX Runtime, the final states of an empty sequence are zeros, not its initial states.
        ends = [np.where(lengths[:, None] == 0, 0, state) for state in ends]
    return [_flipped(node, hidden).transpose(2, 1, 0, 3), *(state.swapaxes(0, 1) for state in ends)]
