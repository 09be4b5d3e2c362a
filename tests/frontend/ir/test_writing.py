"""Writing of IR files: layers, attributes, weights, rt_info, and the round trip."""

import io
from xml.etree import ElementTree

import numpy as np
import openvino
import pytest

import hetero
from hetero import opset13 as ops
from hetero.frontend.ir import IrFrontEnd
from hetero.graph import is_constant
from hetero.ops.sequence.sequences import SequenceConstruct
from hetero.ops.sequence.strings import StringSplit, TfIdfVectorizer
from hetero.system.errors import FrontendError

core = openvino.Core()


def small_model():
    """Return a model whose inputs and outputs are in another order than a traversal from the outputs finds."""
    first = hetero.Parameter(hetero.Type.f32, "[?,3,8..64]", name="first")
    second = hetero.Parameter(hetero.Type.i64, [3], name="second")
    weights = hetero.Constant(np.float32([[[1.5], [-2.0], [0.25]]]), name="weights")
    scaled = ops.multiply(first, weights, name="scaled")
    scaled.output(0).names = {"a,b", "c"}
    shifted = ops.add(second, hetero.Constant(np.int64([1, 2, 3])), name="shifted")
    shifted.output(0).names = {"d"}
    for parameter in (first, second):
        parameter.output(0).names = {parameter.friendly_name}
    return hetero.Model([shifted, scaled], [first, second], "small, but <a> model")


def trip(model, tmp_path, **keywords):
    hetero.serialize(model, tmp_path / "model.xml", **keywords)
    return IrFrontEnd().convert(tmp_path / "model.xml")


def nodes(model):
    return {node.friendly_name: node for node in model.get_ordered_ops()}


def describe(model):
    """Return everything that can be compared about a model."""
    return [
        (
            node.type_info, node.friendly_name, node.rt_info, node.get_attributes(),
            node.data.tolist() if is_constant(node) else None,
            [(o.element_type.to_string(), str(o.partial_shape), o.names, o.rt_info) for o in node.outputs()],
            [(v.node.friendly_name, v.index) for v in node.input_values()],
        )
        for node in model.get_ordered_ops()
    ]  # fmt: skip


def test_a_model_comes_back_as_it_was(tmp_path):
    model = small_model()
    read = trip(model, tmp_path)
    assert describe(read) == describe(model)
    assert read.friendly_name == model.friendly_name


def test_openvino_reads_names_and_shapes(tmp_path):
    hetero.serialize(small_model(), tmp_path / "model.xml")
    read = core.read_model(tmp_path / "model.xml")
    assert [port.get_names() for port in read.inputs] == [{"first"}, {"second"}]
    assert [port.get_names() for port in read.outputs] == [{"d"}, {"a,b", "c"}]
    assert str(read.input(0).partial_shape) == "[?,3,8..64]"
    assert read.friendly_name == "small, but <a> model"


def plain_layers(path):
    """Return the layers by name, without layer numbers and weight offsets, which depend on the order of layers."""
    layers = ElementTree.parse(path).getroot().findall("layers/layer")
    for layer in layers:
        for element in layer.iter():
            element.text, element.tail = (element.text or "").strip(), None
        del layer.attrib["id"]
        if layer.get("type") == "Const":
            del layer.find("data").attrib["offset"]
    return {layer.get("name"): ElementTree.canonicalize(ElementTree.tostring(layer)) for layer in layers}


def test_what_openvino_writes_again_is_the_same(tmp_path):
    hetero.serialize(small_model(), tmp_path / "ours.xml")
    openvino.serialize(core.read_model(tmp_path / "ours.xml"), tmp_path / "theirs.xml")
    assert plain_layers(tmp_path / "ours.xml") == plain_layers(tmp_path / "theirs.xml")


def test_the_same_weights_are_written_once_and_aligned(tmp_path):
    x = hetero.Parameter(hetero.Type.f32, [5])
    array = np.arange(5, dtype=np.float32)
    total = ops.add(ops.add(ops.add(x, array), array.copy()), array + 1)
    hetero.serialize(hetero.Model([total], [x]), tmp_path / "model.xml")
    assert (tmp_path / "model.bin").stat().st_size == 32 + 20
    root = ElementTree.parse(tmp_path / "model.xml")
    data = [layer.find("data").attrib for layer in root.iter("layer") if layer.get("type") == "Const"]
    assert [(d["offset"], d["size"]) for d in data] == [("0", "20"), ("0", "20"), ("32", "20")]


