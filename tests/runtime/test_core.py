"""Core: devices, their properties, and broken devices."""

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.dispatch.devices import parse_device_name
from hetero.plugin import Device, Plugin, Rank, installed_plugins
from hetero.properties import Property
from hetero.system.errors import DeviceError, FrontendError, PropertyError, UnsupportedOperationError
from tests.devices import PickyPlugin, core_with
from tests.virtual.devices import Backend


@pytest.mark.parametrize(
    ("text", "kind", "options"),
    [
        ("CPU", "CPU", {}),
        ("CPU.1", "CPU", {"DEVICE_ID": "1"}),
        ("OTHER.GPU.1", "OTHER", {"DEVICE_ID": "GPU.1"}),
        ("HETERO:CPU.1,NPU", "HETERO", {"MULTI_DEVICE_PRIORITIES": ("CPU.1", "NPU")}),
        (" HETERO: A , B ", "HETERO", {"MULTI_DEVICE_PRIORITIES": ("A", "B")}),
    ],
)
def test_device_strings(text, kind, options):
    assert parse_device_name(text) == (kind, options)


@pytest.mark.parametrize("text", ["", "A,B", "HETERO:", "HETERO:A,", "A.", "A.1.", ".1", "A B", "1A"])
def test_invalid_device_strings(text):
    with pytest.raises(DeviceError, match="is not a device string: write a name such as"):
        parse_device_name(text)


class Broken(Plugin):
    """A device without a driver."""

    def __init__(self):
        raise OSError("libnpu.so: cannot open shared object file")

    def query_model(self, model, options): ...
    def compile_model(self, model, options, context=None): ...


class Several(PickyPlugin):
    """Two devices of one kind. ``requested`` is the id of the last compilation."""

    def devices(self):
        return [Device("0"), Device("1")]

    def compile_model(self, model, options, context=None):
        self.requested = options["DEVICE_ID"]
        return super().compile_model(model, options, context)


def relu_model() -> Model:
    x = Parameter(Type.f32, [1], name="x")
    return Model(ops.Relu(x), [x], "relu")


class Named(PickyPlugin):
    """A kind whose only device has a name as its id, and a property of its own."""

    def devices(self):
        return [Device("CPU")]

    def properties_of(self, device, values):
        return [*self.supported_properties, Property("CORES", int, 4)]

    def unsupported_nodes(self, model, properties, device):
        return {node: f"{device.id} judges '{model.friendly_name}'" for node in model.get_ordered_ops() if node.bodies}


def test_only_device_with_a_name():
    core = core_with(OTHER=Named())
    assert "OTHER.CPU" in core.available_devices and "OTHER" not in core.available_devices
    assert core.get_property("OTHER.CPU", "CORES") == 4
    assert core.compile_model(relu_model(), "OTHER.CPU", {"CORES": "2"}).get_property("CORES") == 2
    compiled = core.compile_model(relu_model(), "HETERO:OTHER.CPU", {"CORES": 3})
    assert compiled(np.float32([-2]))[0] == 0


def test_device_that_judges_whole_models():
    core = core_with(OTHER=Named())
    condition = Parameter(Type.boolean, [])
    choice = ops.If(condition)
    choice.set_then_body(Model([Constant(np.float32([1]))], []))
    choice.set_else_body(Model([Constant(np.float32([2]))], []))
    choice.set_output(choice.get_then_body().results[0], choice.get_else_body().results[0])
    model = Model(ops.Relu(choice, name="relu"), [condition], "choice")
    found = core.query_model(model, "OTHER.CPU")
    assert found["relu"] == "OTHER.CPU" and found.refused == {choice.friendly_name: "CPU judges 'choice'"}
    with pytest.raises(UnsupportedOperationError, match="CPU judges 'choice'"):
        core.compile_model(model, "OTHER.CPU")


