"""Recurrent networks, compared with OpenVINO, or with TEMPLATE for what OpenVINO lacks."""

import numpy as np
import pytest

from hetero import Parameter, Type, ops
from tests.ops.oracle import Data

N, TIME, FEATURES = 3, 4, 5
# The number of gates and of states of each kind.
KINDS = {"rnn": (1, 1), "gru": (3, 1), "lstm": (4, 2)}
# Hidden sizes: not a multiple of the vector width, and smaller than a vector.
SIZES = [35, 2]


def random(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(np.float32) / 2


def weights(gates, hidden, *directions, biases=None):
    shapes = [(gates * hidden, FEATURES), (gates * hidden, hidden), ((biases or gates) * hidden,)]
    return [random(*directions, *shape) for shape in shapes]


def cell(kind, hidden, biases=None):
    """The inputs of a cell, and its hidden size."""
    gates, states = KINDS[kind]
    initial = [random(N, hidden, seed=seed) for seed in range(states)]
    return [*map(Data, (random(N, FEATURES), *initial)), *weights(gates, hidden, biases=biases), hidden]


def sequence(kind, hidden, direction, lengths, biases=None, time=TIME):
    """The inputs of a sequence, its hidden size and direction."""
    (gates, states), directions = KINDS[kind], 2 if direction == "bidirectional" else 1
    initial = [random(N, directions, hidden, seed=seed) for seed in range(states)]
    data = [*map(Data, (random(N, time, FEATURES), *initial, np.array(lengths, np.int32)))]
    return [*data, *weights(gates, hidden, directions, biases=biases), hidden, direction]


@pytest.mark.parametrize("hidden", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_cells(openvino_agrees, kind, hidden):
    more = [["tanh"], [], []] if kind == "rnn" else []
    openvino_agrees(f"{kind}_cell", *cell(kind, hidden), *more)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("rnn", [["relu"], [], [], 0.5]), ("gru", [["tanh", "relu"], None, None, 0.4, False]),
        ("gru", [["sigmoid", "tanh"], None, None, 0.4, True]), ("lstm", [["tanh", "relu", "sigmoid"], None, None, 0.3]),
    ],
)  # fmt: skip
def test_clipped_cells_with_activations(openvino_agrees, kind, more):
    openvino_agrees(f"{kind}_cell", *cell(kind, 5, biases=4 if more[-1] is True else None), *more)


@pytest.mark.parametrize("lengths", [[TIME] * N, [2, 4, 1], [0, 4, 0]], ids=str)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", KINDS)
def test_sequences(openvino_agrees, kind, direction, lengths):
    openvino_agrees(f"{kind}_sequence", *sequence(kind, 18, direction, lengths))


@pytest.mark.parametrize("direction", ["reverse", "bidirectional"])
def test_sequences_of_gru_with_linear_before_reset(openvino_agrees, direction):
    more = [None, None, None, 0.3, True]
    openvino_agrees("gru_sequence", *sequence("gru", 18, direction, [4, 2, 3], biases=4), *more)


def parameters_of(arrays):
    return [Parameter(Type(array.dtype), array.shape) for array in arrays]


@pytest.mark.parametrize("operation", [ops.RNNSequence, ops.GRUSequence, ops.LSTMSequence])
@pytest.mark.parametrize("time", [0, 1])
def test_lengths_of_64_bits_and_few_steps(template_agrees, operation, time):
    """All inputs are Parameters, so even the weights are transposed on the device."""
    kind = operation.__name__[:-8].lower()
    inputs = sequence(kind, 6, "bidirectional", [time] * N, time=time)[:-2]
    arrays = [array.array if isinstance(array, Data) else array for array in inputs]
    arrays = [array.astype(np.int64) if array.dtype == np.int32 else array for array in arrays]
    parameters = parameters_of(arrays)
    more = [["tanh"]] if kind == "rnn" else []
    template_agrees(operation(*parameters, 6, "bidirectional", *more), parameters, arrays)


@pytest.mark.parametrize(("kind", "tolerance"), [(Type.f16, 1e-3), (Type.bf16, 8e-3), (Type.f64, 1e-14)], ids=str)
@pytest.mark.parametrize("operation", [ops.GRUSequence, ops.LSTMSequence, ops.RNNCell, ops.GRUCell, ops.LSTMCell])
def test_types(template_agrees, operation, kind, tolerance):
    """States are rounded only in the results, so the error does not grow with the number of steps."""
    name = operation.__name__.lower()
    if name.endswith("sequence"):
        inputs = sequence(name[:-8], 18, "forward", [9, 5, 7], time=9)[:-2]
        more = ["forward"]
    else:
        inputs, more = cell(name[:-4], 18)[:-1], []
    arrays = [array.array if isinstance(array, Data) else array for array in inputs]
    arrays = [array.astype(kind.to_dtype()) if array.dtype == np.float32 else array for array in arrays]
    parameters = parameters_of(arrays)
    if operation is ops.RNNCell:
        more = [["tanh"], [], []]
    template_agrees(operation(*parameters, 18, *more), parameters, arrays, tolerance)


@pytest.mark.parametrize("activation", [
    "affine", "elu", "hardsigmoid", "leakyrelu", "relu", "scaledtanh", "sigmoid", "softplus", "softsign", "tanh",
    "thresholdedrelu",
])  # fmt: skip
@pytest.mark.parametrize("numbers", [([], []), ([0.3], [0.6])], ids=["default", "given"])
def test_all_activations(template_agrees, activation, numbers):
    inputs = cell("rnn", 7)[:-1]
    arrays = [array.array if isinstance(array, Data) else array for array in inputs]
    arrays[0][0, 0] = np.nan
    parameters = parameters_of(arrays)
    node = ops.RNNCell(*parameters, 7, [activation], *numbers, 1.5)
    template_agrees(node, parameters, arrays)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("order", ["fico", "icof", "iofc"])
def test_first_lstm_cell_with_peepholes(template_agrees, order, coupled):
    inputs = cell("lstm", 7)[:-1]
    arrays = [*(array.array if isinstance(array, Data) else array for array in inputs), random(21)]
    parameters = parameters_of(arrays)
    *rest, peepholes = parameters
    node = ops.LSTMCellV1(*rest, 7, P=peepholes, weights_format=order, input_forget=coupled)
    template_agrees(node, parameters, arrays)


@pytest.mark.parametrize("coupled", [False, True])
def test_sequences_with_peepholes(template_agrees, coupled):
    inputs = sequence("lstm", 7, "bidirectional", [4, 0, 2])[:-2]
    arrays = [*(array.array if isinstance(array, Data) else array for array in inputs), random(2, 21)]
    parameters = parameters_of(arrays)
    node = ops.PeepholeLSTMSequence(
        *parameters, hidden_size=7, direction="bidirectional", clip=0.8, input_forget=coupled
    )
    template_agrees(node, parameters, arrays)
