"""get_runtime_model: what each device really executes, told as OpenVINO tells it."""

from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import openvino
import pytest

import hetero
from hetero.errors import NotSupportedError
from hetero.opset_modules import make_modules
from tests.devices import PickyPlugin, core_with

DEVICES = ["TEMPLATE"]
LIBRARIES = {"hetero": (make_modules()["opset13"], hetero), "openvino": (import_module("openvino.opset13"), openvino)}
ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


def small_model(library="hetero"):
    op, package = LIBRARIES[library]
    x = op.parameter(package.PartialShape([2, 3]), np.float32, name="x")
    product = op.matmul(x, op.constant(np.eye(3, dtype=np.float32)), False, False, name="product")
    hidden = op.relu(op.add(product, op.constant(np.ones([1, 3], np.float32)), name="sum"), name="relu")
    parts = op.split(op.softmax(hidden, 1, name="softmax"), op.constant(1), 3, name="parts")
    flat = op.reshape(op.exp(hidden, name="exp"), op.constant(np.array([6])), False, name="flat")
    results = [op.result(value) for value in (parts.output(0), parts.output(2), flat.output(0), hidden.output(0))]
    return package.Model(results, [x], "small")


def compiled_for(device, **options):
    return hetero.Core().compile_model(small_model(), device, options)


def by_order(model):
    return sorted(model.get_ordered_ops(), key=lambda node: int(node.rt_info["execOrder"]))


def original_names(node):
    return [name for name in node.rt_info["originalLayersNames"].split(",") if name]


@pytest.mark.parametrize("device", DEVICES)
def test_the_notes_are_those_of_openvino(device):
    theirs = openvino.Core().compile_model(small_model("openvino"), "CPU").get_runtime_model()
    mine = compiled_for(device).get_runtime_model()
    keys = {frozenset(node.get_rt_info()) for node in theirs.get_ordered_ops()}
    assert {frozenset(node.rt_info) for node in mine.get_ordered_ops()} == keys
    for library in (theirs, mine):
        kinds = [node.get_type_name() for node in library.get_ordered_ops()]
        assert set(kinds) == {"Parameter", "ExecutionNode", "Result"}
        assert kinds.count("Parameter") == 1 and kinds.count("Result") == 4
    for node in mine.get_ordered_ops():
        assert all(isinstance(value, str) for value in node.rt_info.values())
    assert mine.friendly_name == "small"


@pytest.mark.parametrize("device", DEVICES)
def test_every_operation_is_executed_once_in_order(device):
    model = compiled_for(device).get_runtime_model()
    nodes = by_order(model)
    assert [node.rt_info["execOrder"] for node in nodes] == [str(index) for index in range(len(nodes))]
    for index, node in enumerate(nodes):
        assert all(value.node in nodes[:index] for value in node.input_values())
    names = [name for node in nodes if node.get_type_name() == "ExecutionNode" for name in original_names(node)]
    operations = ["product", "sum", "relu", "softmax", "parts", "exp", "flat"]
    assert sorted(name for name in names if name in operations) == sorted(operations)


@pytest.mark.parametrize("device", DEVICES)
def test_values_keep_their_types_and_shapes(device):
    compiled = compiled_for(device)
    model = compiled.get_runtime_model()
    for mine, port in zip([*model.inputs, *model.outputs], [*compiled.inputs, *compiled.outputs], strict=True):
        assert (mine.element_type, mine.partial_shape) == (port.element_type, port.partial_shape)
    (split,) = [node for node in model.get_ordered_ops() if node.rt_info["layerType"] == "Split"]
    assert split.rt_info["outputPrecisions"] == "f32,f32,f32" and split.rt_info["outputLayouts"] == "ab,ab,ab"
    assert [str(output.partial_shape) for output in split.outputs()] == ["[2,1]"] * 3


@pytest.mark.parametrize("device", DEVICES)
def test_times_are_told_of_what_was_executed(device):
    for profiled in (False, True):
        compiled = compiled_for(device, PERF_COUNT=profiled)

        def times(compiled=compiled):
            nodes = compiled.get_runtime_model().get_ordered_ops()
            return {n.friendly_name: n.rt_info["execTimeMcs"] for n in nodes if n.rt_info["layerType"] != "Reshape"}

        assert set(times().values()) == {"not_executed"}
        requests = [compiled.create_infer_request() for _ in range(2)]
        for request in requests * 2:
            request.infer([ROWS])
        told = {name for name, time in times().items() if time.isdecimal()}
        named = {info.node_name for info in requests[0].profiling_info if info.node_type not in ("Stage", "Subgraph")}
        assert told == (named - {"flat"} if profiled else set())
        assert bool(told) == profiled


@pytest.mark.parametrize("device", DEVICES)
def test_a_written_runtime_model_is_as_openvino_writes_its_own(device, tmp_path):
    """Neither OpenVINO can read such files: they are for people and tools, which know them by what is the same here."""
    openvino_compiled = openvino.Core().compile_model(small_model("openvino"), "CPU")
    openvino.serialize(openvino_compiled.get_runtime_model(), tmp_path / "theirs.xml", tmp_path / "theirs.bin")
    hetero.serialize(compiled_for(device).get_runtime_model(), tmp_path / "mine.xml")
    theirs, mine = (ElementTree.parse(tmp_path / f"{name}.xml").getroot() for name in ("theirs", "mine"))
    assert mine.attrib == theirs.attrib

    def layers(net, kind):
        return [layer for layer in net.iter("layer") if layer.get("type") == kind]

    for kind in ("Input", "Const", "Softmax", "Split", "Output"):
        for layer in layers(mine, kind):
            (like, *_) = layers(theirs, kind)
            assert layer.attrib.keys() == like.attrib.keys()
            assert layer.find("data").attrib.keys() == like.find("data").attrib.keys()
            assert [child.tag for child in layer] == [child.tag for child in like]
    assert len(layers(mine, "Output")) == 4
    ends = {(edge.get("to-layer"), edge.get("to-port")) for edge in mine.iter("edge")}
    ports = {(layer.get("id"), port.get("id")) for layer in mine.iter("layer") for port in layer.iterfind("input/port")}
    assert ends == ports


def test_a_device_that_does_not_tell_says_so():
    class Silent(PickyPlugin):
        def compile_model(self, *arguments, **options):
            compiled = super().compile_model(*arguments, **options)
            kind = type(compiled)
            compiled.__class__ = type(
                "Silent", (kind,), {"get_runtime_model": hetero.plugin.CompiledModel.get_runtime_model}
            )
            return compiled

    compiled = core_with(SILENT=Silent()).compile_model(small_model(), "SILENT")
    with pytest.raises(NotSupportedError, match="SILENT does not tell what it executes"):
        compiled.get_runtime_model()
