"""The property PLACEMENT on devices with known costs: placements, reasons and results."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.dispatch.cost.benchmark import DeviceBenchmark
from hetero.dispatch.cost.database import CostDatabase, CostModel, OperationTimes, model_key
from hetero.dispatch.devices import ListedDevice
from hetero.properties import Property
from hetero.system.errors import DeviceError, PropertyError
from tests.devices import PickyPlugin, core_with

X = np.array([[-1, 0, 0.5, 2]], np.float32)
Y = np.tanh(np.exp(np.maximum(X, 0)))
# Transfers and boundaries cost next to nothing, so that the costs of operations decide.
FAST = DeviceBenchmark(1e12, 1e12, 1e12, 1e12, 1e12, 1e-9, 1e-6)


class PricedPlugin(PickyPlugin):
    """A device that estimates costs by operation type; other operations are priced by their work."""

    def __init__(self, accepts=lambda node: True, memory=0, **seconds):
        super().__init__(accepts)
        self._seconds, self._memory = seconds, memory
        self.asked = 0

    supported_properties = (*PickyPlugin.supported_properties, Property("X_DEVICE_TOTAL_MEM_SIZE", int, 0))

    def property_table(self, options):
        table = super().property_table(options)
        table.set_internal({"X_DEVICE_TOTAL_MEM_SIZE": self._memory})
        return table

    def estimate_cost(self, node, options):
        self.asked += 1
        return self._seconds.get(node.type_info.name)


def chain():
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model(ops.Tanh(ops.Exp(ops.Relu(x, name="relu"), name="exp"), name="tanh"), [x], "chain")


def write_benchmark(core: Core, folder, *names):
    for name in names:
        plugin, options = core.resolve_device(name)
        CostDatabase(folder).write_benchmark(ListedDevice(name, plugin, options), FAST)


def placed(core, folder, model=None, devices="A,B", **options):
    model = model or chain()
    write_benchmark(core, folder, *devices.split(","))
    compiled = core.compile_model(model, f"HETERO:{devices}", {"COSTS_DIR": str(folder), **options})
    if model.friendly_name == "chain":
        np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    queried = core.query_model(model, f"HETERO:{devices}", {"COSTS_DIR": str(folder), **options})
    operations = compiled.get_property("PLACEMENT_REPORT").operations
    assert {o.name: o.device for o in operations}.items() <= queried.items()
    return operations


def two(**seconds_of_b):
    return core_with(A=PricedPlugin(Relu=1e-3, Exp=1e-3, Tanh=1e-3), B=PricedPlugin(**seconds_of_b))


@pytest.mark.parametrize(
    ("strategy", "expected"), [("GREEDY", "AAA"), ("MIN_CUT", "ABA"), ("min_cut", "ABA"), ("PIPELINE", "AAB")]
)
def test_strategies(tmp_path, strategy, expected):
    core = two(Relu=2e-3, Exp=1e-4, Tanh=2e-3)
    operations = placed(core, tmp_path, PLACEMENT=strategy)
    assert "".join(o.device for o in operations) == expected


def test_greedy_asks_for_no_costs(tmp_path):
    a, b = PricedPlugin(), PricedPlugin()
    core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B", {"COSTS_DIR": str(tmp_path / "none")})
    assert not a.asked
    assert not b.asked
    assert not (tmp_path / "none").exists()


def test_reasons(tmp_path):
    core = two(Relu=9e-4, Exp=1e-4, Tanh=2e-3)
    keep = {"PLACEMENT": "MIN_CUT", "AFFINITIES": {"tanh": "B"}}
    assert [o.reason for o in placed(core, tmp_path, **keep)] == [
        "faster here than on A",
        "faster here than on A",
        "pinned",
    ]


def test_the_reason_says_that_the_transfers_outweigh_the_gain(tmp_path):
    core = two(Relu=9.995e-4, Exp=1.0, Tanh=1.0)
    reasons = [o.reason for o in placed(core, tmp_path, PLACEMENT="MIN_CUT")]
    assert reasons[0] == "faster on B, but not by more than the transfers take"
    assert reasons[1] == "faster here than on B"


def test_pins_win(tmp_path):
    core = two(Relu=2e-3, Exp=1e-4, Tanh=2e-3)
    for strategy in ("GREEDY", "MIN_CUT", "PIPELINE"):
        operations = placed(core, tmp_path, PLACEMENT=strategy, AFFINITIES={"relu": "B", "exp": "A"})
        assert [(o.device, o.reason) for o in operations[:2]] == [("B", "pinned"), ("A", "pinned")]


def test_operations_that_one_device_supports_run_there(tmp_path):
    a = PricedPlugin(lambda node: node.type_info.name != "Exp", Relu=1e-3, Tanh=1e-3)
    core = core_with(A=a, B=PricedPlugin(Relu=5e-3, Exp=9.0, Tanh=5e-3))
    operations = placed(core, tmp_path, PLACEMENT="MIN_CUT")
    assert "".join(o.device for o in operations) == "ABA"
    assert operations[1].reason == "A: A is picky"


def test_measured_times_win_over_estimates_and_estimates_over_work(tmp_path):
    core = two(Relu=2e-3, Exp=2e-3)
    plugin, options = core.resolve_device("B")
    device, model = ListedDevice("B", plugin, options), chain()
    write_benchmark(core, tmp_path, "B")
    measured = CostDatabase(tmp_path)
    relu, exp, tanh = model.get_ordered_ops()[1:4]
    costs = CostModel(model, model_key(model), [device], measured)
    measured.write_operation_times(device, model_key(model), OperationTimes({costs.key(relu): 3e-5}, 7e-5))
    costs = CostModel(model, model_key(model), [device], measured)
    assert costs.operation(relu, device) == 3e-5
    assert costs.operation(exp, device) == 2e-3
    assert costs.operation(tanh, device) == pytest.approx(1e-9 + 32 / 1e12)
    assert costs.subgraph(device) == 7e-5


def test_three_devices(tmp_path):
    prices = [{"Relu": 1e-4}, {"Exp": 1e-4}, {"Tanh": 1e-4}]
    default = {"Relu": 1e-2, "Exp": 1e-2, "Tanh": 1e-2}
    core = core_with(**{name: PricedPlugin(**{**default, **price}) for name, price in zip("ABC", prices)})
    operations = placed(core, tmp_path, devices="A,B,C", PLACEMENT="MIN_CUT")
    assert "".join(o.device for o in operations) == "ABC"


def test_values_that_are_known_when_compiled_cost_nothing(tmp_path):
    """The second reader of the shape would need a copy if it were not known."""
    x = Parameter(Type.f32, [2, 4], name="x")
    shape = ops.ShapeOf(ops.Relu(x), name="shape")
    model = Model(ops.Reshape(ops.Exp(x), shape, False), [x], "known")
    core = core_with(A=PricedPlugin(ShapeOf=1.0), B=PricedPlugin(ShapeOf=1.0))
    plugin, options = core.resolve_device("A")
    write_benchmark(core, tmp_path, "A")
    device = ListedDevice("A", plugin, options)
    costs = CostModel(model, model_key(model), [device], CostDatabase(tmp_path))
    node = next(node for node in model.get_ordered_ops() if node.friendly_name == "shape")
    assert costs.operation(node, device) == costs.leave(node.output(0), device) == 0.0


def test_policy_of_openvino(tmp_path):
    core = two(Relu=1e-3, Exp=1e-3, Tanh=2e-3)
    policy = "MODEL_DISTRIBUTION_POLICY"
    assert "".join(o.device for o in placed(core, tmp_path, **{policy: "PIPELINE_PARALLEL"})) == "AAB"
    assert "".join(o.device for o in placed(core, tmp_path, **{policy: {"PIPELINE_PARALLEL"}})) == "AAB"
    both = {policy: "PIPELINE_PARALLEL", "PLACEMENT": "GREEDY"}
    assert "".join(o.device for o in placed(core, tmp_path, **both)) == "AAA"
    with pytest.raises(PropertyError, match="TENSOR_PARALLEL is not supported: use PIPELINE_PARALLEL"):
        placed(core, tmp_path, **{policy: "TENSOR_PARALLEL"})
    with pytest.raises(PropertyError, match="MODEL_DISTRIBUTION_POLICY of HETERO cannot be 'X'"):
        placed(core, tmp_path, **{policy: "X"})


def weighty():
    """Three gemms with matrices of 256 KiB each."""
    x = Parameter(Type.f32, [1, 256], name="x")
    value = x
    for index in range(3):
        value = ops.MatMul(value, np.full((256, 256), index + 1, np.float32), False, False, name=f"product {index}")
    return Model(value, [x], "weighty")


def test_a_pipeline_respects_memory(tmp_path):
    """A is faster at everything, but has memory for one of the matrices only."""
    devices = {"A": PricedPlugin(memory=300_000, MatMul=1e-6), "B": PricedPlugin(MatMul=1.0)}
    operations = placed(core_with(**devices), tmp_path, weighty(), PLACEMENT="PIPELINE")
    assert [(o.device, o.reason) for o in operations] == [
        ("A", "stage 1 of 2"),
        ("B", "stage 2 of 2"),
        ("B", "stage 2 of 2"),
    ]
    small = {name: PricedPlugin(memory=300_000, MatMul=1e-6) for name in "AB"}
    with pytest.raises(DeviceError, match=r"a pipeline needs 0.786432 MB on its devices, which have 0.\d+, 0.\d+ MB"):
        placed(core_with(**small), tmp_path, weighty(), PLACEMENT="PIPELINE")


def test_a_new_calibration_invalidates_cached_models(tmp_path):
    core = two(Relu=5e-3, Exp=1e-3, Tanh=1e-3)
    write_benchmark(core, tmp_path, "A", "B")
    options = {"PLACEMENT": "MIN_CUT", "COSTS_DIR": str(tmp_path), "CACHE_DIR": str(tmp_path / "cache")}

    def compile_again():
        compiled = core.compile_model(chain(), "HETERO:A,B", options)
        homes = "".join(o.device for o in compiled.get_property("PLACEMENT_REPORT").operations)
        return compiled.get_property("LOADED_FROM_CACHE"), homes

    assert compile_again() == (False, "AAA")
    assert compile_again() == (True, "AAA")
    plugin, given = core.resolve_device("B")
    times = {operation: 1e-6 for operation in ("opset1::Exp() f32[1, 4]", "opset1::Tanh() f32[1, 4]")}
    CostDatabase(tmp_path).write_operation_times(ListedDevice("B", plugin, given), "another", OperationTimes(times))
    assert compile_again() == (False, "ABB")
    assert compile_again() == (True, "ABB")
