"""hetero calibrate: measured times decide later placements.

Some devices sleep in some operations. The tests compare their times with each other, never with a number.
"""

import json
import time

import numpy as np
import onnx
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest
from onnx import TensorProto, helper
from typer.testing import CliRunner

from hetero import Model, Parameter, Type, ops
from hetero.dispatch.cost.benchmark import DeviceBenchmark
from hetero.dispatch.cost.database import CostDatabase
from hetero.dispatch.devices import ListedDevice
from hetero.run.calibrate import calibrate, example_inputs
from hetero.run.cli import app
from hetero.system.errors import ConfigError
from tests.devices import PickyPlugin, core_with

X = np.array([[-1, 0, 0.5, 2]], np.float32)
Y = np.tanh(np.exp(np.maximum(X, 0)))


class _SlowRequest(TemplateInferRequest):
    def _record_time(self, node, seconds):
        delay = self.compiled_model.plugin.seconds.get(node.type_info.name, 0.0)
        time.sleep(delay)
        super()._record_time(node, delay or 1e-6)  # the program would add the delay to the next operation

    def start(self):
        if len(self.compiled_model.program.steps) < 3:
            time.sleep(self.compiled_model.plugin.in_parts)
        super().start()


class _SlowModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        return _SlowRequest(self)


class SlowPlugin(PickyPlugin):
    """Sleeps in operations of some types (``seconds``), and in subgraphs of fewer than three operations."""

    def __init__(self, accepts=lambda node: True, in_parts=0.0, **seconds):
        super().__init__(accepts)
        self.seconds, self.in_parts = seconds, in_parts

    def compile_model(self, model, options, context=None):
        compiled = super().compile_model(model, options, context)
        compiled.__class__, run = _SlowModel, compiled.run
        compiled.run = lambda inputs, state, observe: run(inputs, state, observe or self._sleep)
        return compiled

    def _sleep(self, node, seconds):
        time.sleep(self.seconds.get(node.type_info.name, 0.0))


@pytest.fixture
def folder(tmp_path):
    """A cost database with benchmarks of all devices, which would take seconds to measure."""
    core = core_with(A=SlowPlugin(), B=SlowPlugin())
    for name in ("A", "B", "TEMPLATE"):
        benchmark = DeviceBenchmark(1e11, 1e11, 1e11, 1e11, 1e11, 1e-6, 1e-5)
        CostDatabase(tmp_path).write_benchmark(ListedDevice(name, *core.resolve_device(name)), benchmark)
    return tmp_path


def chain():
    x = Parameter(Type.f32, [-1, 4], name="x")
    return Model(ops.Tanh(ops.Exp(ops.Relu(x, name="relu"), name="exp"), name="tanh"), [x], "chain")


def placement(core, folder, model=None):
    """Return the devices of the operations with MIN_CUT, in topological order, as one string."""
    compiled = core.compile_model(model or chain(), "HETERO:A,B", {"PLACEMENT": "MIN_CUT", "COSTS_DIR": str(folder)})
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    return "".join(o.device for o in compiled.get_property("PLACEMENT_REPORT").operations)


def test_measured_times_decide_later_placements(folder):
    core = core_with(A=SlowPlugin(Exp=0.02), B=SlowPlugin(Relu=0.02, Tanh=0.02))
    steps = []
    report = calibrate(
        core, chain(), "HETERO:A,B", [X], {"COSTS_DIR": str(folder)}, 0.0, lambda *step: steps.append(step)
    )
    assert placement(core, folder) == "ABA"
    assert {o.name: o.device for o in report.operations} == {"relu": "A", "exp": "B", "tanh": "A"}
    times = {o.name: o.milliseconds for o in report.operations}
    assert {name: max(devices, key=devices.get) for name, devices in times.items()} == {
        "relu": "B", "exp": "A", "tanh": "B",
    }  # fmt: skip
    assert sorted(report.milliseconds, key=report.milliseconds.get) == ["MIN_CUT", "A first", "B first"]
    assert report.input_shapes == {"x": [1, 4]}
    assert [done for _, done, _ in steps] == list(range(len(steps)))
    assert all(done < total for _, done, total in steps)
    # Another Core, and so another process, reads the same times.
    assert placement(core_with(A=SlowPlugin(), B=SlowPlugin()), folder) == "ABA"


def test_cut_is_rejected_if_it_is_not_faster(folder):
    """By its operations a cut would save 10 ms, but the subgraphs run 20 ms longer, which only a measurement shows."""
    core = core_with(A=SlowPlugin(in_parts=0.01, Exp=0.01), B=SlowPlugin(Relu=0.01, Tanh=0.01))
    report = calibrate(core, chain(), "HETERO:A,B", [X], {"COSTS_DIR": str(folder)}, 0.0)
    assert placement(core, folder) == "AAA"
    assert report.milliseconds["MIN_CUT"] == report.milliseconds["A first"]


