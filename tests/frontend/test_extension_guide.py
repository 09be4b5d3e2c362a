"""Each example of OpenVINO's guide to frontend extensions, with hetero's classes.

https://docs.openvino.ai/nightly/documentation/openvino-extensibility/frontend-extensions.html
The formats that hetero has no frontend for are stood for by a toy with the same ports and the same names.
"""

import numpy as np
import openvino
import openvino.frontend.onnx
import openvino.opset8
import pytest
from onnx import TensorProto, helper

import hetero
from hetero import Core, Op, opset11
from hetero.frontend import ConversionExtension, NamedOutput, OpExtension, framework_map
from hetero.graph import Attribute
from hetero.plugin import installed_plugins
from hetero.system.errors import FrontendError, GraphError
from tests.custom_operations import visited as openvino_style
from tests.frontend.toy import ToyFrontEnd, toy

X = np.float32([-2, -0.5, 0, 0.5, 2])


@pytest.fixture(autouse=True)
def _frontends(monkeypatch):
    """Register frontends for more frameworks like a package does."""
    registry = installed_plugins()
    toys = [lambda name=name: ToyFrontEnd(name) for name in ("paddle", "pytorch", "tensorflow")]
    monkeypatch.setattr(registry, "frontends", [*toys, *registry.frontends])


class SameType(Op):
    """An operation whose outputs are all of the type and shape of its first input."""

    def validate_and_infer_types(self):
        for index in range(self.get_output_size()):
            self.set_output_type(index, self.get_input_element_type(0), self.get_input_partial_shape(0))


class Identity(SameType):
    inputs = ("x",)


class CustomOperation(SameType):
    inputs = ("a", "b?", "c?")
    attr1 = Attribute(str)
    attr2 = Attribute(int)


class TwoOutputs(CustomOperation, type_name="CustomOperation"):
    output_size = 2


class CustomElu(SameType):
    """alpha · (exp(x) - 1) below 0, beta · x above."""

    inputs = ("x",)
    alpha = Attribute(float)
    beta = Attribute(float)


def onnx_model(op_type, domain="", **attributes) -> bytes:
    """Return a model x → y of one operator."""
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in "xy"]
    node = helper.make_node(op_type, ["x"], ["y"], name="mine", domain=domain, **attributes)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("my.domain", 1)]
    graph = helper.make_graph([node], "model", value[:1], value[1:])
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def read(content, *extensions):
    core = Core()
    core.add_extension(extensions)
    return core.read_model(content)


def translated(content, *extensions) -> Op:
    """Return the operation that produces the first output."""
    node = read(content, *extensions).results[0].input_value(0).node
    assert node.friendly_name == "mine"
    return node


def run(content, *extensions, **inputs):
    return Core().compile_model(read(content, *extensions), "TEMPLATE")(inputs or {"x": X})


def run_openvino(content, extension):
    core = openvino.Core()
    core.add_extension(extension)
    return core.compile_model(core.read_model(content), "CPU")([X])[0]


def inputs_of(node):
    return [value.node.friendly_name for value in node.input_values()]


@pytest.mark.parametrize("extension", [OpExtension(Identity, "Identity"), OpExtension(Identity), Identity])
def test_identity_is_mapped_from_onnx(extension):
    assert type(translated(onnx_model("Identity"), extension)) is Identity


@pytest.mark.parametrize("form", [("Relu", "MyRelu"), {"ov_type_name": "Relu", "fw_type_name": "MyRelu"}])
def test_a_standard_operation_by_name(form):
    """Also ``opset8.Relu`` and ``opset8::Relu``, as OpenVINO takes them."""
    arguments, keywords = ((), form) if isinstance(form, dict) else (form, {})
    content = onnx_model("MyRelu", "my.domain")
    expected = run_openvino(content, openvino.frontend.onnx.OpExtension("Relu", "MyRelu", "my.domain"))
    np.testing.assert_array_equal(run(content, OpExtension(*arguments, **keywords))["y"], expected)
    for name in ("opset8.Relu", "opset8::Relu"):
        np.testing.assert_array_equal(run(content, OpExtension(name, "MyRelu"))["y"], expected)


