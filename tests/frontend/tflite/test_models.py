"""LiteRT can run the models that the helpers of these tests build."""

import ml_dtypes
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from tests.frontend.tflite.litert import DEFAULT, FAST, REFERENCE, LiteRT, assert_close
from tests.frontend.tflite.models import Graph, Op, Signature, build, chain, constant, feed, model_of, out, variable


def run(model, resolver=REFERENCE):
    return LiteRT(model.content, resolver)(model.inputs)


def only(outputs):
    (array,) = outputs.values()
    return array


@pytest.mark.parametrize("resolver", [REFERENCE, FAST, DEFAULT])
def test_options_by_name(resolver):
    a, b = np.array([[1, -2]], np.float32), np.array([1], np.float32)
    model = model_of("ADD", feed(a), constant(b), fused_activation_function="RELU")
    np.testing.assert_array_equal(only(run(model, resolver)), [[2, 0]])


def test_shapes_of_results_are_in_the_model():
    content = model_of("GREATER", feed((2, 3)), constant(0.0)).content
    tensors = schema.ModelT.InitFromPackedBuf(content).subgraphs[0].tensors
    assert [tensor.shape.tolist() for tensor in tensors if tensor.type == schema.TensorType.BOOL] == [[2, 3]]


def test_quantized_along_an_axis():
    weights = constant(np.array([[1, 2], [3, 4]], np.int8), scale=[0.5, 0.25], axis=0)
    inputs = feed(np.array([[10, 20]], np.int8), scale=0.1, zero_point=2)
    model = model_of("FULLY_CONNECTED", inputs, weights, None, outputs=[out(np.int8, scale=0.1, zero_point=-1)])
    real = (np.array([[10, 20]]) - 2) * 0.1 @ (np.array([[1, 2], [3, 4]]) * [[0.5], [0.25]]).T
    assert model.quantized == set(run(model))
    np.testing.assert_array_equal(only(run(model)), np.round(real / 0.1) - 1)


def test_chain_of_operators():
    model = chain(feed((2, 8)), ("ABS", {}), ("SQRT", {}), ("SOFTMAX", {"beta": 1.0}))
    (data,) = model.inputs.values()
    powers = np.exp(np.sqrt(np.abs(data)))
    np.testing.assert_allclose(only(run(model)), powers / powers.sum(1, keepdims=True), rtol=1e-5)


def test_packed_integers():
    values = np.array([-8, 7, -1, 3, 5], ml_dtypes.int4)
    model = model_of("DEQUANTIZE", constant(values, scale=0.5), outputs=[out(np.float32)])
    np.testing.assert_array_equal(only(run(model)), [-4, 3.5, -0.5, 1.5, 2.5])


def test_strings():
    words = np.array(["a", "", "longer"], object)
    model = model_of("GATHER", constant(words), feed(np.array([2, 0, 1], np.int32)), outputs=[out(object)], axis=0)
    assert only(run(model)).tolist() == [b"longer", b"a", b""]


def test_dimensions_that_change():
    model = model_of("NEG", feed((1, 3), signature=(-1, 3)))
    (name,) = model.inputs
    data = np.ones((4, 3), np.float32)
    np.testing.assert_array_equal(only(LiteRT(model.content)({name: data})), -data)


def test_bodies_and_signatures():
    count = feed((), np.int32)
    condition = Graph([Op("LESS", [count, constant(10)])], name="condition")
    counted = feed((), np.int32)
    body = Graph([Op("ADD", [counted, constant(3)], [out(np.int32, ())])], name="body")
    start = feed(np.array(0, np.int32))
    loop = Op("WHILE", [start], [out(np.int32, ())], cond_subgraph_index=condition, body_subgraph_index=body)
    model = build(Graph([loop]), [Signature("count", {"start": start}, {"end": loop.outputs[0]})])
    assert only(run(model)) == 12
    runner = Interpreter(model_content=model.content).get_signature_runner("count")
    assert runner(start=np.array(8, np.int32)) == {"end": 11}


def test_variables_keep_their_contents():
    x, state = feed(np.ones((1, 2), np.float32)), variable((1, 2))
    weights = constant(np.eye(2, dtype=np.float32))
    model = model_of("RNN", x, weights, weights, constant(np.zeros(2, np.float32)), state)
    oracle = LiteRT(model.content)
    assert [only(oracle(model.inputs)).tolist() for _ in range(3)] == [[[1, 1]], [[2, 2]], [[3, 3]]]


def test_custom_operators_and_their_options():
    with pytest.raises(RuntimeError, match="unresolved custom op: Mine"):
        run(model_of("Mine", feed((1,)), outputs=[out(np.float32, (1,))], scale=2.0, label="b"))


def test_options_that_are_not_there():
    with pytest.raises(AssertionError, match="ADD has no option beta"):
        model_of("ADD", feed((1,)), feed((1,)), beta=1)


@pytest.mark.parametrize(
    ("found", "expected", "quantized"),
    [
        (np.float32([1.0, 2.1]), np.float32([1.0, 2.0]), ()),
        (np.float32([1.0, np.inf]), np.float32([1.0, 2.0]), ()),
        (np.int8([1, 2]), np.int8([1, 3]), ()),
        (np.int8([1, 2]), np.int8([1, 4]), ("y",)),
        (np.int8([-128]), np.int8([127]), ("y",)),
        (np.int16([1]), np.int8([1]), ("y",)),
        (np.ones((1, 2), np.float32), np.ones(2, np.float32), ()),
    ],
)
def test_what_differs_is_found(found, expected, quantized):
    with pytest.raises(AssertionError):
        assert_close({"y": found}, {"y": expected}, quantized)


def test_what_is_close_enough():
    found = {"y": np.int8([1, 2]), "z": np.float32([1, 2.00001])}
    assert_close(found, {"y": np.int8([1, 3]), "z": np.float32([1, 2])}, {"y"})
