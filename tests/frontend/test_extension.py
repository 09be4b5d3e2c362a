"""Frontend extensions: translations of unknown operators, and other translations of known ones."""

import logging
import re
from pathlib import Path

import numpy as np
import onnx
import openvino.frontend.onnx
import pytest
from onnx import TensorProto, helper

import hetero
from hetero import Core, Op, ops
from hetero.frontend import ConversionExtension, NamedOutput, OpExtension, ProgressReporterExtension
from hetero.frontend import onnx as onnx_frontend
from hetero.graph import Attribute
from hetero.plugin import installed_plugins
from hetero.system.errors import FrontendError, GraphError
from tests.custom_operations import visited

X = np.float32([-2, -0.5, 0, 0.5, 2])


class CustomElu(Op):
    """alpha · (exp(x) − 1) below 0, beta · x above."""

    inputs = ("x",)
    alpha = Attribute(float)
    beta = Attribute(float, 1.0)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


Visited = visited(hetero, alpha=1.0, mode="plain")


def model(op_type, domain="my.domain", inputs=1, **attributes) -> bytes:
    """Return a model x → y of one operator."""
    node = helper.make_node(op_type, ["x"] * inputs, ["y"], name="mine", domain=domain, **attributes)
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in "xy"]
    graph = helper.make_graph([node], "model", value[:1], value[1:])
    imports = [helper.make_opsetid(name, 17 if name == "" else 1) for name in {"", domain}]
    return helper.make_model(graph, opset_imports=imports).SerializeToString()


def read(content, *extensions):
    core = Core()
    for extension in extensions:
        core.add_extension(extension)
    return core.read_model(content)


def translated(content, *extensions) -> Op:
    """Return the operation that produces y."""
    node = read(content, *extensions).results[0].input_value(0).node
    assert node.friendly_name == "mine"
    return node


def run(content, *extensions):
    return Core().compile_model(read(content, *extensions), "TEMPLATE")(X)["y"]


def thresholded(node):
    greater = ops.Greater(node.get_input(0), np.float32(node.get_attribute("alpha")))
    return ops.Multiply(node.get_input(0), ops.Convert(greater, "f32"))


@pytest.mark.parametrize(
    ("op_type", "attributes", "extension", "expected"),
    [
        ("MyRelu", {}, OpExtension("Relu", "MyRelu"), np.maximum(X, 0)),
        ("MyRelu", {}, onnx_frontend.OpExtension("opset1.Relu", "MyRelu", "my.domain"), np.maximum(X, 0)),
        ("Relu", {}, OpExtension("Relu"), np.maximum(X, 0)),
        ("Cut", {"lo": -1.0, "max_value": 1.0}, OpExtension("Clamp", "Cut", {"min_value": "lo"}), X.clip(-1, 1)),
        ("Cut", {"min": -1.0, "m": 1.0}, OpExtension("Clamp", "Cut", {"max": "m"}), X.clip(-1, 1)),
        ("Cut", {"max_value": 1.0}, OpExtension("Clamp", "Cut", None, {"min": -1}), X.clip(-1, 1)),
        ("MyElu", {"beta": 3.0}, OpExtension("Elu", "MyElu", {"alpha": "beta"}), np.where(X > 0, X, 3 * np.expm1(X))),
        ("MyElu", {"alpha": 9.0}, OpExtension("Elu", "MyElu", None, {"alpha": 2}), np.where(X > 0, X, 2 * np.expm1(X))),
        ("MyThreshold", {"alpha": 1.0}, ConversionExtension("MyThreshold", thresholded), np.where(X > 1, X, 0)),
        ("T", {"alpha": 0.0}, onnx_frontend.ConversionExtension("T", "my.domain", thresholded), np.where(X > 0, X, 0)),
        ("T", {"alpha": 0.0}, onnx_frontend.ConversionExtension("T", thresholded), np.where(X > 0, X, 0)),
        ("Both", {}, ConversionExtension("Both", lambda node: [ops.Negative(node.get_input(0)).output(0)]), -X),
    ],
)  # fmt: skip
def test_translations(op_type, attributes, extension, expected):
    np.testing.assert_allclose(run(model(op_type, **attributes), extension), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "extension", "expected"),
    [
        ({"alpha": 2.0, "beta": 3.0}, CustomElu, {"alpha": 2, "beta": 3}),
        ({"alpha": 2.0}, CustomElu, {"alpha": 2, "beta": 1}),
        ({"a": 2.0}, OpExtension(CustomElu, attr_names_map={"alpha": "a"}), {"alpha": 2, "beta": 1}),
        ({}, OpExtension(CustomElu, attr_values_map={"alpha": 2, "beta": 5}), {"alpha": 2, "beta": 5}),
    ],
)
def test_attributes_of_a_user_defined_operation(attributes, extension, expected):
    node = translated(model("CustomElu", **attributes), [extension])
    assert type(node) is CustomElu and node.get_attributes() == expected


