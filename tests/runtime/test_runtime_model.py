"""get_runtime_model: the executed graph of each device, in OpenVINO's form."""

from functools import partial
from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import openvino
import pytest

import hetero
from hetero.opset_modules import make_modules
from hetero.system.errors import NotSupportedError
from tests.devices import PickyPlugin, core_with

DEVICES = ["TEMPLATE", "GPU", "HETERO:TEMPLATE", "HETERO:GPU,TEMPLATE"]
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
    return sorted(model.get_ordered_ops(), key=lambda node: int(node.rt_info.get("execOrder")))


def original_names(node):
    return [name for name in node.rt_info.get("originalLayersNames").split(",") if name]


@pytest.mark.parametrize("device", DEVICES)
def test_rt_info_keys_are_openvinos(device):
    theirs = openvino.Core().compile_model(small_model("openvino"), "CPU").get_runtime_model()
    mine = compiled_for(device).get_runtime_model()
    keys = {frozenset(node.get_rt_info()) for node in theirs.get_ordered_ops()}
    assert {frozenset(node.rt_info.keys() - {"affinity"}) for node in mine.get_ordered_ops()} == keys
    for library in (theirs, mine):
        kinds = [node.get_type_name() for node in library.get_ordered_ops()]
        assert set(kinds) == {"Parameter", "ExecutionNode", "Result"}
        assert kinds.count("Parameter") == 1 and kinds.count("Result") == 4
    for node in mine.get_ordered_ops():
        assert all(isinstance(value, str) for value in dict(node.rt_info).values())
    assert mine.friendly_name == "small"


@pytest.mark.parametrize("device", DEVICES)
def test_each_operation_is_executed_once_in_order(device):
    model = compiled_for(device).get_runtime_model()
    nodes = by_order(model)
    assert [node.rt_info.get("execOrder") for node in nodes] == [str(index) for index in range(len(nodes))]
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
    (split,) = [node for node in model.get_ordered_ops() if node.rt_info.get("layerType") == "Split"]
    assert split.rt_info.get("outputPrecisions") == "f32,f32,f32" and split.rt_info.get("outputLayouts") == "ab,ab,ab"
    assert [str(output.partial_shape) for output in split.outputs()] == ["[2,1]"] * 3


@pytest.mark.parametrize("device", DEVICES)
def test_times_of_executed_nodes(device):
    for profiled in (False, True):
        compiled = compiled_for(device, PERF_COUNT=profiled)

        def times(compiled=compiled):
            nodes = compiled.get_runtime_model().get_ordered_ops()
            return {
                n.friendly_name: n.rt_info.get("execTimeMcs") for n in nodes if n.rt_info.get("layerType") != "Reshape"
            }

        assert set(times().values()) == {"not_executed"}
        requests = [compiled.create_infer_request() for _ in range(2)]
        for request in requests * 2:
            request.infer([ROWS])
        timed = {name for name, time in times().items() if time.isdecimal()}
        named = {info.node_name for info in requests[0].profiling_info if info.node_type not in ("Stage", "Subgraph")}
        assert timed == (named - {"flat"} if profiled else set())
        assert bool(timed) == profiled


@pytest.mark.parametrize("device", DEVICES)
def test_serialized_runtime_model_has_openvinos_format(device, tmp_path):
    """OpenVINO itself cannot read such files. They are for people and tools, which rely on the parts compared here."""
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
            assert layer.find("data").attrib.keys() - {"affinity"} == like.find("data").attrib.keys()
            assert [child.tag for child in layer] == [child.tag for child in like]
    assert len(layers(mine, "Output")) == 4
    ends = {(edge.get("to-layer"), edge.get("to-port")) for edge in mine.iter("edge")}
    ports = {(layer.get("id"), port.get("id")) for layer in mine.iter("layer") for port in layer.iterfind("input/port")}
    assert ends == ports


class SilentPlugin(PickyPlugin):
    """A device without get_runtime_model()."""

    def compile_model(self, *arguments, **options):
        compiled = super().compile_model(*arguments, **options)
        compiled.get_runtime_model = partial(hetero.plugin.CompiledModel.get_runtime_model, compiled)
        return compiled


def test_device_without_runtime_model_raises():
    compiled = core_with(SILENT=SilentPlugin()).compile_model(small_model(), "SILENT")
    with pytest.raises(NotSupportedError, match="SILENT does not report its executed graph"):
        compiled.get_runtime_model()


