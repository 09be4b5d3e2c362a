"""User-defined operations in IR files, written and read by OpenVINO with the same class."""

from xml.etree import ElementTree

import numpy as np
import openvino
import pytest

import hetero
from hetero import Core, Model, Op, Parameter, save_model
from hetero.core.types import Type
from hetero.graph import Attribute, floats, integers, texts
from hetero.system.errors import FrontendError, GraphError
from tests.custom_operations import Power, X, built, classes, infer, nodes, visited


def reader(ov, *extensions):
    core = ov.Core()
    for extension in extensions:
        core.add_extension(extension)
    return core


@pytest.mark.parametrize("writer", [openvino, hetero])
@pytest.mark.parametrize("reads", [openvino, hetero])
def test_either_reads_what_either_writes(tmp_path, writer, reads):
    """Attributes whose dict shows their names and types come back; so does what is computed."""
    model, _ = built(writer)
    writer.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
    _, own = built(reads)
    read = reader(reads, *own).read_model(tmp_path / "model.xml")
    told, expected = nodes(read), nodes(model)
    assert told["total"] == expected["total"] and told["parts"] == expected["parts"]
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    assert infer(reads, read, x) == (-1.5 * (x[:, :2] + x[:, 2:])).tolist()


def test_a_dict_without_names_takes_what_the_file_has(tmp_path):
    """OpenVINO leaves it empty."""
    model, own = built(hetero)
    save_model(model, tmp_path / "model.xml")
    read = reader(hetero, *own).read_model(tmp_path / "model.xml")
    assert nodes(read)["first"]["attributes"] == nodes(model)["first"]["attributes"]


def test_one_model_with_classes_of_each_way_to_write_them(tmp_path):
    identity, _, _ = classes(hetero)
    x = Parameter("f32", [-1, 3], name="x")
    save_model(Model([identity([Power(x, np.float32(1), exponent=3.0, order=[2, 1])])], [x]), tmp_path / "model.xml")
    core = reader(hetero, [Power, identity])
    read = core.read_model(tmp_path / "model.xml")
    (power,) = (node for node in read.get_ordered_ops() if isinstance(node, Power))
    assert power.get_attributes() == {"exponent": 3.0, "order": [2, 1]}
    read.reshape([2, 3])
    np.testing.assert_allclose(core.compile_model(read, "TEMPLATE")([X])[0], X**3 + 1)


def test_an_operation_that_nobody_added(tmp_path):
    x = Parameter("f32", [2, 3], name="x")
    save_model(Model([Power(x, name="mine")], [x]), tmp_path / "model.xml")
    problem = (
        r"layer 1, Power 'mine': there is no operation Power of extension; for a user-defined one call "
        r"Core.add_extension\(Power\)"
    )
    with pytest.raises(FrontendError, match=problem):
        Core().read_model(tmp_path / "model.xml")


def test_what_a_class_raises_names_the_layer(tmp_path):
    class Odd(Power):
        is_odd = False

        def validate_and_infer_types(self):
            assert not self.is_odd, "this is odd"
            super().validate_and_infer_types()

    x = Parameter("f32", [2, 3], name="x")
    save_model(Model([Odd(x, name="mine")], [x]), tmp_path / "model.xml")
    Odd.is_odd = True
    with pytest.raises(
        FrontendError, match=r"layer 1, Odd 'mine': it cannot be created .*AssertionError\(.this is odd"
    ):
        reader(hetero, Odd).read_model(tmp_path / "model.xml")


@pytest.mark.parametrize(
    "attributes",
    [
        {"axis": 0}, {"value_str": "test_attribute"}, {"value_str": "a, b"}, {"value_float": 0.25},
        {"value_bool": True}, {"list_str": ["one", "two"]}, {"list_int": [1, 2]},
        {"list_float": np.float32([1.5, 2.5])}, {"empty": ""},
        {"axis": -3, "list_int": [7], "flag": False}, {"large": 1e20}, {"flags": [True, False]},
    ],
    ids=str,
)  # fmt: skip
def test_attributes_are_spelled_as_openvino_spells_them(tmp_path, attributes):
    def written(ov):
        opset = openvino.opset14 if ov is openvino else hetero.opset14
        x = opset.parameter([2], np.float32, name="x")
        node = visited(ov)([x], attributes)
        ov.serialize(ov.Model([opset.result(node)], [x], "m"), tmp_path / "m.xml", tmp_path / "m.bin")
        layers = ElementTree.parse(tmp_path / "m.xml").iter("layer")
        return next(layer.find("data").attrib for layer in layers if layer.get("type") == "Visited")

    assert written(openvino) == written(hetero)


