"""OnnxNodeContext, as translators and extensions use it."""

import numpy as np
import onnx
import pytest
from onnx import helper

from hetero import Core, Type, ops
from hetero.frontend import ConversionExtension, OpExtension
from hetero.system.errors import FrontendError

FLOATS = np.float32([[1.5, 2], [3, 4]])


def read(extension, op_type, inputs, outputs, **attributes):
    """The model of one operator of ONNX's, which an extension translates."""
    node = helper.make_node(op_type, inputs, outputs, name="mine", **attributes)
    value = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [5]) for name in ("x", *filter(None, outputs))]
    constants = {"low": np.float32(-1), "high": np.float32(1), "k": np.int64([2])}
    initializers = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph([node], "model", value[:1], value[1:], initializers)
    core = Core()
    core.add_extension(extension)
    return core.read_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def seen(look, op_type="Clip", inputs=("x", "", "high"), outputs=("y",), domain="", opset=17, **attributes):
    """What ``look`` finds of a node; "x" is the model's input, "low", "high", "floats" and "texts" are constants."""
    constants = {"low": np.float32(-1), "high": np.float32(6), "floats": FLOATS, "texts": np.array(["a", "b"])}
    found = []

    def convert(node):
        found.append(look(node))
        return [ops.Relu(node.get_input(0)) for _ in outputs]

    node = helper.make_node(op_type, inputs, outputs, name="mine", domain=domain, **attributes)
    value = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [5]) for name in ("x", outputs[0])]
    initializers = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph([node], "model", value[:1], value[1:], initializers)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("my.domain", 3)]
    core = Core()
    core.add_extension(ConversionExtension(op_type, convert))
    core.read_model(helper.make_model(graph, opset_imports=imports))
    return found[0]


def raises(look, message, **node):
    with pytest.raises(FrontendError, match=message):
        seen(look, **node)


def test_type_version_and_domain():
    assert seen(lambda n: (n.name, n.get_op_type(), n.get_domain(), n.get_opset_version())) == ("mine", "Clip", "", 17)
    assert seen(lambda n: (n.get_domain(), n.get_opset_version()), "Own", domain="my.domain") == ("my.domain", 3)


def test_inputs_have_the_names_of_the_specification():
    assert seen(lambda n: [n.has_input(name) for name in ("input", "min", "max")]) == [True, False, True]
    assert seen(lambda n: [n.has_input(index) for index in (0, 1, 2, 3, -1)]) == [True, False, True, False, False]
    assert seen(lambda n: n.get_input("input") == n.get_input(0) and n.get_input("max") == n.get_input(2))
    assert seen(lambda n: n.get_optional_input("min") is n.get_optional_input(1) is None)
    assert seen(lambda n: (n.get_input_size(), n.get_input_size("max"))) == (3, 1)
    assert seen(lambda n: n.get_input_size("max"), inputs=["x", "low"]) == 0
    # As the operator was in the model's operator set: Clip had no such inputs then.
    raises(lambda n: n.has_input("max"), "there is no 'max': the names are input", opset=6)


def test_variadic_inputs():
    concat = {"op_type": "Concat", "inputs": ["x", "high", "low"], "axis": 0}
    assert seen(lambda n: n.get_input_size("inputs"), **concat) == 3
    assert seen(lambda n: [n.get_input("inputs", i) for i in range(3)] == n.get_inputs(), **concat)
    raises(lambda n: n.get_input("inputs", 3), "value 3 of input 'inputs' is missing", **concat)


def test_outputs_have_names_too():
    assert seen(lambda n: n.get_output_names(), "TopK", ["x", "high"], ["v", "i"]) == ["Values", "Indices"]
    assert seen(lambda n: n.get_output_size("Indices"), "TopK", ["x", "high"], ["v", "i"]) == 1
    split = [["x"], ["a", "", "c"]]
    assert seen(lambda n: (n.get_output_names(), n.get_output_size("outputs")), "Split", *split) == (["outputs"], 3)
    assert seen(lambda n: [n.has_output(index) for index in range(4)], "Split", *split) == [True, False, True, False]