def test_broken_device_is_listed_as_unavailable_with_its_reason():
    core = core_with(A=PickyPlugin())
    core.register_plugin(Broken, "NPU")
    assert "A" in core.available_devices and "NPU" not in core.available_devices
    assert core.unavailable_devices["NPU"] == "OSError: libnpu.so: cannot open shared object file"
    with pytest.raises(DeviceError, match="device NPU is not available: OSError: libnpu.so"):
        core.compile_model(relu_model(), "NPU")
    np.testing.assert_array_equal(core.compile_model(relu_model(), "A")([np.float32([2])])[0], [2])


def test_package_that_fails_to_import_is_listed(monkeypatch):
    class EntryPoint:
        name, dist = "half_installed", None

        def load(self):
            raise ImportError("No module named 'missing_driver'")

    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [EntryPoint()])
    installed_plugins.cache_clear()
    try:
        assert Core().unavailable_devices == {"half_installed": "ImportError: No module named 'missing_driver'"}
    finally:
        installed_plugins.cache_clear()


def test_devices_of_one_kind_are_selected_by_id():
    plugin = Several()
    core = core_with(N=plugin)
    assert [name for name in core.available_devices if name.startswith("N")] == ["N.0", "N.1"]
    core.compile_model(relu_model(), "N.1")
    assert plugin.requested == "1"
    with pytest.raises(DeviceError, match="there is no device N.7; there is N.0, N.1"):
        core.compile_model(relu_model(), "N.7")


def test_available_devices_has_the_processor():
    """Programs for OpenVINO look for CPU. Plugins see devices by their own names only."""
    core = core_with(A=Backend(rank=Rank.PROCESSOR))
    assert core.available_devices == [*core.host.available_devices, "CPU"] and "CPU" not in core.host.available_devices
    own = core_with(CPU=Backend())
    assert own.available_devices == own.host.available_devices and own.available_devices.count("CPU") == 1


def test_available_devices_omits_the_dispatcher():
    assert "HETERO" not in Core().available_devices


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("PERF_COUNTS", "YES", "A has no property PERF_COUNTS; did you mean PERF_COUNT"),
        ("PERF_COUNT", "MAYBE", "property PERF_COUNT of A cannot be 'MAYBE': it takes YES or NO"),
        ("NUM_STREAMS", -3, "property NUM_STREAMS of A cannot be -3: it takes an integer of at least 0"),
        ("FULL_DEVICE_NAME", "x", "property FULL_DEVICE_NAME of A is read-only"),
    ],
)
def test_invalid_properties_are_rejected(key, value, message):
    core = core_with(A=PickyPlugin())
    with pytest.raises(PropertyError, match=message):
        core.set_property("A", {key: value})
    with pytest.raises(PropertyError, match=message):
        core.compile_model(relu_model(), "A", {key: value})


def test_properties_of_compile_model_take_precedence():
    core = core_with(A=PickyPlugin())
    core.set_property("A", {"NUM_STREAMS": 2})
    assert core.get_property("A", "NUM_STREAMS") == 2
    assert core.compile_model(relu_model(), "A").get_property("NUM_STREAMS") == 2
    assert core.compile_model(relu_model(), "A", {"NUM_STREAMS": "4"}).get_property("NUM_STREAMS") == 4
    assert core.get_property("A", "FULL_DEVICE_NAME") == "numpy reference"
    assert "NUM_STREAMS" in core.get_property("A", "SUPPORTED_PROPERTIES")


def test_an_exception_in_compile_names_the_device(monkeypatch):
    plugin = PickyPlugin()
    monkeypatch.setattr(plugin, "transform_model", lambda model, disabled: 1 / 0)
    with pytest.raises(DeviceError, match="A failed to compile model 'relu': ZeroDivisionError: division by zero"):
        core_with(A=plugin).compile_model(relu_model(), "A")


def test_unreadable_models(tmp_path):
    core = Core()
    with pytest.raises(FrontendError, match="there is no model file .*nowhere.onnx"):
        core.read_model(tmp_path / "nowhere.onnx")
    text = tmp_path / "text.txt"
    text.write_text("hello, I am no model")
    with pytest.raises(FrontendError, match="text.txt"):
        core.read_model(text)
