"""Recurrent networks: RNN, GRU and LSTM as cells, for one step, and as sequences of steps.

Weights ``W`` of the data, ``R`` of the state and biases ``B`` hold the gates one after the other: z, r, h of
a GRU, f, i, c, o of an LSTM.
"""

from __future__ import annotations

from hetero.errors import GraphError
from hetero.graph import Attribute, Op, choice, floats, texts
from hetero.ops.checks import check_type, common_type
from hetero.shape import Dimension, PartialShape
from hetero.types import Type

# The functions that activations may name; ONNX has all of them, OpenVINO the first four.
ACTIVATIONS = (
    "sigmoid", "tanh", "relu", "hardsigmoid",
    "affine", "elu", "leakyrelu", "scaledtanh", "softplus", "softsign", "thresholdedrelu",
)  # fmt: skip

# The dimensions of each input by letters: batch, directions, time, features of the data, hidden size, gates, biases.
_OF_CELL = {
    "X": "bi", "initial_hidden_state": "bh", "initial_cell_state": "bh", "W": "gi", "R": "gh", "B": "a", "P": "p",
}  # fmt: skip
_OF_SEQUENCE = {
    "X": "bti", "initial_hidden_state": "bdh", "initial_cell_state": "bdh", "sequence_lengths": "b",
    "W": "dgi", "R": "dgh", "B": "da", "P": "dp",
}  # fmt: skip


class _Recurrent(Op):
    """What recurrent operations share: attributes, and dimensions that inputs have in common."""

    gates = 1
    default_activations: tuple[str, ...] = ("tanh",)
    linear_before_reset = False
    dimensions_of_inputs = _OF_CELL

    hidden_size = Attribute(int)
    activations = Attribute(texts, None)
    activations_alpha = Attribute(floats, None)
    activations_beta = Attribute(floats, None)
    clip = Attribute(float, 0.0)

    def complete_attributes(self) -> None:
        self.activations = tuple(name.lower() for name in self.activations or self.default_activations)
        self.activations_alpha, self.activations_beta = self.activations_alpha or (), self.activations_beta or ()
        for name in self.activations:
            if name not in ACTIVATIONS:
                self.fail(f"activation {name} is none of {', '.join(ACTIVATIONS)}")
        if len(self.activations) != len(self.default_activations):
            self.fail(f"it takes {len(self.default_activations)} activations, but has {list(self.activations)}")
        if self.clip < 0:
            self.fail(f"clip must not be negative, but is {self.clip}")

    def dimensions(self, **known: int) -> dict[str, Dimension]:
        """Batch ``b``, time ``t``, directions ``d`` and so on, from all inputs. Raises GraphError where they differ."""
        self.complete_attributes()
        hidden = self.hidden_size
        biases = self.gates + 1 if self.linear_before_reset else self.gates
        known |= {"h": hidden, "g": self.gates * hidden, "a": biases * hidden, "p": 3 * hidden}
        found = {letter: Dimension(length) for letter, length in known.items()}
        for index, name in enumerate(declared.strip("?") for declared in self.inputs_declared[: self.get_input_size()]):
            letters, shape = self.dimensions_of_inputs[name], self.get_input_partial_shape(index)
            wanted = PartialShape([found.get(letter, Dimension()) for letter in letters])
            try:
                found |= dict(zip(letters, wanted.merge(shape)))
            except GraphError:
                self.fail(f"{name} must have the shape {wanted}, but has {shape}")
        return found

    def state_type(self) -> Type:
        """The element type of data, states and weights. Raises GraphError where they differ."""
        indices = [i for i in range(self.get_input_size()) if self.inputs_declared[i] != "sequence_lengths"]
        check_type(self, indices, Type.is_real, "a floating-point number")
        return common_type(self, indices)


class _Cell(_Recurrent):
    """One step: data ``[N, features]`` and states ``[N, hidden_size]`` to new states."""

    def validate_and_infer_types(self) -> None:
        batch, element_type = self.dimensions()["b"], self.state_type()
        for index in range(self.output_size):
            self.set_output_type(index, element_type, [batch, self.hidden_size])


