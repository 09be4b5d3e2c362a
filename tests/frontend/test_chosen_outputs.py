"""Outputs that the caller chooses: a model reads although operators that they do not need are unknown."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import hetero
from hetero.frontend import FrontEndManager
from hetero.system.errors import FrontendError
from tests.frontend.paddle import test_extensions as paddle
from tests.frontend.pytorch.test_extensions import with_operator
from tests.frontend.stored_calls import read_calls
from tests.frontend.tensorflow.test_damaged_files import CALLING, RECURSIVE, node
from tests.frontend.tensorflow.test_damaged_files import X as TENSORFLOW_X
from tests.frontend.tflite.models import Graph, Op, build, feed, out
from tests.runtime.test_convert import CASES as TORCH_CASES

X = np.float32([-1, 2])
RELU = [np.float32([0, 2])]


def onnx_model():
    branch = helper.make_graph([helper.make_node("Mine", ["y"], ["b"])], "b", [], [_port("b")])
    nodes = [
        helper.make_node("Relu", ["x"], ["y"], name="relu"),
        helper.make_node("Cast", ["y"], ["c"], to=TensorProto.BOOL),
        helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch, name="choice"),
    ]
    graph = helper.make_graph(nodes, "g", [_port("x")], [_port("z")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def _port(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def tensorflow_model():
    """A gradient that trains a variable follows the chosen output."""
    text = TENSORFLOW_X + node("y", "Relu", "x") + node("z", "MyGrad", "y")
    return (text + node("after", "MyUpdate", "z", "^y")).encode()


def tensorflow_function():
    """The chosen output is in a function, which also trains a variable."""
    inner = node("y", "Relu", "a") + node("z", "MyGrad", "y:y:0") + node("after", "MyUpdate", "z:z:0", "^y")
    text = (
        'library { function { signature { name: "train" input_arg { name: "a" type: DT_FLOAT }'
        ' output_arg { name: "r" type: DT_FLOAT } control_output: "after" }'
        f' {inner.replace("node {", "node_def {")} ret {{ key: "r" value: "z:z:0" }}'
        ' control_ret { key: "after" value: "after" } } }'
    )
    step = node("step", "StatefulPartitionedCall", "x", f='func { name: "train" }', Tout="list { type: DT_FLOAT }")
    return (TENSORFLOW_X + step + node("z", "Relu", "step") + text).encode()


def tflite_model():
    data = feed(X)
    relu = Op("RELU", [data], [out(np.float32, (2,), name="y")])
    return build(Graph([relu, Op("Mine", [*relu.outputs], [out(np.float32, (2,), name="z")])])).content


def torch_model():
    return with_operator("torch.ops.mine.grad.default", operator="torch.ops.higher_order.cond")


def torch_call():
    (x, *_), _ = read_calls(TORCH_CASES, "cond")[0]
    return x


MODELS = {
    "onnx": (onnx_model, "y", X, RELU), "onnx, by node": (onnx_model, "relu", X, RELU),
    "tensorflow": (tensorflow_model, "y:0", X, RELU), "tensorflow, by node": (tensorflow_model, "y", X, RELU),
    "tensorflow, in a function": (tensorflow_function, "step/y:0", X, RELU),
    "tflite": (tflite_model, "y", X, RELU),
    "pytorch": (torch_model, "sum_1", torch_call(), [torch_call().sum()]),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_unknown_operators_that_no_chosen_output_needs(name):
    make, output, data, expected = MODELS[name]
    content = make()
    with pytest.raises(FrontendError, match="there is no translation"):
        hetero.convert_model(content)
    model = hetero.convert_model(content, output=output)
    assert len(model.inputs) == 1
    results = hetero.compile_model(model, "TEMPLATE")([data]).to_tuple()
    np.testing.assert_allclose(results, expected, rtol=1e-6)
    with pytest.raises(FrontendError, match="there is no translation"):
        hetero.convert_model(content, output=[output, "z" if name != "pytorch" else "getitem"])


@pytest.mark.parametrize(("form", "logits"), [("pdmodel", "linear_0.tmp_1"), ("json", "add_119")])
def test_unknown_operators_of_paddle(form, logits, tmp_path):
    content, parameters = paddle.renamed(form, "softmax", "my_soft")
    (tmp_path / f"model.{form}").write_bytes(content)
    (tmp_path / "model.pdiparams").write_bytes(parameters)
    compiled = hetero.compile_model(hetero.convert_model(tmp_path / f"model.{form}", output=logits), "TEMPLATE")
    for inputs, outputs in read_calls(paddle.CASES, "light_classifier"):
        exponents = np.exp(compiled(inputs)[0])
        np.testing.assert_allclose(exponents / exponents.sum(1, keepdims=True), outputs[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_outputs_of_an_input_model(name):
    make, output, data, expected = MODELS[name]
    content = make()
    frontend = FrontEndManager().load_by_model(content)
    model = frontend.load(content)
    with pytest.raises(FrontendError, match="there is no translation"):
        frontend.convert(model)
    by_node = model.get_place_by_operation_name if "node" in name else model.get_place_by_tensor_name
    place = by_node(output)
    model.override_all_outputs([place])
    assert model.get_outputs()[0].is_equal_data(place) and place.tensor.element_type is hetero.Type.f32
    results = hetero.compile_model(frontend.convert(model), "TEMPLATE")([data]).to_tuple()
    np.testing.assert_allclose(results, expected, rtol=1e-6)


@pytest.mark.parametrize("output", ["call", "call/call:0", "call/call/call"])
def test_functions_that_call_themselves(output):
    content = (TENSORFLOW_X + node("call", "PartitionedCall", "x", f=CALLING) + RECURSIVE).encode()
    with pytest.raises(FrontendError, match="the function 'f' calls itself"):
        hetero.convert_model(content, output=output)


def test_a_name_that_is_not_in_the_file():
    with pytest.raises(FrontendError, match="there is no translation of ai.onnx.Mine"):
        hetero.convert_model(onnx_model(), output="q")
    known = onnx.load_from_string(onnx_model())
    del known.graph.node[2:]
    known.graph.output[0].name = "y"
    with pytest.raises(FrontendError, match="the model has no tensor 'q'"):
        hetero.convert_model(known, output="q")