@pytest.mark.parametrize(
    ("attributes", "extension", "expected"),
    [
        ({"alpha": 2.0, "mode": "cubic"}, Visited, {"alpha": 2, "mode": "cubic"}),
        ({"a": 2.0}, OpExtension(Visited, "Visited", {"alpha": "a"}, {"mode": "m"}), {"alpha": 2, "mode": "m"}),
        ({"alpha": 3.0}, OpExtension(Visited, attr_values_map={"mode": "m"}), {"alpha": 3, "mode": "m"}),
    ],
)
def test_an_operation_that_shows_its_attributes_to_a_visitor(attributes, extension, expected):
    content = model("Visited", **attributes)
    node = translated(content, extension)
    assert type(node) is Visited and node.get_attributes() == expected
    np.testing.assert_array_equal(run(content, extension), expected["alpha"] * X)


@pytest.mark.parametrize(
    ("op_type", "attributes", "arguments"),
    [
        ("Elu", {"alpha": 0.5}, ("Elu",)),
        ("MyElu", {"alpha": 0.5}, ("Elu", "MyElu")),
        ("MyElu", {"alpha": 0.5}, ("opset1.Elu", "MyElu")),
        ("MyElu", {"alpha": 0.5}, ("opset1::Elu", "MyElu")),
        ("MyElu", {"beta": 0.5, "alpha": 2.0}, ("Elu", "MyElu", {"alpha": "beta"})),
        ("MyElu", {"alpha": 2.0}, ("Elu", "MyElu", {}, {"alpha": 0.25})),
        ("MyElu", {"alpha": 2.0, "beta": 1.0}, ("Elu", "MyElu", {"alpha": "beta"}, {"alpha": 0.25})),
        ("Clamp", {"min": -1.0, "max": 1.0}, ("Clamp",)),
        ("MyClamp", {"low": -1.0}, ("Clamp", "MyClamp", {"min": "low"}, {"max": 1.5})),
        ("MySelect", {"axis": 0}, ("Softmax", "MySelect")),
    ],
)
def test_like_openvino(op_type, attributes, arguments):
    """The same arguments have the same effect in OpenVINO."""
    content = model(op_type, "" if op_type == "Elu" else "my.domain", **attributes)
    core = openvino.Core()
    names = [argument for argument in arguments if isinstance(argument, str)]
    maps = arguments[len(names) :]
    # For operators of a domain OpenVINO has a class of its own, which hetero has too.
    theirs = names if op_type == "Elu" else [names[0], op_type, "my.domain"]
    core.add_extension(openvino.frontend.onnx.OpExtension(*theirs, *maps))
    expected = core.compile_model(core.read_model(content), "CPU")(X)[0]
    np.testing.assert_allclose(run(content, OpExtension(*arguments)), expected, rtol=1e-5, atol=1e-7)
    found = run(content, onnx_frontend.OpExtension(*theirs, *maps))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_ir_files_know_the_operations_of_all_extensions():
    assert OpExtension(CustomElu, framework="paddle").is_for("ir") and not OpExtension("Relu", framework="tf").is_for(
        "onnx"
    )