FW_ATTRIBUTES = {"attr1": "fw_attr1", "attr2": "fw_attr2"}


@pytest.mark.parametrize(
    ("attributes", "extension", "expected"),
    [
        ({"attr1": "a", "attr2": 2}, OpExtension(CustomOperation), ("a", 2)),
        ({"fw_attr1": "b", "fw_attr2": 3}, OpExtension(CustomOperation, FW_ATTRIBUTES, {}), ("b", 3)),
        ({"fw_attr1": "c", "attr2": 4}, OpExtension(CustomOperation, {"attr1": "fw_attr1"}, {"attr2": 5}), ("c", 5)),
    ],
)
def test_attributes_by_the_same_name_by_another_name_and_as_a_value(attributes, extension, expected):
    node = translated(onnx_model("CustomOperation", "my.domain", **attributes), extension)
    assert (node.attr1, node.attr2) == expected


@pytest.mark.parametrize(
    ("attributes", "maps", "expected"),
    [
        ({"attr1": "a", "attr2": 2}, [], ("a", 2)),
        ({"fw_attr1": "b", "fw_attr2": 3}, [FW_ATTRIBUTES], ("b", 3)),
        ({"fw_attr1": "c"}, [{"attr1": "fw_attr1"}, {"attr2": 5}], ("c", 5)),
    ],
)
def test_inputs_and_outputs_by_name(attributes, maps, expected):
    """The framework's ports have another order than those of the operation."""
    ports = {"B": ["b"], "C": ["c"], "A": ["a"]}, {"Y": ["second"], "X": ["first"]}
    content = toy("paddle", "CustomOperation", *ports, **attributes)
    model = read(content, OpExtension(TwoOutputs, ["A", "B", "C"], ["X", "Y"], *maps))
    sources = {result.input_value(0).any_name: result.input_value(0) for result in model.results}
    assert sources["first"].index == 0 and sources["second"].index == 1
    node = sources["first"].node
    assert node is sources["second"].node and (node.attr1, node.attr2) == expected
    assert inputs_of(node) == ["a", "b", "c"]


def test_an_attribute_from_an_input_and_one_that_is_constant():
    """aten::elu has alpha as its second input, and two more inputs, 1 and 1, that the operation does not have."""
    constants = {"alpha": 0.25, "scale": 1.0, "input_scale": 1.0}
    content = toy("pytorch", "aten::elu", ["x", "alpha", "scale", "input_scale"], constants=constants)
    node = translated(content, OpExtension(CustomElu, "aten::elu", {"alpha": 1}, {"beta": 1.0}))
    assert inputs_of(node) == ["x"] and node.get_attributes() == {"alpha": 0.25, "beta": 1.0}
    standard = OpExtension("Elu", "aten::elu", {"alpha": 1})
    np.testing.assert_allclose(run(content, standard)["y"], np.where(X > 0, X, 0.25 * np.expm1(X)), rtol=1e-6)
    with pytest.raises(FrontendError, match=r"node 'mine': OpExtension of aten::elu .*: input 1 must be constant"):
        read(toy("pytorch", "aten::elu", ["x", "alpha"]), standard)


@framework_map("onnx", "CustomOp", {"m_mode": "mode"}, {"m_axis": -1}, domain="my.domain")
@framework_map("tensorflow", "CustomOpV3", {"m_axis": "axis"}, {"m_mode": "linear"})
@framework_map("paddle", ["X"], ["Out"], "CustomOp", {"m_mode": "mode"}, {"m_axis": -1})
class CustomOp(SameType):
    inputs = ("x",)
    m_mode = Attribute(str)
    m_axis = Attribute(int)


@pytest.mark.parametrize(
    ("content", "mode", "axis"),
    [
        (onnx_model("CustomOp", "my.domain", mode="cubic", axis=3), "cubic", -1),
        (toy("tensorflow", "CustomOpV3", ["x"], mode="cubic", axis=3), "linear", 3),
        (toy("paddle", "CustomOp", {"X": ["x"]}, {"Out": ["y"]}, mode="cubic", axis=3), "cubic", -1),
    ],
)
def test_one_class_is_mapped_for_three_frameworks(content, mode, axis):
    for extension in (CustomOp, OpExtension(CustomOp)):
        node = translated(content, extension)
        assert type(node) is CustomOp and (node.m_mode, node.m_axis) == (mode, axis)


