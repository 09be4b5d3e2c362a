"""Recurrent networks: RNN, GRU and LSTM cells (one step) and sequences (all steps).

The gates are concatenated in the input weights ``W``, the recurrent weights ``R`` and the biases ``B``: z, r, h for a
GRU, f, i, c, o for an LSTM.
"""

from __future__ import annotations

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice, floats, texts
from hetero.ops.checks import check_type, common_type, is_index
from hetero.system.errors import GraphError

# Accepted names of activation functions; ONNX has all of them, OpenVINO the first four.
ACTIVATIONS = (
    "sigmoid", "tanh", "relu", "hardsigmoid",
    "affine", "elu", "leakyrelu", "scaledtanh", "softplus", "softsign", "thresholdedrelu",
)  # fmt: skip

# The dimensions of each input, one letter each: (b)atch, (d)irections, (t)ime, (i)nput size, (h)idden size,
# (g)ates · hidden size, bi(a)ses, (p)eepholes.
_CELL_DIMENSIONS = {
    "X": "bi", "initial_hidden_state": "bh", "initial_cell_state": "bh", "W": "gi", "R": "gh", "B": "a", "P": "p",
}  # fmt: skip
_SEQUENCE_DIMENSIONS = {
    "X": "bti", "initial_hidden_state": "bdh", "initial_cell_state": "bdh", "sequence_lengths": "b",
    "W": "dgi", "R": "dgh", "B": "da", "P": "dp",
}  # fmt: skip


# The attributes of sequences, in the order of OpenVINO's factories.
_SEQUENCE_ATTRIBUTES = (
    "hidden_size", "direction", "activations", "activations_alpha", "activations_beta", "clip",
)  # fmt: skip


class Recurrent(Op):
    """Base of recurrent operations.

    - ``hidden_size``: the length of a state.
    - ``activations``: the names of the functions, f first; None for sigmoid, then tanh. More of them are ignored, as
      in OpenVINO.
    - ``activations_alpha``, ``activations_beta``: the parameters of the activations that have some, in order.
    - ``clip``: if positive, arguments of activations are clamped to -clip … clip.
    - ``X``: the data.
    - ``initial_hidden_state``, ``initial_cell_state``: the states H and C before the first step.
    - ``W``, ``R``, ``B``: the weights of the data, the weights of the hidden state, and the biases, for each gate in
      the order of the weights.
    - ``sequence_lengths``: ``[N]``, the number of steps of each sequence.
    - ``P``: the weights of the cell state in the gates i, o and f.
    - ``linear_before_reset``: whether the reset gate multiplies after the product with ``R``.
    - ``input_forget``: whether f is computed as 1 - i.
    - ``weights_format``: the order of the gates in the weights.
    """

    gates = 1
    default_activations: tuple[str, ...] = ("tanh",)
    linear_before_reset = False
    dimensions_of_inputs = _CELL_DIMENSIONS

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
        if len(self.activations) < len(self.default_activations):
            self.fail(f"it needs {len(self.default_activations)} activations, but has {list(self.activations)}")
        self.activations = self.activations[: len(self.default_activations)]
        if self.clip < 0:
            self.fail(f"clip must not be negative, but is {self.clip}")

    def dimensions(self, **known: int) -> dict[str, Dimension]:
        """Return the dimensions by letter, merged from all inputs. Raises GraphError if they are inconsistent."""
        self.complete_attributes()
        hidden = self.hidden_size
        biases = self.gates + 1 if self.linear_before_reset else self.gates
        known |= {"h": hidden, "g": self.gates * hidden, "a": biases * hidden, "p": 3 * hidden}
        merged = {letter: Dimension(length) for letter, length in known.items()}
        for index, name in enumerate(declared.strip("?") for declared in self.input_names[: self.get_input_size()]):
            letters, shape = self.dimensions_of_inputs[name], self.get_input_partial_shape(index)
            expected = PartialShape([merged.get(letter, Dimension()) for letter in letters])
            try:
                merged |= dict(zip(letters, expected.merge(shape)))
            except GraphError:
                self.fail(f"{name} must have the shape {expected}, but has {shape}")
        return merged

    def state_type(self) -> Type:
        """Return the common element type of data, states and weights. Raises GraphError if they differ."""
        indices = [i for i in range(self.get_input_size()) if self.input_names[i] != "sequence_lengths"]
        check_type(self, indices, Type.is_real, "a floating-point number")
        return common_type(self, indices)


class _Cell(Recurrent):
    """Base of cells: data ``[N, input_size]`` and states ``[N, hidden_size]`` to new states ``[N, hidden_size]``."""

    def validate_and_infer_types(self) -> None:
        batch, element_type = self.dimensions()["b"], self.state_type()
        for index in range(self.output_size):
            self.set_output_type(index, element_type, [batch, self.hidden_size])