def test_names_of_files(tmp_path):
    model = small_model()
    hetero.serialize(model, str(tmp_path / "a.xml"), str(tmp_path / "weights"), "IR_V11")
    hetero.save_model(model, tmp_path / "b.xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.xml", "b.bin", "b.xml", "weights"]
    assert describe(IrFrontEnd().convert(tmp_path / "a.xml", tmp_path / "weights")) == describe(model)
    xml, weights = (tmp_path / "a.xml").read_bytes(), (tmp_path / "weights").read_bytes()
    assert describe(hetero.Core().read_model(xml, weights)) == describe(model)
    assert describe(hetero.Core().read_model(io.BytesIO(xml), tmp_path / "weights")) == describe(model)
    hetero.serialize(model, tmp_path / "a.xml")
    assert describe(hetero.Core().read_model(tmp_path / "a.xml", "")) == describe(model)


def test_a_model_read_from_files_is_pinned_and_run(tmp_path):
    model = small_model()
    nodes(model)["scaled"].rt_info["affinity"] = "TEMPLATE"
    hetero.serialize(model, tmp_path / "model.xml")
    compiled = hetero.Core().compile_model(tmp_path / "model.xml", "HETERO:TEMPLATE")
    x = np.ones((2, 3, 8), np.float32)
    results = compiled({"first": x, "second": np.int64([1, 1, 1])})
    np.testing.assert_array_equal(results["d"], [2, 3, 4])
    np.testing.assert_array_equal(results["a,b"], x * np.float32([[[1.5], [-2.0], [0.25]]]))


@pytest.mark.parametrize(
    ("path", "version", "problem"),
    [
        ("model.onnx", "IR_V11", "must end in .xml"),
        ("model.xml", "IR_V10", "version IR_V10"),
        (f"{'x' * 300}.xml", "IR_V11", "File name too long"),
    ],
)
def test_what_cannot_be_written(tmp_path, path, version, problem):
    with pytest.raises(FrontendError, match=problem):
        hetero.serialize(small_model(), tmp_path / path, version=version)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("character", ["\0", "\x1b", "\ud800", "\uffff"])
def test_characters_that_xml_does_not_have(tmp_path, character):
    model = small_model()
    nodes(model)["scaled"].friendly_name = f"scaled{character}"
    with pytest.raises(FrontendError, match="XML cannot hold the character .*scaled'"):
        hetero.serialize(model, tmp_path / "model.xml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a\nb\tc\rd", " spaces ", "<&\"'>", "größe 漢字 🙂", "a\\\\b", ""])
def test_characters_that_xml_escapes(tmp_path, name):
    model = small_model()
    model.output(1).names = nodes(model)["scaled"].output(0).names = {"plain", f"x{name}"}
    model.friendly_name = name
    nodes(model)["weights"].rt_info["note"] = name
    assert describe(trip(model, tmp_path)) == describe(model)
    assert IrFrontEnd().convert(tmp_path / "model.xml").friendly_name == name
    read = core.read_model(tmp_path / "model.xml")
    assert read.output(1).get_names() == {"plain", f"x{name}"}


def test_sequences_cannot_be_written(tmp_path):
    x = hetero.Parameter(hetero.Type.f32, [2], name="x")
    model = hetero.Model([SequenceConstruct([x, x], name="both")], [x])
    with pytest.raises(FrontendError, match="'both' outputs .*which IR files cannot hold"):
        hetero.serialize(model, tmp_path / "model.xml")
    assert not list(tmp_path.iterdir())


EXTENSIONS = {
    "texts and lists": lambda x: TfIdfVectorizer(
        x, "TFIDF", 1, 1, 0, [0], [0, 1, 2], pool_strings=["a, b", " c", "d"], weights=[0.5, 1.5, 1e-9]
    ),
    "a blank": lambda x: StringSplit(x, delimiter=" ").output(0),
}


@pytest.mark.parametrize("case", EXTENSIONS)
def test_operations_beyond_the_operation_sets(tmp_path, case):
    x = hetero.Parameter(hetero.Type.string, [2], name="x")
    model = hetero.Model([EXTENSIONS[case](x)], [x])
    assert describe(trip(model, tmp_path)) == describe(model)


def test_a_failure_leaves_the_former_files(tmp_path, monkeypatch):
    before = trip(small_model(), tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hetero.frontend.ir.writer.write_model_info", fail)
    with pytest.raises(FrontendError, match="No space left on device"):
        hetero.serialize(before, tmp_path / "model.xml")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_a_model_may_take_the_place_of_the_files_that_it_is_mapped_from(tmp_path):
    model = small_model()
    read = trip(model, tmp_path)
    assert describe(trip(read, tmp_path)) == describe(model)
    assert describe(read) == describe(model)