def test_subgraph_without_runtime_model_is_one_node():
    silent = SilentPlugin(lambda node: node.friendly_name in ("product", "sum", "parts"))
    compiled = core_with(SILENT=silent).compile_model(small_model(), "HETERO:SILENT,TEMPLATE")
    nodes = by_order(compiled.get_runtime_model())
    silent_nodes = [
        (node.rt_info.get("layerType"), original_names(node))
        for node in nodes
        if node.rt_info.get("affinity") == "SILENT"
    ]
    assert silent_nodes == [("Subgraph", ["product", "sum"]), ("Subgraph", ["parts"])]
    assert [str(result.output(0).partial_shape) for result in nodes[-4:]] == ["[2,1]", "[2,1]", "[6]", "[2,3]"]


def test_fused_operations_of_gpu_are_one_node_with_its_kernel():
    nodes = by_order(compiled_for("GPU").get_runtime_model())
    kernels = {tuple(original_names(node)): node.rt_info.get("primitiveType") for node in nodes}
    # Which gemm is faster depends on the device.
    assert kernels["product", "sum", "relu"] in ("gemm", "packed_gemm") and kernels["flat",] == "none"


def pinned(*names):
    """Compile the small model with operations of these names on GPU, the others on TEMPLATE."""
    model = small_model()
    for node in model.get_ordered_ops():
        if node.friendly_name in names:
            node.rt_info["affinity"] = "GPU"
    return hetero.Core().compile_model(model, "HETERO:TEMPLATE,GPU", {"PERF_COUNT": True})


@pytest.mark.parametrize(
    "names", [("sum", "relu"), ("product", "parts"), ("softmax", "exp", "flat"), ("parts", "flat")]
)
def test_subgraphs_are_joined(names):
    compiled = pinned(*names)
    compiled([ROWS])
    model = compiled.get_runtime_model()
    devices = {
        name: node.rt_info.get("affinity") for node in model.get_ordered_ops() if "affinity" in node.rt_info
        for name in original_names(node)
    }  # fmt: skip
    operations = ["product", "sum", "relu", "softmax", "parts", "exp", "flat"]
    assert {name: devices[name] for name in operations} == {n: "GPU" if n in names else "TEMPLATE" for n in operations}
    nodes = by_order(model)
    assert [node.rt_info.get("execOrder") for node in nodes] == [str(index) for index in range(len(nodes))]
    (split,) = [node for node in nodes if node.friendly_name == "parts"]
    assert split.input_value(0).node.friendly_name == "softmax"
    sources = [result.input_value(0) for result in model.results]
    assert [(value.node.friendly_name, value.index) for value in sources] == [
        ("parts", 0), ("parts", 2), ("flat", 0), ("relu", 0),
    ]  # fmt: skip
    times = {node.friendly_name: node.rt_info.get("execTimeMcs") for node in nodes}
    assert times["product"].isdecimal() and times["softmax"].isdecimal()


def test_values_passed_through_a_subgraph_and_constant_results():
    op = LIBRARIES["hetero"][0]
    x = op.parameter([2], np.float32, name="x")
    model = hetero.Model([op.relu(op.exp(x, name="exp")), x, op.constant(np.zeros(3)), op.exp(x)], [x])
    runtime_model = hetero.Core().compile_model(model, "HETERO:TEMPLATE", {"AFFINITIES": {"exp": "TEMPLATE"}})
    kinds = [
        result.input_value(0).node.rt_info.get("layerType") for result in runtime_model.get_runtime_model().results
    ]
    assert kinds == ["Relu", "Input", "Const", "Exp"]


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "HETERO:GPU,TEMPLATE"])
def test_dynamic_shapes_are_those_of_the_last_inference_on_specializing_devices(device):
    op = LIBRARIES["hetero"][0]
    x = op.parameter([-1, 3], np.float32, name="x")
    compiled = hetero.Core().compile_model(hetero.Model(op.softmax(op.relu(x), 1, name="soft"), [x]), device)

    def shape():
        (node,) = [n for n in compiled.get_runtime_model().get_ordered_ops() if n.friendly_name == "soft"]
        return str(node.output(0).partial_shape)

    assert shape() == "[?,3]"
    for rows in (2, 5, 2):
        compiled(np.zeros([rows, 3], np.float32))
        assert shape() == ("[?,3]" if device == "TEMPLATE" else f"[{rows},3]")


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU"])
def test_assign_is_executed_last(device):
    op = make_modules()["opset6"]
    x = op.parameter([2], np.float32)
    set_it = op.assign(x, "v")
    read = op.read_value(op.constant(np.zeros(2, np.float32)), "v")
    model = hetero.Model([op.result(op.exp(read))], [set_it], [x])
    nodes = by_order(hetero.Core().compile_model(model, device).get_runtime_model())
    kinds = [node.rt_info.get("layerType") for node in nodes]
    assert kinds == ["Input", "Const", "ReadValue", "Exp", "Assign", "Output"]