def test_an_extension_takes_precedence_over_a_translator():
    extension = ConversionExtension("Relu", lambda node: ops.Negative(node.get_input(0)))
    np.testing.assert_array_equal(run(model("Relu", domain=""), extension), -X)
    np.testing.assert_array_equal(run(model("Relu", domain="")), np.maximum(X, 0))  # other Cores are not concerned


def test_an_extension_applies_to_its_domain_only():
    other = onnx_frontend.OpExtension("Relu", "MyRelu", "other.domain")
    with pytest.raises(FrontendError, match=r"there is no translation of my.domain.MyRelu of version 1 \('mine'\)"):
        read(model("MyRelu"), other)
    np.testing.assert_array_equal(run(model("MyRelu"), OpExtension("Negative", "MyRelu"), other), -X)


def test_the_later_of_two_extensions_wins_with_a_warning(caplog):
    first = OpExtension("Relu", "Mine")
    with caplog.at_level(logging.WARNING, "hetero"):
        assert type(translated(model("Mine"), first, OpExtension("Exp", "Mine"))) is ops.Exp
    lines = Path(__file__).read_text().splitlines()
    line = 1 + lines.index('    first = OpExtension("Relu", "Mine")')
    here = re.escape(__file__)
    told = rf"OpExtension of Mine \({here}:{line + 2}\) replaces OpExtension of Mine \({here}:{line}\)"
    assert re.search(told, caplog.text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (OpExtension("Relu", "Other"), OpExtension("Exp", "Mine")),
        (OpExtension("Relu", "Mine", domain="a"), OpExtension("Exp", "Mine", domain="my.domain")),
        (OpExtension("Relu", "Mine", framework="tf"), OpExtension("Exp", "Mine", framework="onnx")),
        (OpExtension("Exp", "Mine"), ProgressReporterExtension()),
    ],
)
def test_extensions_for_different_operators_do_not_hide_each_other(first, second, caplog):
    with caplog.at_level(logging.WARNING, "hetero"):
        assert type(translated(model("Mine"), first, second)) is ops.Exp
    assert not caplog.text


def test_a_users_extension_hides_that_of_a_package(monkeypatch, caplog):
    registry = installed_plugins()
    monkeypatch.setattr(registry, "extensions", [lambda: OpExtension("Relu", "Mine")])
    registry.__dict__.pop("loaded_extensions", None)
    try:
        with caplog.at_level(logging.WARNING, "hetero"):
            assert type(translated(model("Mine"), OpExtension("Exp", "Mine"))) is ops.Exp
        assert "replaces" in caplog.text
    finally:
        registry.__dict__.pop("loaded_extensions", None)


def test_packages_register_extensions(monkeypatch):
    """They are created when the first model is read; one that fails is logged and does not affect the others."""
    calls = []

    def broken():
        raise ImportError("no such thing")

    registry = installed_plugins()
    monkeypatch.setattr(registry, "extensions", [broken, lambda: calls.append(1) or [OpExtension("Relu", "MyRelu")]])
    monkeypatch.setattr(registry, "failures", {})
    registry.__dict__.pop("loaded_extensions", None)
    try:
        core = Core()
        assert not calls
        for _ in range(2):
            (relu,) = (n for n in core.read_model(model("MyRelu")).get_ordered_ops() if n.friendly_name == "mine")
            assert type(relu) is ops.Relu
        assert calls == [1]
        assert core.unavailable_devices[__name__] == "ImportError: no such thing"
    finally:
        registry.__dict__.pop("loaded_extensions", None)


def relu(node):
    return ops.Relu(node.get_input(0)).output(0)


def raises(node):
    return node.no_such_thing


