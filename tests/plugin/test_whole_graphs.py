"""A device that compiles whole graphs: one step of the profile and of the runtime model for all operations."""

from datetime import timedelta

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest
from hetero_template.plugin import TemplatePlugin

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.graph import ExecutionNode, is_terminal
from hetero.plugin import ExecutedStep, ProfilingInfo, make_runtime_model
from hetero.run.calibrate import calibrate
from hetero.run.report.data import executed_steps


class _Request(TemplateInferRequest):
    def get_profiling_info(self):
        stages = [info for info in super().get_profiling_info() if info not in self._profile]
        took = sum((info.real_time for info in self._profile), timedelta(0))
        steps = [ProfilingInfo(info.node_name, "Graph", "engine", took, took) for info in self._profile[:1]]
        return [*stages, *steps]


class _CompiledModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        return _Request(self)

    def get_runtime_model(self):
        first, *others = (step.node for step in self.program.steps)
        step = ExecutedStep(first, "engine", "Graph", others)
        return make_runtime_model(self.transformed, [step], self.execution_times)


class WholePlugin(TemplatePlugin):
    """TEMPLATE that leaves graphs as they are, and compiles each as one step."""

    passes = ()

    def __init__(self):
        super().__init__()
        self.constants: dict[str, np.ndarray] = {}

    def compile(self, prepared):
        nodes = prepared.model.get_ordered_ops()
        self.constants |= {node.friendly_name: node.data for node in nodes if isinstance(node, Constant)}
        return _CompiledModel(prepared)


@pytest.fixture
def core():
    core = Core()
    core.register_plugin(WholePlugin, "WHOLE")
    return core


X = np.float32([[0.5, -2, 3]])


def model() -> Model:
    """relu(x), and exp(relu(x)) + relu(x)."""
    x = Parameter(Type.f32, [1, 3], name="x")
    relu = ops.Relu(x, name="relu")
    exp = ops.Exp(relu, name="exp")
    return Model([relu, ops.Add(exp, relu, name="add")], [x], "model")


def steps_of(compiled) -> list[ExecutionNode]:
    nodes = compiled.get_runtime_model().get_ordered_ops()
    return [node for node in nodes if isinstance(node, ExecutionNode) and not is_terminal(node)]


@pytest.mark.parametrize("device", ["WHOLE", "HETERO:WHOLE,TEMPLATE"])
def test_one_step_has_all_operations(core, device):
    compiled = core.compile_model(model(), device, {"PERF_COUNT": True})
    request = compiled.create_infer_request()
    request.infer([X])
    (info,) = [info for info in request.get_profiling_info() if info.node_type == "Graph"]
    (step,) = steps_of(compiled)
    assert info.node_name == step.friendly_name == "relu"
    assert step.rt_info["originalLayersNames"] == "relu,exp,add"
    assert int(step.rt_info["execTimeMcs"].value) == round(info.real_time / timedelta(microseconds=1))
    assert [value.get_shape() for value in step.outputs()] == [(1, 3), (1, 3)] and step.get_input_size() == 1
    (data,), unknown = executed_steps(compiled.get_runtime_model())
    assert data.operations == ["relu", "exp", "add"] and data.type_name == "Graph" and unknown == 0


def test_the_step_reads_and_writes_the_boundaries_of_a_cut(core):
    cut = model()
    next(node for node in cut.get_ordered_ops() if node.friendly_name == "exp").rt_info["affinity"] = "TEMPLATE"
    compiled = core.compile_model(cut, "HETERO:WHOLE,TEMPLATE")
    np.testing.assert_allclose(compiled([X])[1], np.exp(np.maximum(X, 0)) + np.maximum(X, 0), rtol=1e-6)
    assert [(step.friendly_name, step.get_input_size(), step.get_output_size()) for step in steps_of(compiled)] == [
        ("relu", 1, 1),
        ("exp", 1, 1),
        ("add", 2, 1),
    ]


def test_calibration_divides_the_time_of_the_step(core, tmp_path):
    report = calibrate(core, model(), "HETERO:WHOLE,TEMPLATE", [X], {"COSTS_DIR": str(tmp_path)}, seconds=0)
    assert {cost.name for cost in report.operations if cost.milliseconds["WHOLE"] > 0} == {"relu", "exp", "add"}


@pytest.mark.parametrize("device", ["WHOLE", "HETERO:WHOLE,TEMPLATE", "HETERO:TEMPLATE,WHOLE"])
def test_constants_of_64_bits_reach_the_device_unchanged(core, device):
    large = np.array([2**53 + 1, -(2**62)], np.int64)  # no f64 is equal to the first
    fine = np.array([1 + 2**-52, 1e300])  # no f32 is
    i, d = Parameter(Type.i64, [2], name="i"), Parameter(Type.f64, [2], name="d")
    add = ops.Add(i, Constant(large, name="large"), name="add")
    multiply = ops.Multiply(d, Constant(fine, name="fine"), name="multiply")
    add.rt_info["affinity"] = multiply.rt_info["affinity"] = "WHOLE"
    compiled = core.compile_model(Model([ops.Abs(add), multiply], [i, d]), device)
    constants = core.get_plugin("WHOLE").constants
    assert constants["large"].dtype == np.int64 and constants["fine"].dtype == np.float64
    np.testing.assert_array_equal(constants["large"], large)
    np.testing.assert_array_equal(constants["fine"], fine)
    results = compiled([np.array([1, 1], np.int64), np.ones(2)])
    np.testing.assert_array_equal(results[0], np.abs(large + 1))
    np.testing.assert_array_equal(results[1], fine)
