"""RNN, GRU and LSTM: sequences, and cells as sequences of one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, emitter
from hetero.graph import is_constant

_NAMES = {
    "hardsigmoid": "HardSigmoid", "leakyrelu": "LeakyRelu", "scaledtanh": "ScaledTanh",
    "thresholdedrelu": "ThresholdedRelu",
}  # fmt: skip
_WITH_ALPHA = ("affine", "elu", "hardsigmoid", "leakyrelu", "scaledtanh", "thresholdedrelu")
_WITH_BETA = ("affine", "hardsigmoid", "scaledtanh")


@emitter(ops.RNNSequence, ops.GRUSequence, ops.LSTMSequence, ops.PeepholeLSTMSequence)
def sequence(node: NodeWriter) -> Sequence[str]:
    op = node.op
    states = op.input_index("sequence_lengths") - 1
    data = node.transpose(node.input(0), [1, 0, 2])
    initial = [node.transpose(node.input(1 + index), [1, 0, 2]) for index in range(states)]
    outputs = _recurrent(node, data, initial, node.converted(1 + states, Type.i32), 2 + states, op.direction)
    return [node.transpose(outputs[0], [2, 1, 0, 3]), *(node.transpose(state, [1, 0, 2]) for state in outputs[1:])]


@emitter(ops.RNNCell, ops.GRUCell, ops.LSTMCell, ops.LSTMCellV1)
def cell(node: NodeWriter) -> Sequence[str]:
    states = node.op.output_size
    data, *initial = (node.add("Unsqueeze", node.input(index), [0]) for index in range(1 + states))
    outputs = _recurrent(node, data, initial, None, 1 + states, None)
    return [node.add("Squeeze", state, [0]) for state in outputs[1:]]


def _recurrent(
    node: NodeWriter, data: str, initial: Sequence[str], lengths: Argument, first_weight: int, direction: str | None
) -> list[str]:
    """Add the ONNX node: data ``[time, batch, size]``, states ``[directions, batch, size]``."""
    op = node.op
    gates = _gates(op)
    name = type(op).__name__.removesuffix("V1").removesuffix("Sequence").removesuffix("Cell").removeprefix("Peephole")
    is_cell = direction is None
    w, r, bias = (_reordered(node, first_weight + index, gates, is_cell) for index in range(3))
    # ONNX has a bias of the data and one of the state; only linear_before_reset needs both.
    hidden = op.hidden_size * op.gates
    directions = 2 if direction == "bidirectional" else 1
    zeros = np.zeros((directions, hidden), node.kind(0).to_dtype())
    of_data: Argument = bias
    of_state: Argument = zeros
    if op.linear_before_reset:
        of_data = node.add("Slice", bias, [0], [hidden], [1])
        of_state = node.add(
            "Concat",
            zeros[:, op.hidden_size :],
            node.add("Slice", bias, [hidden], [hidden + op.hidden_size], [1]),
            axis=1,
        )
    peepholes = None
    if op.input_names[-1].strip("?") == "P" and op.has_input("P"):
        peepholes = node.input(op.input_index("P"))
        peepholes = node.add("Unsqueeze", peepholes, [0]) if is_cell else peepholes
    cell_state = [initial[1], peepholes] if len(initial) > 1 else []
    both = node.add("Concat", of_data, of_state, axis=1)
    return node.add_outputs(
        1 + len(initial), name, data, w, r, both, lengths, initial[0], *cell_state,
        hidden_size=op.hidden_size, direction=direction, clip=op.clip or None,
        linear_before_reset=1 if op.linear_before_reset else None,
        input_forget=1 if getattr(op, "input_forget", False) else None, **_activations(op, directions),
    )  # fmt: skip


def _gates(op: Any) -> list[int]:
    """Return the order of the gates: ONNX has i, o, f, c for an LSTM, and the same as the operation for others."""
    return [op.weights_format.index(gate) for gate in "iofc"] if op.gates == 4 else list(range(op.gates))


def _reordered(node: NodeWriter, index: int, gates: Sequence[int], is_cell: bool) -> Argument:
    """Return weights or biases with the gates in another order, and an axis of directions."""
    source, size = node.op.input_value(index), node.op.hidden_size
    rows = np.concatenate([np.arange(gate * size, (gate + 1) * size) for gate in gates])
    in_order = list(gates) == sorted(gates)
    if is_constant(source):
        array = source.node.data[None] if is_cell else source.node.data
        return array if in_order else array[:, rows]
    value = node.add("Unsqueeze", node.input(index), [0]) if is_cell else node.input(index)
    return value if in_order else node.add("Gather", value, rows, axis=1)


def _activations(op: Any, directions: int) -> dict[str, Any]:
    """Return the activations of all directions; only those that take an alpha or a beta have one in the lists."""
    names = [*op.activations] * directions
    attributes: dict[str, Any] = {"activations": [_NAMES.get(name, name.capitalize()) for name in names]}
    for key, takes, numbers in (
        ("activation_alpha", _WITH_ALPHA, op.activations_alpha), ("activation_beta", _WITH_BETA, op.activations_beta)
    ):  # fmt: skip
        if numbers:
            attributes[key] = [float(number) for name, number in zip(names, [*numbers] * directions) if name in takes]
    return attributes