def test_openvino_framework_map_refuses_an_unknown_framework():
    @framework_map("onx")
    class Misspelled(SameType):
        inputs = ("x",)

    core = Core()
    for extension in (Misspelled, OpExtension(Misspelled), ConversionExtension("A", len, framework="onx")):
        with pytest.raises(FrontendError, match=r"there is no frontend onx; there are .*onnx"):
            core.add_extension(extension)
    for name in ("tf", "tflite", "onnx", "ir"):  # OpenVINO's names are accepted too
        core.add_extension(ConversionExtension("A", len, framework=name))


def test_openvino_framework_map_has_values_only_of_attributes_that_it_does_not_map():
    with pytest.raises(GraphError, match="CustomOp .*: attribute m_axis is in both maps: give its name or its value"):
        framework_map("onnx", "CustomOp", {"m_mode": "mode", "m_axis": "axis"}, {"m_axis": -1})(CustomOp)


class Visited(openvino_style(hetero, attr1="", attr2=0)):
    """As in the guide: visit_attributes shows the attributes, which have no defaults."""


@pytest.mark.parametrize(
    ("attributes", "arguments", "expected"),
    [
        ({"attr1": "a", "attr2": 2}, [], ("a", 2)),
        ({"fw_attr1": "b", "fw_attr2": 3}, [FW_ATTRIBUTES], ("b", 3)),
        ({"attr1": "c"}, [{}, {"attr2": 5}], ("c", 5)),
        ({"attr1": "d"}, [], "attribute attr2 is missing: map it to an attribute, or give a value"),
        ({"attr1": "d", "attr2": 2}, [FW_ATTRIBUTES], "attribute attr1 is missing"),
        ({"attr1": "d", "attr2": 0.7}, [], "attribute attr2 cannot be 0.69999.*, it takes int"),
        ({"attr1": 1, "attr2": 1}, [], "attribute attr1 cannot be 1, it takes str"),
    ],
)
def test_each_attribute_that_visit_attributes_shows_needs_a_value(attributes, arguments, expected):
    content, extension = onnx_model("Visited", "my.domain", **attributes), OpExtension(Visited, *arguments)
    if isinstance(expected, str):
        with pytest.raises(FrontendError, match=f"Visited node 'mine': OpExtension of Visited .*: {expected}"):
            read(content, extension)
    else:
        assert tuple(translated(content, extension).get_attributes().values()) == expected


@pytest.mark.parametrize("value", [1, -1, 0.7, 1.0, "1", [1], "", "tanh"])
@pytest.mark.parametrize(
    ("operation", "attribute"), [("Softmax", "axis"), ("Elu", "alpha"), ("Gelu", "approximation_mode")]
)
def test_attribute_values_are_taken_as_they_are(operation, attribute, value):
    """OpenVINO's OpExtension refuses the same values, except that integers are accepted as numbers here."""
    for attributes, arguments in (({attribute: value}, []), ({}, [{}, {attribute: value}])):
        content = onnx_model("Mine", "my.domain", **attributes)
        found = []
        for module in (openvino, hetero):
            core = module.Core()
            core.add_extension(module.frontend.onnx.OpExtension(operation, "Mine", "my.domain", *arguments))
            try:
                (node,) = [n for n in core.read_model(content).get_ordered_ops() if n.get_type_name() == operation]
                found.append(f"{node.get_attributes()[attribute]}".lower())
            except RuntimeError:
                found.append("error")
        assert found == (["error", f"{float(value)}"] if type(value) is int and operation == "Elu" else [found[0]] * 2)


def test_a_converter_returns_as_many_values_as_the_operator_has_outputs():
    def surplus(node):
        return [opset11.relu(node.get_input(0)).output(0), opset11.exp(node.get_input(0)).output(0)]

    for content in (onnx_model("Mine", "my.domain"), toy("paddle", "Mine", {"X": ["x"]}, {"Out": ["y"]})):
        with pytest.raises(FrontendError, match="ConversionExtension of Mine .*: it returns 2 values, but Mine has 1"):
            read(content, ConversionExtension("Mine", surplus))
    # The other outputs of one operation may be unused.
    extension = ConversionExtension("Mine", lambda node: opset11.split(node.get_input(0), 0, 5).outputs())
    assert type(translated(onnx_model("Mine", "my.domain"), extension)).__name__ == "Split"