@pytest.mark.parametrize(
    ("extension", "message"),
    [
        (ConversionExtension("Mine", raises), "ConversionExtension of Mine .*extension.py:\\d+.: AttributeError: "),
        (ConversionExtension("Mine", lambda node: node.get_attribute("alpha")), "_extension.* alpha is missing"),
        (ConversionExtension("Mine", lambda node: node.get_input(1)), "_extension.* input 1 is missing"),
        (ConversionExtension("Mine", lambda node: 7), "_extension.* returns 7, not a node or outputs"),
        (OpExtension(CustomElu, "Mine"), "OpExtension of Mine .*py:\\d+.: CustomElu: attribute alpha is missing"),
        (OpExtension(Visited, "Mine"), "py:\\d+.: Visited: attribute alpha is missing: map it to an attribute"),
        (ConversionExtension("Mine", lambda node: [relu(node), relu(node)]), "returns 2 values, but Mine has 1 output"),
        (OpExtension("Add", "Mine"), "OpExtension of Mine .*py:\\d+.: Add: it has 1 inputs, but takes 2 to 2"),
        (OpExtension("Relu", "Mine", ["X"], ["Y"]), "the inputs of Mine have no names: use an index instead of 'X'"),
        (ConversionExtension("Mine", lambda node: {"Y": relu(node)}), "but the outputs of Mine have no names"),
        (ConversionExtension("Mine", lambda node: [NamedOutput("Y", relu(node))]), "of Mine have no names"),
    ],
)  # fmt: skip
def test_errors_name_node_and_extension(extension, message):
    with pytest.raises(FrontendError, match=f"Mine node 'mine': .*{message}"):
        read(model("Mine"), extension)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OpExtension("NoSuch"), "there is no operation NoSuch: write one as Relu or opset1.Relu"),
        (lambda: OpExtension("opset99.Relu"), "there is no operation opset99.Relu"),
        (lambda: OpExtension("Elu", "Mine", {"alfa": "a"}), "of Mine .*: Elu has no attribute alfa; it has alpha"),
        (lambda: OpExtension(Visited, {"alfa": "a"}), "Visited has no attribute alfa; it has alpha, mode"),
        (lambda: OpExtension(CustomElu, {"alpha": "a"}, {"alpha": 2.0}), "alpha is in both maps: give its name or"),
        (lambda: OpExtension("Clamp", {"mid": "m"}), "it has max, max_value, min, min_value"),
        (lambda: OpExtension("Elu", {"alpha": 1}, {"alpha": 2.0}), "alpha is both an input and a value"),
        (lambda: OpExtension("Elu", {"alpha": 1.5}), "alpha is taken from 1.5, not from a name or an index"),
        (lambda: OpExtension("Relu", "Mine", "Third"), "cannot take Third: it takes, in this order, ov_type_name, fw"),
        (lambda: OpExtension("Relu", fw_type="Mine"), "OpExtension cannot take fw_type: it takes"),
        (lambda: OpExtension("Relu", ov_type_name="Mine", fw_type_name="M"), "OpExtension cannot take fw_type_name"),
        (lambda: OpExtension(7), "OpExtension cannot take 7"),
        (lambda: OpExtension(int), "OpExtension of <class 'int'>: give the name of an operation, or its class"),
        (lambda: OpExtension(), "OpExtension of None: give the name of an operation"),
        (lambda: ConversionExtension("Mine", "Relu"), "ConversionExtension of Mine .*: 'Relu' is not a function"),
        (lambda: OpExtension("Relu", "Mine", None, {"x": 1}), "Relu has no attribute x; it has none"),
        (lambda: Core().add_extension(7), "7 cannot be an extension: give an extension, an operation's class"),
        (lambda: Core().add_extension([OpExtension("Relu"), int]), "<class 'int'> cannot be an extension"),
    ],
)  # fmt: skip
def test_invalid_extensions_are_refused_at_construction(make, message):
    with pytest.raises(GraphError, match=message):
        make()


def test_operators_in_subgraphs_too():
    inner = helper.make_graph(
        [helper.make_node("MyRelu", ["x"], ["z"], domain="my.domain")], "inner", [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [5])],
    )  # fmt: skip
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in "xy"]
    condition = helper.make_tensor("c", TensorProto.BOOL, [], [True])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=condition),
        helper.make_node("If", ["c"], ["y"], name="mine", then_branch=inner, else_branch=inner),
    ]
    proto = helper.make_model(
        helper.make_graph(nodes, "model", value[:1], value[1:]),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("my.domain", 1)],
    )
    assert isinstance(proto, onnx.ModelProto)
    np.testing.assert_array_equal(run(proto, OpExtension("Relu", "MyRelu")), np.maximum(X, 0))