class _Sequence(Recurrent):
    """Base of sequences: data ``[N, time, input_size]``, states ``[N, directions, hidden_size]``.

    Output 0 is the hidden state after every step, ``[N, directions, time, hidden_size]``, zero beyond the end of a
    shorter sequence. The others are the states after the last step, zero for an empty sequence.

    - ``direction``: forward, reverse, or bidirectional with two of each weight: for the steps in order and in reverse.
    """

    dimensions_of_inputs = _SEQUENCE_DIMENSIONS
    direction = Attribute(choice("forward", "reverse", "bidirectional"))
    output_size = 2

    def validate_and_infer_types(self) -> None:
        dimensions = self.dimensions(d=2 if self.direction == "bidirectional" else 1)
        lengths = self.input_index("sequence_lengths")
        check_type(self, (lengths,), is_index, "i32 or i64")
        element_type, hidden = self.state_type(), self.hidden_size
        batch, directions = dimensions["b"], dimensions["d"]
        self.set_output_type(0, element_type, [batch, directions, dimensions["t"], hidden])
        for index in range(1, self.output_size):
            self.set_output_type(index, element_type, [batch, directions, hidden])


class RNNCell(_Cell, opset=1):
    """f(X·Wᵀ + H·Rᵀ + B).

    - ``activations``: the name of the function f.
    - ``activations_alpha``, ``activations_beta``: the parameters of the activation, if it has some.
    """

    input_names = ("X", "initial_hidden_state", "W", "R", "B")
    activations = Attribute(texts)
    activations_alpha = Attribute(floats)
    activations_beta = Attribute(floats)


class RNNSequence(_Sequence, opset=5):
    """RNNCell applied to every step of a sequence."""

    input_names = ("X", "initial_hidden_state", "sequence_lengths", "W", "R", "B")
    parameter_order = (*input_names, *_SEQUENCE_ATTRIBUTES)


class _GRU(Recurrent):
    """Base of GRU operations.

    z and r are f(X·Wᵀ + H·Rᵀ + B), h is g(X·Wᵀ + (r∘H)·Rᵀ + B); the new state is (1 - z)∘h + z∘H.
    With linear_before_reset, h is g(X·Wᵀ + B + r∘(H·Rᵀ + B')), and B has four parts, the last of which is B'.
    """

    gates = 3
    default_activations = ("sigmoid", "tanh")
    linear_before_reset = Attribute(bool, False)


class GRUCell(_GRU, _Cell, opset=3):
    """One step of a GRU."""

    input_names = ("X", "initial_hidden_state", "W", "R", "B")
    parameter_order = (
        *input_names, "hidden_size", "activations", "activations_alpha", "activations_beta", "clip",
        "linear_before_reset",
    )  # fmt: skip


class GRUSequence(_GRU, _Sequence, opset=5):
    """GRUCell applied to every step of a sequence."""

    input_names = ("X", "initial_hidden_state", "sequence_lengths", "W", "R", "B")
    parameter_order = (*input_names, *_SEQUENCE_ATTRIBUTES, "linear_before_reset")


class _LSTM(Recurrent):
    """Base of LSTM operations.

    f, i and o are σ(X·Wᵀ + H·Rᵀ + B), c is g(X·Wᵀ + H·Rᵀ + B); the new cell state is C' = f∘C + i∘c, the new hidden
    state o∘h(C').
    """

    gates = 4
    default_activations = ("sigmoid", "tanh", "tanh")
    # The order of the gates in the weights, and whether f is computed as 1 - i.
    weights_format = "fico"
    input_forget = False


class LSTMCell(_LSTM, _Cell, opset=4):
    """One step of an LSTM."""

    input_names = ("X", "initial_hidden_state", "initial_cell_state", "W", "R", "B")
    output_size = 2


class LSTMCellV1(_LSTM, _Cell, opset=1, type_name="LSTMCell"):
    """One step of an LSTM with peepholes: ``P`` has the weights of the cell state in the gates i, o and f."""

    input_names = ("X", "initial_hidden_state", "initial_cell_state", "W", "R", "B", "P?")
    output_size = 2
    weights_format = Attribute(choice("fico", "icof", "ifco", "ifoc", "iofc"), "fico")
    input_forget = Attribute(bool, False)
    parameter_order = (
        "X", "initial_hidden_state", "initial_cell_state", "W", "R", "B", "hidden_size", "activations",
        "activations_alpha", "activations_beta", "clip", "P", "weights_format", "input_forget",
    )  # fmt: skip


class LSTMSequence(_LSTM, _Sequence, opset=5):
    """LSTMCell applied to every step of a sequence."""

    input_names = ("X", "initial_hidden_state", "initial_cell_state", "sequence_lengths", "W", "R", "B")
    output_size = 3
    parameter_order = (*input_names, *_SEQUENCE_ATTRIBUTES)


class PeepholeLSTMSequence(_LSTM, _Sequence):
    """ONNX's LSTM: LSTMSequence with the peepholes of LSTMCellV1, and f = 1 - i if input_forget is set."""

    input_names = (*LSTMSequence.input_names, "P")
    output_size = 3
    input_forget = Attribute(bool, False)