def test_times_apply_to_other_models(folder):
    core = core_with(A=SlowPlugin(Exp=0.02), B=SlowPlugin(Relu=0.02, Tanh=0.02))
    x = Parameter(Type.f32, [1, 4], name="x")
    longer = ops.Tanh(ops.Exp(ops.Exp(ops.Relu(x))))
    calibrate(core, chain(), "HETERO:A,B", [X], {"COSTS_DIR": str(folder)}, 0.0)
    compiled = core.compile_model(Model(longer, [x]), "HETERO:A,B", {"PLACEMENT": "MIN_CUT", "COSTS_DIR": str(folder)})
    assert "".join(o.device for o in compiled.get_property("PLACEMENT_REPORT").operations) == "ABBA"


def test_operations_are_measured_on_devices_that_support_them(folder):
    core = core_with(A=SlowPlugin(lambda node: node.type_info.name != "Exp"), B=SlowPlugin(Relu=0.01, Tanh=0.01))
    report = calibrate(core, chain(), "HETERO:A,B", [X], {"COSTS_DIR": str(folder)}, 0.0)
    times = {o.name: set(o.milliseconds) for o in report.operations}
    assert times == {"relu": {"A", "B"}, "exp": {"B"}, "tanh": {"A", "B"}}


def test_fused_operations_share_their_time(folder):
    """TEMPLATE fuses a convolution, its bias and Relu. The convolution gets most of the time."""
    x = Parameter(Type.f32, [1, 8, 16, 16], name="x")
    convolution = ops.Convolution(x, np.ones((8, 8, 3, 3), np.float32), [1, 1], [1, 1], [1, 1], [1, 1], name="conv")
    bias = ops.Add(convolution, np.ones((1, 8, 1, 1), np.float32), name="bias")
    model = Model(ops.Relu(bias, name="relu"), [x], "fused")
    core = core_with(A=SlowPlugin(FusedConvolution=0.02))
    image = np.zeros([1, 8, 16, 16], np.float32)
    report = calibrate(core, model, "HETERO:A", [image], {"COSTS_DIR": str(folder)}, 0.0)
    times = {o.name: o.milliseconds["A"] for o in report.operations}
    assert times.keys() == {"conv", "bias", "relu"}
    assert times["conv"] == max(times.values())
    assert min(times.values()) > 0


def test_example_inputs():
    x = Parameter(Type.f32, [-1, 3, -1], name="x")
    index, flag = Parameter(Type.i64, [2], name="index"), Parameter(Type.boolean, [], name="flag")
    model = Model([ops.Relu(x), ops.Negative(index), ops.LogicalNot(flag)], [x, index, flag])
    arrays = example_inputs(model, {"x": (2, 3, 5)})
    assert [(a.shape, a.dtype.name) for a in arrays] == [((2, 3, 5), "float32"), ((2,), "int64"), ((), "bool")]
    assert example_inputs(model, {})[0].shape == (1, 3, 64)
    with pytest.raises(ConfigError, match="the model has no input y; it has x, index, flag"):
        example_inputs(model, {"y": (1,)})
    with pytest.raises(ConfigError, match=r"input x takes the shape \[\?,3,\?\], not \[2, 4, 5\]"):
        example_inputs(model, {"x": (2, 4, 5)})


def test_devices_must_be_named(folder):
    with pytest.raises(ConfigError, match="A names no devices to calibrate: use HETERO:A,B"):
        calibrate(core_with(A=SlowPlugin()), chain(), "A", [X], {"COSTS_DIR": str(folder)}, 0.0)


def test_command(folder, tmp_path_factory):
    file = tmp_path_factory.mktemp("model") / "model.onnx"
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 3]) for name in "xy"]
    nodes = [helper.make_node("Relu", ["x"], ["t"], name="relu"), helper.make_node("Tanh", ["t"], ["y"], name="tanh")]
    graph = helper.make_graph(nodes, "chain", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    arguments = ["calibrate", str(file), "-d", "HETERO:TEMPLATE", "--shape", "x=5,3"]
    arguments += ["--seconds", "0", "--costs-dir", str(folder)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "measured with x [5, 3]"
    assert sorted(line.split()[:3] for line in lines if "anh" in line or "elu" in line) == [
        ["relu", "Relu", "TEMPLATE"],
        ["tanh", "Tanh", "TEMPLATE"],
    ]
    assert "TEMPLATE 2/2 operations" in lines[-1]
    assert "operations" not in result.stderr
    assert len(list(folder.glob("*-*.json"))) == 1
    report = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert report["input_shapes"] == {"x": [5, 3]}
    wrong = CliRunner().invoke(app, ["calibrate", str(file), "-d", "TEMPLATE"])
    assert wrong.exit_code == 2
    assert "names no devices to calibrate" in wrong.stderr
