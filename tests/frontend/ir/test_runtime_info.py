"""rt_info in files: of models, nodes and ports, to OpenVINO and back."""

import numpy as np
import openvino
from openvino import opset13 as their_ops

import hetero
from hetero import opset13 as ops
from hetero.frontend.ir import IrFrontEnd
from hetero.graph.rt_info import RuntimeAttribute

core = openvino.Core()


def noted_model():
    x = hetero.Parameter(hetero.Type.f32, [1, 3], name="x")
    x.output(0).rt_info["layout_0"] = RuntimeAttribute(layout="[N,C]")
    relu = ops.relu(x, name="relu")
    relu.rt_info |= {
        "affinity": "GPU.1",
        "originalLayersNames": ("conv, first", "b"),
        "mine": {"a b": "1", "c": {"d": "2"}},
    }
    relu.input(0).rt_info["seen"] = "by input"
    relu.output(0).rt_info["seen"] = "by output"
    model = hetero.Model([relu], [x], "noted")
    model.rt_info |= {"model_info": {"labels": "cat dog", "1st scale": "0.5"}, "framework": "onnx"}
    return model


def all_notes(model):
    return model.rt_info, [
        (node.friendly_name, node.rt_info, [p.rt_info for p in node.inputs()], [p.rt_info for p in node.outputs()])
        for node in model.get_ordered_ops()
    ]


def test_notes_come_back(tmp_path):
    hetero.serialize(noted_model(), tmp_path / "model.xml")
    assert all_notes(IrFrontEnd().convert(tmp_path / "model.xml")) == all_notes(noted_model())


def test_notes_come_back_through_openvino(tmp_path):
    """Except the names of fused nodes, which only OpenVINO's converter writes and OpenVINO no longer reads."""
    model = noted_model()
    del model.get_ordered_ops()[1].rt_info["originalLayersNames"]
    hetero.serialize(model, tmp_path / "ours.xml")
    openvino.serialize(core.read_model(tmp_path / "ours.xml"), tmp_path / "theirs.xml")
    assert all_notes(IrFrontEnd().convert(tmp_path / "theirs.xml")) == all_notes(model)


def test_openvino_finds_the_notes_on_a_model(tmp_path):
    hetero.serialize(noted_model(), tmp_path / "model.xml")
    read = core.read_model(tmp_path / "model.xml")
    assert read.get_rt_info(["model_info", "labels"]).astype(str) == "cat dog"
    assert read.get_rt_info(["model_info", "1st scale"]).astype(str) == "0.5"
    assert openvino.layout_helpers.get_layout(read.input(0)) == openvino.Layout("NC")


def test_names_of_fused_nodes_as_openvino_writes_them(tmp_path):
    hetero.serialize(noted_model(), tmp_path / "model.xml")
    text = (tmp_path / "model.xml").read_text()
    assert '<attribute name="fused_names" version="0" value="conv\\, first, b" />' in text


def test_inputs_and_outputs_of_version_10_have_the_names_of_nodes(tmp_path):
    x = their_ops.parameter([2, 4], np.float32, name="x")
    parts = their_ops.split(x, np.int64(1), 2, name="parts")
    outputs = [parts.output(1), their_ops.relu(x, name="positive").output(0)]
    openvino.serialize(openvino.Model(outputs, [x], "old"), tmp_path / "model.xml", version="IR_V10")
    theirs = core.read_model(tmp_path / "model.xml")
    ours = IrFrontEnd().convert(tmp_path / "model.xml")
    assert [port.names for port in ours.inputs] == [{"x"}] == [port.names for port in theirs.inputs]
    for port, port_of_theirs, name in zip(ours.outputs, theirs.outputs, ["parts.1", "positive"], strict=True):
        assert name in port.names
        assert port.names == port_of_theirs.names


def test_names_of_dimensions_come_back_also_through_openvino(tmp_path):
    x = hetero.Parameter(hetero.Type.f32, "[batch=?,sequence=1..8,?,4]", name="x")
    y = hetero.Parameter(hetero.Type.f32, "[batch=?]", name="y")
    hetero.serialize(hetero.Model([ops.relu(x), ops.relu(y)], [x, y]), tmp_path / "ours.xml")
    theirs = core.read_model(tmp_path / "ours.xml")
    assert [str(port.get_partial_shape()) for port in theirs.inputs] == ["[?,1..8,?,4]", "[?]"]
    openvino.serialize(theirs, tmp_path / "theirs.xml")
    for file in ("ours.xml", "theirs.xml"):
        ports = IrFrontEnd().convert(tmp_path / file).inputs
        assert [port.partial_shape.described() for port in ports] == ["[batch,sequence=1..8,?,4]", "[batch]"]
        assert not any(port.rt_info for port in ports)
