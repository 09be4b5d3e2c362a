"""Recurrent networks, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops, opset13
from hetero.reference import evaluate
from hetero.system.errors import GraphError
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

N, TIME, FEATURES, HIDDEN = 3, 4, 5, 2
# Number of gates and states, and opset, of each cell.
KINDS = {"rnn": (1, 1, 13), "gru": (3, 1, 13), "lstm": (4, 2, 13)}


def random(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed + len(shape)).standard_normal(shape).astype(dtype)


def weights(gates, *directions, biases=None):
    shapes = [(gates * HIDDEN, FEATURES), (gates * HIDDEN, HIDDEN), ((biases or gates) * HIDDEN,)]
    return [random(*directions, *shape, seed=9) for shape in shapes]


def cell(kind, *attributes, biases=None, **keywords):
    gates, states, opset = KINDS[kind]
    data = [Data(random(N, FEATURES)), *[Data(random(N, HIDDEN, seed=seed)) for seed in range(states)]]
    name = f"{kind}_cell"
    same_results(name, *data, *weights(gates, biases=biases), HIDDEN, *attributes, opset=opset, **keywords)


def sequence(kind, direction, lengths, *attributes, time=TIME, biases=None, **keywords):
    gates, states, opset = KINDS[kind]
    directions = 2 if direction == "bidirectional" else 1
    initial = [Data(random(N, directions, HIDDEN, seed=seed)) for seed in range(states)]
    arguments = [Data(random(N, time, FEATURES)), *initial, Data(np.array(lengths, np.int32))]
    arguments += weights(gates, directions, biases=biases)
    same_results(f"{kind}_sequence", *arguments, HIDDEN, direction, *attributes, opset=opset, **keywords)


@pytest.mark.parametrize("activation", ["tanh", "relu", "sigmoid"])
@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_rnn_cell(activation, clip):
    cell("rnn", [activation], [], [], clip)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("clip", [0.0, 0.5])
@pytest.mark.parametrize("activations", [None, ["tanh", "relu"]])
def test_gru_cell(activations, clip, linear):
    cell("gru", activations, None, None, clip, linear, biases=4 if linear else 3)


@pytest.mark.parametrize("clip", [0.0, 0.5])
@pytest.mark.parametrize("activations", [None, ["tanh", "relu", "sigmoid"]])
def test_lstm_cell(activations, clip):
    cell("lstm", activations, None, None, clip)


@pytest.mark.parametrize("lengths", [[TIME] * N, [2, 4, 1], [3, 3, 3], [0, 4, 0]], ids=str)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", KINDS)
def test_sequences(kind, direction, lengths):
    sequence(kind, direction, lengths)


@pytest.mark.parametrize("time", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_short_sequences(kind, time):
    if time:
        sequence(kind, "bidirectional", [1] * N, time=time)
        return
    # OpenVINO's CPU device rejects data without steps.
    data = [np.zeros((N, 0, FEATURES), np.float32), random(N, 1, HIDDEN), np.zeros(N, np.int32)]
    node = getattr(opset13, f"{kind}_sequence")
    states = [data[1]] * KINDS[kind][1]
    made = node(data[0], *states, data[2], *weights(KINDS[kind][0], 1), HIDDEN, "reverse")
    hidden, *found = results_of(made)
    assert hidden.shape == (N, 1, 0, HIDDEN)
    assert len(found) == len(states)
    assert not np.any(found)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_gru_sequence_with_linear_before_reset(direction):
    sequence("gru", direction, [TIME, 2, 3], None, None, None, 0.3, True, biases=4)


@pytest.mark.parametrize("kind", KINDS)
def test_clipped_sequences_with_activations(kind):
    activations = {"rnn": ["relu"], "gru": ["tanh", "relu"], "lstm": ["tanh", "relu", "sigmoid"]}[kind]
    sequence(kind, "reverse", [TIME, 2, 3], activations, None, None, 0.7)


@pytest.mark.parametrize("dtype", [np.float16])
def test_halves(dtype):
    data = [Data(random(N, FEATURES, dtype=dtype)), *[Data(random(N, HIDDEN, dtype=dtype))] * 2]
    same_results("lstm_cell", *data, *(w.astype(dtype) for w in weights(4)), HIDDEN, tolerance=2e-3)


def test_lstm_cell_of_the_first_operation_set():
    data = [Data(random(N, FEATURES)), *[Data(random(N, HIDDEN, seed=seed)) for seed in range(2)]]
    same_results("lstm_cell", *data, *weights(4), HIDDEN, opset=1)


def test_weights_in_another_order():
    data = [random(N, FEATURES), random(N, HIDDEN), random(N, HIDDEN, seed=1)]
    expected = ops.LSTMCell(*data, *weights(4), HIDDEN)
    order = ["fico".index(letter) for letter in "iofc"]
    turned = [np.concatenate([np.split(w, 4)[index] for index in order]) for w in weights(4)]
    found = ops.LSTMCellV1(*data, *turned, HIDDEN, weights_format="iofc")
    for ours, wanted in zip(results_of(found), results_of(expected), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([None] * 7, ["[?,1,?,2]", "[?,1,2]", "[?,1,2]"]),
        ([[-1, 5, -1], None, None, None, None, None, None], ["[?,1,5,2]", "[?,1,2]", "[?,1,2]"]),
        ([None, [(2, 4), -1, -1], None, [(3, 9)], None, None, None], ["[3..4,1,?,2]", "[3..4,1,2]", "[3..4,1,2]"]),
        ([[1, 5, 4], [1, 1, 2], [1, 1, 2], [1], [1, 8, 4], [1, 8, 2], [1, 8]], ["[1,1,5,2]", "[1,1,2]", "[1,1,2]"]),
    ],
    ids=str,
)
def test_shapes(shapes, expected):
    inputs = [Unknown(shape, np.int32 if index == 3 else np.float32) for index, shape in enumerate(shapes)]
    for given in inputs:
        given.shape = "[...]" if given.shape is None else given.shape
    same_shapes("lstm_sequence", *inputs, HIDDEN, "forward", expected=expected)


GOOD = [[3, 4], [3, 2], [3, 2], [8, 4], [8, 2], [8]]


@pytest.mark.parametrize(
    ("index", "shape"),
    [(0, [3, 4, 5]), (0, [2, 4]), (1, [3]), (2, [4, 2]), (3, [6, 4]), (4, [8, 3]), (5, [6])],
)
def test_shapes_that_do_not_fit(index, shape):
    shapes = [*GOOD[:index], shape, *GOOD[index + 1 :]]
    both_refuse("lstm_cell", *map(Unknown, shapes), HIDDEN)


@pytest.mark.parametrize(
    "attributes",
    [(["tanh", "swish", "tanh"],), (["tanh"],), (["tanh"] * 3, None, None, -1.0)],
    ids=str,
)
def test_attributes_that_do_not_fit(attributes):
    with pytest.raises(GraphError):
        ops.LSTMCell(*(np.zeros(shape, np.float32) for shape in GOOD), HIDDEN, *attributes)


@pytest.mark.parametrize("index", [0, 3])
def test_features_that_differ(index):
    """OpenVINO detects this only when the cell runs."""
    shapes = [*GOOD[:index], [GOOD[index][0], 5], *GOOD[index + 1 :]]
    with pytest.raises(GraphError, match="must have the shape"):
        ops.LSTMCell(*(np.zeros(shape, np.float32) for shape in shapes), HIDDEN)


def test_whole_numbers():
    with pytest.raises(GraphError, match="floating-point"):
        ops.LSTMCell(*(np.zeros(shape, np.int32) for shape in GOOD), HIDDEN)


def test_types_that_do_not_fit():
    both_refuse("lstm_cell", Unknown(GOOD[0], np.float16), *map(Unknown, GOOD[1:]), HIDDEN)


def results_of(node):
    return evaluate(node, [value.node.data for value in node.input_values()])
