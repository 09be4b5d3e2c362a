"""RNN, GRU and LSTM against ONNX Runtime."""

import numpy as np
import pytest
from onnx import helper

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, make_model, run_onnxruntime, run_reference

TIME, N, FEATURES, HIDDEN = 4, 3, 5, 2
# The gates and the functions of one direction.
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": ["Relu"], "GRU": ["Tanh", "Relu"], "LSTM": ["Tanh", "Relu", "Sigmoid"]}
OPTIONAL = ("B", "sequence_lens", "initial_h", "initial_c", "P")


def random(*shape, seed=0):
    return np.random.default_rng(seed + len(shape)).standard_normal(shape).astype(np.float32)


def tensors(op_type, directions, layout=0):
    gates = GATES[op_type] * HIDDEN
    state = (N, directions, HIDDEN) if layout else (directions, N, HIDDEN)
    return {
        "X": random(*((N, TIME) if layout else (TIME, N)), FEATURES),
        "W": random(directions, gates, FEATURES),
        "R": random(directions, gates, HIDDEN, seed=1),
        "B": random(directions, 2 * gates),
        "sequence_lens": np.array([2, 4, 3], np.int32),
        "initial_h": random(*state, seed=2),
        "initial_c": random(*state, seed=3),
        "P": random(directions, 3 * HIDDEN, seed=4),
    }


def compare(op_type, given=OPTIONAL, opset=14, direction="forward", fed=("X",), lengths=(2, 4, 3), **attributes):
    """The inputs in ``fed`` are inputs of the model, the others are constants."""
    values = tensors(op_type, 2 if direction == "bidirectional" else 1, attributes.get("layout", 0))
    values["sequence_lens"] = np.array(lengths, np.int32)
    slots = ["X", "W", "R", *OPTIONAL][: 8 if op_type == "LSTM" else 6]
    names = [name if name in ("X", "W", "R") or name in given else "" for name in slots]
    outputs = ["Y", "Y_h", "Y_c"][: 3 if op_type == "LSTM" else 2]
    node = helper.make_node(op_type, names, outputs, direction=direction, hidden_size=HIDDEN, **attributes)
    inputs = {name: values[name] for name in names if name in fed}
    constants = {name: values[name] for name in names if name and name not in fed}
    model = make_model([node], inputs, outputs, constants, opset)
    shapes = {name: [None] * array.ndim for name, array in inputs.items()}
    dynamic = make_model([node], inputs, outputs, constants, opset, shapes)
    expected = run_onnxruntime(model, inputs)
    for proto in (model, dynamic):
        assert_close(run_reference(OnnxFrontEnd().convert(proto), inputs), expected, 1e-5)


EACH = pytest.mark.parametrize("op_type", GATES)


@EACH
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("given", [(), ("B",), ("B", "sequence_lens"), ("initial_h",), OPTIONAL], ids=",".join)
def test_inputs(op_type, direction, given):
    compare(op_type, given, direction=direction)


@EACH
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_a_sequence_without_steps(op_type, direction):
    compare(op_type, direction=direction, lengths=(0, 4, 0))


@EACH
@pytest.mark.parametrize("opset", [7, 14, 22])
def test_versions(op_type, opset):
    compare(op_type, opset=opset)


@EACH
def test_all_inputs_are_fed(op_type):
    compare(op_type, fed=("X", "W", "R", *OPTIONAL))


@EACH
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_activations_and_clip(op_type, direction):
    directions = 2 if direction == "bidirectional" else 1
    compare(op_type, direction=direction, activations=FUNCTIONS[op_type] * directions, clip=0.4)


@EACH
def test_different_activations_per_direction(op_type):
    functions = FUNCTIONS[op_type] + ["Sigmoid", "Tanh", "Tanh"][: len(FUNCTIONS[op_type])]
    compare(op_type, direction="bidirectional", activations=functions)


@pytest.mark.parametrize(
    ("function", "alpha", "beta"),
    [
        ("Affine", [0.5], [0.1]), ("LeakyRelu", [0.2], []), ("LeakyRelu", [], []), ("ThresholdedRelu", [0.1], []),
        ("ScaledTanh", [0.5], [0.6]), ("HardSigmoid", [0.3], [0.4]), ("HardSigmoid", [], []), ("Elu", [0.7], []),
        ("Softsign", [], []), ("Softplus", [], []), ("Sigmoid", [], []),
    ],
)  # fmt: skip
def test_functions(function, alpha, beta):
    numbers = {"activation_alpha": alpha, "activation_beta": beta}
    compare("RNN", activations=[function], **{name: values for name, values in numbers.items() if values})


def test_alpha_and_beta_go_to_the_activations_that_have_them():
    compare("LSTM", activations=["Sigmoid", "LeakyRelu", "Elu"], activation_alpha=[0.3, 0.6])


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_linear_before_reset(direction):
    compare("GRU", direction=direction, linear_before_reset=1)


@pytest.mark.parametrize("given", [(), OPTIONAL], ids=["none", "all"])
def test_input_forget(given):
    compare("LSTM", given, direction="bidirectional", input_forget=1)


@EACH
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_batch_first_layout(op_type, direction):
    """ONNX Runtime does not support this layout: the results are the transposed results of the other layout."""
    gates = slice(None, 8 if op_type == "LSTM" else 6)
    values = tensors(op_type, 2 if direction == "bidirectional" else 1)
    outputs = ["Y", "Y_h", "Y_c"][: 3 if op_type == "LSTM" else 2]
    found = []
    for layout in (0, 1):
        node = helper.make_node(
            op_type, list(values)[gates], outputs, direction=direction, hidden_size=HIDDEN, layout=layout
        )
        inputs = {name: values[name] for name in list(values)[gates]}
        for name in {"X", "initial_h", "initial_c"} & inputs.keys():
            inputs[name] = inputs[name].swapaxes(0, 1) if layout else inputs[name]
        model = OnnxFrontEnd().convert(make_model([node], inputs, outputs, opset=14))
        found.append(run_reference(model, inputs))
    time_first, batch_first = found
    np.testing.assert_allclose(batch_first["Y"], time_first["Y"].transpose(2, 0, 1, 3), rtol=1e-6)
    for name in outputs[1:]:
        np.testing.assert_allclose(batch_first[name], time_first[name].swapaxes(0, 1), rtol=1e-6)


def test_too_few_functions():
    inputs = {name: array for name, array in tensors("GRU", 1).items() if name in "XWR"}
    node = helper.make_node("GRU", ["X", "W", "R"], ["Y"], activations=["Tanh"])
    with pytest.raises(FrontendError, match="activations must be 2 names"):
        OnnxFrontEnd().convert(make_model([node], inputs, ["Y"]))