def test_a_class_is_mapped_for_no_other_framework():
    @framework_map("onnx")
    class Other(CustomOp):
        pass

    core = Core()
    core.add_extension(Other)
    assert type(core.read_model(onnx_model("Other", m_mode="a", m_axis=1)).results[0].input_value(0).node) is Other
    with pytest.raises(FrontendError, match=r"no translation of Other \('mine'\)"):
        core.read_model(toy("tensorflow", "Other", ["x"], m_mode="a", m_axis=1))


def test_thresholded_relu_by_a_function():
    def convert(node, ops):
        data = node.get_input(0)
        kind = data.get_element_type()
        greater = ops.greater(data, ops.constant([node.get_attribute("alpha")], kind))
        return ops.multiply(data, ops.convert(greater, kind.get_type_name())).outputs()

    content = onnx_model("ThresholdedRelu", alpha=0.25)
    theirs = openvino.frontend.ConversionExtension("ThresholdedRelu", lambda node: convert(node, openvino.opset8))
    ours = ConversionExtension("ThresholdedRelu", lambda node: convert(node, opset11))
    expected = run_openvino(content, theirs)
    np.testing.assert_array_equal(expected, np.where(X > 0.25, X, 0))
    np.testing.assert_array_equal(run(content, ours)["y"], expected)
    kinds = [node.get_type_name() for node in read(content, ours).get_ordered_ops()]
    assert kinds == ["Parameter", "Constant", "Greater", "Convert", "Multiply", "Result"]


def test_hardtanh_takes_its_bounds_from_constant_inputs():
    def convert(node):
        low, high = node.get_values_from_const_input(1), node.get_values_from_const_input(2)
        return opset11.clamp(node.get_input(0), low, high).outputs()

    content = toy("pytorch", "aten::hardtanh", ["x", "low", "high"], constants={"low": -0.75, "high": 1.5})
    extension = ConversionExtension("aten::hardtanh", convert)
    np.testing.assert_array_equal(run(content, extension)["y"], X.clip(-0.75, 1.5))
    with pytest.raises(FrontendError, match="input 2 must be constant"):
        read(toy("pytorch", "aten::hardtanh", ["x", "low", "z"], constants={"low": -0.75}), extension)


def test_topk_with_named_outputs():
    """The outputs of PaddlePaddle's operator have names, and the reverse order of TopK's outputs."""

    def convert(node):
        x, k = node.get_input("X"), node.get_input("K") if node.has_input("K") else node.get_attribute("k")
        top = opset11.topk(x, k, node.get_attribute("axis", -1), "max", "value", "i64")
        return {"Out": [top.output(0)], "Indices": [top.output(1)]}

    ports = {"X": ["x"], "K": ["k"]}, {"Indices": ["i"], "Out": ["v"]}
    for content in (
        toy("paddle", "top_k_v2", *ports, constants={"k": 2}),
        toy("paddle", "top_k_v2", {"X": ["x"]}, ports[1], k=2, axis=0),
    ):
        found = run(content, ConversionExtension("top_k_v2", convert))
        assert found["v"].tolist() == [2, 0.5] and found["i"].tolist() == [4, 3]


def test_topk_with_indexed_and_named_outputs():
    """The outputs of TensorFlow's operator have indices and names."""

    def convert(node):
        top = opset11.topk(node.get_input(0), node.get_input(1), -1, "max", "value", "i32")
        return [NamedOutput("values", top.output(0)), ("indices", top.output(1))]

    content = toy("tensorflow", "TopKV2", ["x", "k"], {"values": ["v"], "indices": ["i"]}, {"k": 3})
    found = run(content, ConversionExtension("TopKV2", convert))
    assert found["v"].tolist() == [2, 0.5, 0] and found["i"].tolist() == [4, 3, 2]