def test_unknown_operators_have_no_port_names():
    raises(lambda n: n.get_input("X"), "inputs of Own have no names: use an index instead of 'X'", op_type="Own")
    raises(lambda n: n.get_output_size("Y"), "outputs of Own have no names", op_type="Own")
    assert seen(lambda n: n.get_output_names(), "Own") == []


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1.5, None, 1.5), (1.5, int, 1), (3, float, 3.0), (3, str, "3"), (3, Type.f32, 3.0), (2.75, Type.i64, 2),
        ([1, 2], None, (1, 2)), ([1, 2], float, (1.0, 2.0)), ([1, 2], str, ("1", "2")), ("5", int, 5),
        (1, bool, True), ([0.5, 2.5], np.int32, (0, 2)),
    ],
)  # fmt: skip
def test_attributes_as_a_type(value, dtype, expected):
    """Elements one by one, as openvino 2026.4 gives them with dtype, in tuples in the place of its lists."""
    found = seen(lambda n: n.get_attribute("a", dtype=dtype), a=value)
    assert found == expected and type(found) is type(expected)
    if isinstance(found, tuple):
        assert [type(element) for element in found] == [type(element) for element in expected]


def test_attributes_with_defaults():
    assert seen(lambda n: (n.get_attribute("a", 7), n.get_attribute("b", None)), a=1) == (1, None)
    raises(lambda n: n.get_attribute("b"), "attribute b is missing", a=1)
    raises(lambda n: n.get_attribute("a", dtype=int), "attribute a is 'x', which cannot be int", a="x")


def test_constant_inputs():
    inputs = {"inputs": ["x", "", "high", "floats", "texts"], "op_type": "Own"}
    assert seen(lambda n: n.get_values_from_const_input(2), **inputs) == 6.0
    assert seen(lambda n: n.get_values_from_const_input(3), **inputs) == [1.5, 2, 3, 4]
    assert seen(lambda n: n.get_values_from_const_input(3, dtype=int), **inputs) == [1, 2, 3, 4]
    assert seen(lambda n: n.get_values_from_const_input(4), **inputs) == ["a", "b"]
    assert seen(lambda n: [n.get_values_from_const_input(place, "none") for place in (1, 5)], **inputs) == ["none"] * 2
    assert seen(lambda n: n.get_values_from_const_input("max")) == 6.0
    raises(lambda n: n.get_values_from_const_input(0, 1.0), "input 0 must be constant")
    raises(lambda n: n.get_values_from_const_input(1), "input 1 is missing")


def test_graphs_among_the_attributes():
    value = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [5]) for name in "ab"]
    body = helper.make_graph([helper.make_node("Neg", ["a"], ["b"])], "body", value[:1], value[1:])
    own = {"op_type": "Own", "inputs": ["x"], "body": body, "alpha": 1.0}

    def look(node):
        graph = node.get_subgraph(0)
        (inlined,) = graph.inline([node.get_input(0)], node.name)
        parameter = ops.Parameter(Type.f32, [5])
        model = graph.build([parameter], [parameter]).model
        types = [n.get_type_name() for n in model.get_ordered_ops()]
        return node.get_subgraph_size(), graph.name, graph.input_count, inlined.node.get_type_name(), types

    assert seen(look, **own) == (1, "body", 1, "Negative", ["Parameter", "Negative", "Result"])
    raises(lambda n: n.get_subgraph(1), "it has 1 graphs, none of index 1", **own)
    assert seen(lambda n: n.get_subgraph_size()) == 0


def test_extensions_by_the_names_of_the_specification():
    """In any order, and without the outputs that the model leaves out."""

    def convert(node):
        top = ops.TopK(node.get_input("X"), node.get_values_from_const_input("K")[0], -1, "max", "value", "i64")
        return {"Indices": top.output(1), "Values": top.output(0)}

    model = read(ConversionExtension("TopK", convert), "TopK", ["x", "k"], ["v", "i"])
    assert [result.input_value(0).index for result in model.results] == [0, 1]
    (named,) = read(OpExtension("Elu", ["X"], ["Y"]), "Elu", ["x"], ["y"], alpha=2.0).results
    assert named.input_value(0).node.alpha == 2
    with pytest.raises(FrontendError, match="Elu node 'mine': OpExtension of Elu .*: there is no 'A': the names are X"):
        read(OpExtension("Elu", ["A"], ["Y"]), "Elu", ["x"], ["y"], alpha=2.0)


def test_extensions_with_attributes_from_inputs():
    clip = OpExtension("Clamp", "Clip", {"min": 1, "max": 2})
    (result,) = read(clip, "Clip", ["x", "low", "high"], ["y"]).results
    assert result.input_value(0).node.get_attributes() == {"min": -1, "max": 1}
    with pytest.raises(FrontendError, match="Clamp: attribute max_value is missing"):
        read(clip, "Clip", ["x", "low"], ["y"])