class Everything(Op):
    """Shows one attribute of each type, by its name."""

    VALUES = (  # a default, and another value
        (True, False), (1, -7), (1.0, 0.1), ("", "a, b"), ([0], [1, 2]), ([0.5], [0.1, 2.0]), ([""], ["a", "b,c"]),
        (Type.f32, Type.u8), (hetero.PartialShape([1]), hetero.PartialShape([-1, 3])),
        (np.int64([0]), np.int64([5, 6])), (np.float32([0]), np.float32([0.5, 6])), ((0,), (1, 2)),
    )  # fmt: skip

    def __init__(self, inputs=None):
        self.values = [default for default, _ in self.VALUES]
        super().__init__(self, inputs)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def visit_attributes(self, visitor):
        self.values = [visitor.on_attribute(f"a{index}", value) for index, value in enumerate(self.values)]
        return True


def test_attributes_of_every_type(tmp_path):
    x = Parameter("f32", [2])
    node = Everything([x])
    node.values = [other for _, other in Everything.VALUES]
    save_model(Model([node], [x]), tmp_path / "model.xml")
    read = reader(hetero, Everything).read_model(tmp_path / "model.xml").results[0].input_value(0).node
    for found, (_, expected) in zip(read.values, Everything.VALUES):
        assert type(found) is type(expected) and repr(found) == repr(expected)


class Declared(Op):
    inputs = ("x",)
    alpha = Attribute(float)
    whole = Attribute(integers, ())
    real = Attribute(floats, (0.5,))
    words = Attribute(texts, ("a",))
    kind = Attribute(Type, None, ir="element_kind")

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


@pytest.mark.parametrize("more", [{}, {"whole": [3], "real": [0.1], "words": ["p,q"], "kind": "f16"}])
def test_declared_attributes(tmp_path, more):
    x = Parameter("f32", [2])
    node = Declared(x, alpha=0.1, **more)
    save_model(Model([node], [x]), tmp_path / "model.xml")
    core = reader(hetero, Declared)
    read = core.read_model(tmp_path / "model.xml").results[0].input_value(0).node
    assert read.get_attributes() == node.get_attributes()
    text = (tmp_path / "model.xml").read_text()
    assert ("element_kind" in text) == bool(more)
    (tmp_path / "model.xml").write_text(text.replace(' alpha="0.1"', ""))
    with pytest.raises(FrontendError, match="Declared: attribute alpha is missing"):
        core.read_model(tmp_path / "model.xml")
    (tmp_path / "model.xml").write_text(text.replace(' alpha="0.1"', ' alpha="much"'))
    with pytest.raises(FrontendError, match="attribute alpha cannot be 'much', it takes float"):
        core.read_model(tmp_path / "model.xml")


@pytest.mark.parametrize("value", [{}, [{}], np.complex64([1]), object(), ["a", 1]], ids=lambda v: type(v).__name__)
def test_attributes_that_files_cannot_hold(tmp_path, value):
    x = Parameter("f32", [2])
    with pytest.raises(GraphError, match="Visited 'mine': attribute value cannot be .*, it takes a number, a string"):
        node = visited(hetero)([x], {"value": value})
        node.friendly_name = "mine"
        save_model(Model([node], [x]), tmp_path / "model.xml")


def test_a_class_that_cannot_be_made_without_arguments():
    class Needs(Op):
        def __init__(self, inputs):
            super().__init__(self, inputs)

    with pytest.raises(GraphError, match=r"Needs cannot be constructed without arguments.* 'inputs'"):
        Core().add_extension(Needs)
    with pytest.raises(RuntimeError, match=r"Core.add_extension|arguments"):
        openvino.Core().add_extension(type("Needs", (openvino.Op,), {"__init__": lambda self, inputs: None}))
