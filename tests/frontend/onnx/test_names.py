"""Names, shapes and metadata of converted ONNX models."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.frontend.onnx import OnnxFrontEnd
from hetero.frontend.onnx.writer import model_proto
from tests import zoo
from tests.frontend.onnx.compare import make_model, run_reference

DATA = np.ones((2, 4), np.float32)


def convert(nodes, **keywords):
    return OnnxFrontEnd().convert(make_model(nodes, {"x": DATA}, **keywords))


def names_of(model):
    return {node.friendly_name: set(node.output(0).names) for node in model.get_ordered_ops()}


def test_nodes_values_and_pieces():
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["product"], name="gemm", alpha=2.0),
        helper.make_node("Relu", ["product"], ["y"]),
    ]
    weights = {"w": np.ones((4, 3), np.float32), "b": np.ones(3, np.float32)}
    assert names_of(convert(nodes, initializers=weights)) == {
        "x": {"x"},
        "w": {"w"},
        "b": {"b"},
        "gemm/MatMul": set(),
        "gemm/Multiply": set(),
        "gemm/Constant": set(),
        "gemm": {"product"},
        "y": {"y"},
        "y/result": {"y"},
    }


def test_identity_and_dropout_only_add_names():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="relu"),
        helper.make_node("Identity", ["a"], ["b"], name="identity"),
        helper.make_node("Dropout", ["b"], ["c"], name="dropout"),
        helper.make_node("Abs", ["c"], ["d"], name="abs"),
    ]
    model = convert(nodes, outputs=("d", "b", "c"))
    assert names_of(model)["relu"] == {"a", "b", "c"}
    assert [output.any_name for output in model.outputs] == ["d", "b", "c"]
    assert list(run_reference(model, {"x": DATA})) == ["d", "b", "c"]


def test_all_friendly_names_differ():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="same"),
        helper.make_node("Relu", ["a"], ["b"], name="same"),
        helper.make_node("Relu", ["b"], ["c"], name="x"),
        helper.make_node("Add", ["c", "x_1"], ["same_1"]),
        helper.make_node("Gemm", ["same_1", "w"], ["d"], name="g", alpha=2.0),
        helper.make_node("Gemm", ["same_1", "w"], ["e"], name="g", alpha=2.0),
    ]
    weights = {"x_1": np.ones(4, np.float32), "w": np.ones((4, 4), np.float32)}
    model = convert(nodes, initializers=weights, outputs=("d", "e"))
    names = [node.friendly_name for node in model.get_ordered_ops()]
    assert len(set(names)) == len(names)
    assert names[0] == "x"
    assert {"same", "g"} <= set(names)


def test_friendly_names_of_zoo_models_are_unique():
    for name in zoo.ONNX:
        model = OnnxFrontEnd().convert(zoo.path(name))
        names = [node.friendly_name for node in model.get_ordered_ops()]
        assert len(set(names)) == len(names), name
        proto = onnx.load(zoo.path(name))
        assert [o.any_name for o in model.outputs] == [o.name for o in proto.graph.output]
        initializers = {i.name for i in proto.graph.initializer}
        assert [i.any_name for i in model.inputs] == [i.name for i in proto.graph.input if i.name not in initializers]


def test_shapes_and_types_of_inputs():
    shapes = {"a": ["batch", 3, None, -1], "b": None, "c": []}
    types = {"a": TensorProto.FLOAT16, "b": TensorProto.INT64, "c": TensorProto.BOOL}
    inputs = [helper.make_tensor_value_info(name, types[name], shape) for name, shape in shapes.items()]
    nodes = [helper.make_node("Identity", [name], [name + name]) for name in shapes]
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name=name + name) for name in shapes])
    model = OnnxFrontEnd().convert(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    a, b, c = model.inputs
    assert list(a.partial_shape) == [Dimension(), 3, Dimension(), Dimension()]
    assert not b.partial_shape.has_rank
    assert c.partial_shape == []
    assert [i.element_type for i in model.inputs] == [Type.f16, Type.i64, Type.boolean]


def test_names_of_dimensions():
    """They are kept and shown, also for outputs that depend on the inputs, but say nothing about equal lengths."""
    shape = ["batch", 3, "side", None]
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("ReduceSum", ["x", "axes"], ["z"], keepdims=0)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "y")]
    infos += [helper.make_tensor_value_info("s", TensorProto.FLOAT, ["side", "side"])]
    nodes += [helper.make_node("Identity", ["s"], ["t"])]
    graph = helper.make_graph(
        nodes, "g", [infos[0], infos[2]], [infos[1], *(onnx.ValueInfoProto(name=name) for name in "zt")],
        [numpy_helper.from_array(np.array([1]), "axes")],
    )  # fmt: skip
    model = OnnxFrontEnd().convert(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])).clone()
    assert [port.partial_shape.described() for port in model.inputs] == ["[batch,3,side,?]", "[side,side]"]
    assert [port.partial_shape.described() for port in model.outputs] == [
        "[batch,3,side,?]", "[batch,side,?]", "[side,side]",
    ]  # fmt: skip
    assert str(model.input(0).partial_shape) == "[?,3,?,?]"  # as OpenVINO writes it
    first, second = model.input(1).partial_shape
    assert first.get_symbol() is not second.get_symbol()
    written = [
        [d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim] for i in model_proto(model).graph.input
    ]
    assert written == [["batch", 3, "side", "x_3"], ["side", "side"]]
    model.reshape({"x": [(1, 8), 3, -1, 5]})
    assert model.input(0).partial_shape.described() == "[1..8,3,?,5]"


def test_inputs_with_initializers_are_constants():
    proto = make_model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": DATA}, initializers={"w": DATA})
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, DATA.shape))
    assert [i.any_name for i in OnnxFrontEnd().convert(proto).inputs] == ["x"]


def test_metadata():
    proto = make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": DATA})
    proto.graph.name, proto.producer_name, proto.producer_version = "the graph", "the maker", "3.1"
    proto.metadata_props.add(key="character", value="a\nb")
    model = OnnxFrontEnd().convert(proto)
    assert model.friendly_name == "the graph"
    assert model.get_rt_info(["framework", "character"]).astype(str) == "a\nb"  # as in OpenVINO
    assert (model.rt_info["producer_name"], model.rt_info["producer_version"]) == ("the maker", "3.1")


def test_characters_of_text_recognition():
    model = OnnxFrontEnd().convert(zoo.path("ocr_recognition"))
    # The network tells apart these characters, a blank and a space.
    assert len(model.rt_info["framework"]["character"].value.splitlines()) + 2 == 18710