class _Sequence(_Recurrent):
    """Steps of data ``[N, time, features]``; states are ``[N, directions, hidden_size]``.

    Output 0 is the hidden state after every step ``[N, directions, time, hidden_size]``, zero after the end of a
    shorter sequence; the others are the states after the last step, zero for a sequence without any.
    """

    dimensions_of_inputs = _OF_SEQUENCE
    direction = Attribute(choice("forward", "reverse", "bidirectional"))
    output_size = 2

    def validate_and_infer_types(self) -> None:
        found = self.dimensions(d=2 if self.direction == "bidirectional" else 1)
        lengths = self.input_index("sequence_lengths")
        check_type(self, (lengths,), lambda kind: kind in (Type.i32, Type.i64), "i32 or i64")
        element_type, hidden = self.state_type(), self.hidden_size
        self.set_output_type(0, element_type, [found["b"], found["d"], found["t"], hidden])
        for index in range(1, self.output_size):
            self.set_output_type(index, element_type, [found["b"], found["d"], hidden])


class RNNCell(_Cell, opset=1):
    """f(X·Wᵀ + H·Rᵀ + B)."""

    inputs = ("X", "initial_hidden_state", "W", "R", "B")
    hidden_size = Attribute(int)
    activations = Attribute(texts)
    activations_alpha = Attribute(floats)
    activations_beta = Attribute(floats)
    clip = Attribute(float, 0.0)


class RNNSequence(_Sequence, opset=5):
    """RNNCell over time."""

    inputs = ("X", "initial_hidden_state", "sequence_lengths", "W", "R", "B")
    parameter_order = (
        *inputs, "hidden_size", "direction", "activations", "activations_alpha", "activations_beta", "clip",
    )  # fmt: skip


class _GRU(_Recurrent):
    """z and r are f(X·Wᵀ + H·Rᵀ + B), h is g(X·Wᵀ + (r∘H)·Rᵀ + B), and the new state (1 - z)∘h + z∘H.

    With linear_before_reset h is g(X·Wᵀ + B + r∘(H·Rᵀ + B')), and B has four parts, the last one B'.
    """

    gates = 3
    default_activations = ("sigmoid", "tanh")
    linear_before_reset = Attribute(bool, False)


class GRUCell(_GRU, _Cell, opset=3):
    """One step of a GRU."""

    inputs = ("X", "initial_hidden_state", "W", "R", "B")
    parameter_order = (
        *inputs, "hidden_size", "activations", "activations_alpha", "activations_beta", "clip", "linear_before_reset",
    )  # fmt: skip


class GRUSequence(_GRU, _Sequence, opset=5):
    """GRUCell over time."""

    inputs = ("X", "initial_hidden_state", "sequence_lengths", "W", "R", "B")
    parameter_order = (
        *inputs, "hidden_size", "direction", "activations", "activations_alpha", "activations_beta", "clip",
        "linear_before_reset",
    )  # fmt: skip


class _LSTM(_Recurrent):
    """f, i, o are σ(X·Wᵀ + H·Rᵀ + B), c is g(the same), the cell state C = f∘C + i∘c, the hidden one o∘h(C)."""

    gates = 4
    default_activations = ("sigmoid", "tanh", "tanh")
    # The gates in the order in which weights hold them, and whether f is 1 - i.
    weights_format = "fico"
    input_forget = False


class LSTMCell(_LSTM, _Cell, opset=4):
    """One step of an LSTM."""

    inputs = ("X", "initial_hidden_state", "initial_cell_state", "W", "R", "B")
    output_size = 2


class LSTMCellV1(_LSTM, _Cell, opset=1, type_name="LSTMCell"):
    """One step of an LSTM with peepholes: ``P`` are weights of the cell state in the gates i, o and f."""

    inputs = ("X", "initial_hidden_state", "initial_cell_state", "W", "R", "B", "P?")
    output_size = 2
    weights_format = Attribute(choice("fico", "icof", "ifco", "ifoc", "iofc"), "fico")
    input_forget = Attribute(bool, False)
    parameter_order = (
        "X", "initial_hidden_state", "initial_cell_state", "W", "R", "B", "hidden_size", "activations",
        "activations_alpha", "activations_beta", "clip", "P", "weights_format", "input_forget",
    )  # fmt: skip


class LSTMSequence(_LSTM, _Sequence, opset=5):
    """LSTMCell over time."""

    inputs = ("X", "initial_hidden_state", "initial_cell_state", "sequence_lengths", "W", "R", "B")
    output_size = 3
    parameter_order = (
        *inputs, "hidden_size", "direction", "activations", "activations_alpha", "activations_beta", "clip",
    )  # fmt: skip


class PeepholeLSTMSequence(_LSTM, _Sequence):
    """LSTMSequence with peepholes as those of LSTMCellV1, and f = 1 - i with input_forget. ONNX has it."""

    inputs = (*LSTMSequence.inputs_declared, "P")
    output_size = 3
    input_forget = Attribute(bool, False)
