"""Operators of ai.onnx.ml on maps against ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import hetero
from hetero.frontend.onnx.writer import save_onnx
from hetero.system.errors import FrontendError, HeteroError
from tests.frontend.onnx.compare import run_onnxruntime

P = np.float32([[0.9, 0.1], [0.25, 0.75], [0.5, 0.5]])
FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING


def map_type(key, value):
    return helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))


def model_of(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    domains = [helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=domains, ir_version=8)


def ml(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, domain="ai.onnx.ml", **attributes)


def zip_model(shape=(None, 2), key=INT64, **labels):
    """The probabilities as they are, and as maps."""
    nodes = [helper.make_node("Neg", ["x"], ["p"]), ml("ZipMap", ["p"], ["maps"], **labels)]
    maps = helper.make_value_info("maps", helper.make_sequence_type_proto(map_type(key, FLOAT)))
    outputs = [helper.make_tensor_value_info("p", FLOAT, shape), maps]
    return model_of(nodes, [helper.make_tensor_value_info("x", FLOAT, shape)], outputs)


ZIPPED = {
    "integers": (zip_model(classlabels_int64s=[3, -4]), P),
    "strings": (zip_model(key=STRING, classlabels_strings=["no", "yes"]), P),
    "no rows": (zip_model(classlabels_int64s=[3, 4]), P[:0]),
    "one row": (zip_model((2,), classlabels_int64s=[3, 4]), P[0]),
}


@pytest.mark.parametrize("device", ["TEMPLATE", "CPU", "HETERO:GPU,TEMPLATE"])
@pytest.mark.parametrize("name", ZIPPED)
def test_maps_of_rows(name, device):
    proto, x = ZIPPED[name]
    expected = run_onnxruntime(proto, {"x": x})
    results = hetero.Core().compile_model(proto, device)({"x": x})
    np.testing.assert_array_equal(results["p"], expected["p"])
    assert results["maps"] == expected["maps"]
    assert all(
        type(key) in (int, str) and type(number) is float for row in results["maps"] for key, number in row.items()
    )


def test_the_array_alone():
    """Without the output of maps, the model is what skl2onnx writes with zipmap=False, and any device runs it."""
    model = hetero.Core().read_model(ZIPPED["integers"][0])
    array = hetero.Model([model.output("p").node.input_value(0)], model.get_parameters())
    assert "ZipMap" not in [node.get_type_name() for node in array.get_ordered_ops()]
    np.testing.assert_array_equal(hetero.Core().compile_model(array, "GPU")([P])[0], -P)


def test_results_are_the_users_own():
    request = hetero.Core().compile_model(ZIPPED["integers"][0], "TEMPLATE").create_infer_request()
    first = request.infer([P])["maps"]
    first[0][3] = 7.0
    assert request.infer([P])["maps"][0][3] == -P[0, 0]


def test_wrong_number_of_labels():
    with pytest.raises(FrontendError, match="the numbers of columns and keys"):
        hetero.Core().read_model(zip_model(classlabels_int64s=[1, 2, 3]))


def map_model(kind, key, value, **attributes):
    infos = [helper.make_value_info("x", map_type(key, value))]
    return model_of([ml(kind, ["x"], ["y"], **attributes)], infos, [onnx.ValueInfoProto(name="y")])


WORDS = {"a": 1.5, "c": -2.5, "other": 9.0}
NUMBERS = {3: 1.5, 0: -2.25, 2: 7.0}
TAKEN = {
    "texts": ("DictVectorizer", STRING, WORDS, {"string_vocabulary": ["a", "b", "c"]}),
    "numbers": ("DictVectorizer", INT64, NUMBERS, {"int64_vocabulary": [2, 5, 3]}),
    **{
        f"{form} {cast}": ("CastMap", INT64, NUMBERS, {"map_form": form, "cast_to": cast, "max_map": 6})
        for form in ("DENSE", "SPARSE")
        for cast in ("TO_FLOAT", "TO_INT64", "TO_STRING")
    },
    "fewer than the keys": ("CastMap", INT64, NUMBERS, {"map_form": "SPARSE", "max_map": 3}),
    "defaults": ("CastMap", INT64, NUMBERS, {}),
}


@pytest.mark.parametrize("name", TAKEN)
def test_maps_as_inputs(name):
    """ONNX Runtime takes only maps to f32 from Python."""
    kind, key, value, attributes = TAKEN[name]
    proto = map_model(kind, key, FLOAT, **attributes)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": value})
    found = hetero.Core().compile_model(proto, "TEMPLATE")({"x": value})[0]
    assert (found.shape, found.tolist()) == (expected.shape, expected.tolist())
    assert found.dtype == expected.dtype or (found.dtype.kind, expected.dtype.kind) == ("U", "O")


OTHER_TYPES = {
    "whole numbers": ("DictVectorizer", STRING, INT64, {"b": 7}, {"string_vocabulary": ["a", "b"]}, [[0, 7]]),
    "doubles": ("DictVectorizer", INT64, TensorProto.DOUBLE, {5: 0.1}, {"int64_vocabulary": [5, 6]}, [[0.1, 0]]),
    "texts": ("DictVectorizer", INT64, STRING, {5: "x"}, {"int64_vocabulary": [5, 6]}, [["x", ""]]),
    "numbers of texts": (
        "CastMap", INT64, STRING, {2: "1.5", 0: "-3"}, {"map_form": "SPARSE", "max_map": 3}, [[-3, 0, 1.5]]),
    "whole numbers of texts": (
        "CastMap", INT64, STRING, {2: "9007199254740993"}, {"cast_to": "TO_INT64"}, [[2**53 + 1]]),
    "texts of texts": ("CastMap", INT64, STRING, {2: "b", 1: "a"}, {"cast_to": "TO_STRING"}, [["a", "b"]]),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_TYPES)
def test_maps_of_other_types(name):
    kind, key, value, given, attributes, expected = OTHER_TYPES[name]
    found = hetero.Core().compile_model(map_model(kind, key, value, **attributes), "TEMPLATE")({"x": given})[0]
    assert found.tolist() == expected


WRONG = {
    "no map": ([1.0], "takes a dictionary, not list"),
    "keys": ({1: 1.0}, "takes keys of type string, not of int64"),
    "values": ({"a": "b"}, "takes values of type f32, not of <U1"),
}


@pytest.mark.parametrize(("value", "message"), WRONG.values(), ids=WRONG)
def test_wrong_maps(value, message):
    compiled = hetero.Core().compile_model(
        map_model("DictVectorizer", STRING, FLOAT, string_vocabulary=["a"]), "TEMPLATE"
    )
    with pytest.raises(HeteroError, match=message):
        compiled({"x": value})


def test_a_vectorizer_of_a_tensor_is_refused():
    infos = [helper.make_tensor_value_info("x", FLOAT, [2])]
    node = ml("DictVectorizer", ["x"], ["y"], string_vocabulary=["a"])
    with pytest.raises(FrontendError, match="DictVectorizer node 'y': input 0 must be a map, but is f32"):
        hetero.Core().read_model(model_of([node], infos, [onnx.ValueInfoProto(name="y")]))


def test_maps_are_written(tmp_path):
    proto = ZIPPED["strings"][0]
    save_onnx(hetero.Core().read_model(proto), tmp_path / "m.onnx")
    written = run_onnxruntime(str(tmp_path / "m.onnx"), {"x": P})
    assert written["maps"] == run_onnxruntime(proto, {"x": P})["maps"]
    vectorizer = map_model("DictVectorizer", STRING, FLOAT, string_vocabulary=["a", "b", "c"])
    save_onnx(hetero.Core().read_model(vectorizer), tmp_path / "m.onnx")
    assert run_onnxruntime(str(tmp_path / "m.onnx"), {"x": WORDS})["y"].tolist() == [[1.5, 0, -2.5]]
