"""Properties of one of several devices, of all devices and of Core; versions; unloading of devices."""

import logging

import numpy as np
import openvino
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero import properties as props
from hetero.plugin import Device
from hetero.runtime.version import Version
from hetero.system.errors import DeviceError, PropertyError
from tests.devices import PickyPlugin, core_with


class Several(PickyPlugin):
    """Two devices of one kind, each with a name."""

    def devices(self):
        return [Device(number, f"device {number}") for number in "01"]


class Few(PickyPlugin):
    """A device without streams."""

    supported_properties = (props.device.full_name, props.enable_profiling)


def relu_model() -> Model:
    x = Parameter(Type.f32, [1], name="x")
    return Model(ops.Relu(x), [x], "relu")


def read(core, key, *devices):
    return [core.get_property(device, key) for device in devices]


def test_property_of_one_of_several_devices():
    core = core_with(N=Several())
    core.set_property("N.1", {"PERF_COUNT": True})
    assert read(core, "PERF_COUNT", "N", "N.0", "N.1") == [False, False, True]
    core.set_property("N", {"NUM_STREAMS": 2})
    core.set_property("N.0", {"NUM_STREAMS": 3})
    assert read(core, "NUM_STREAMS", "N", "N.0", "N.1") == [3, 3, 2]
    assert read(core, "FULL_DEVICE_NAME", "N", "N.0", "N.1") == ["device 0", "device 0", "device 1"]
    assert core.get_property("N", "AVAILABLE_DEVICES") == ["0", "1"]
    compiled = core.compile_model(relu_model(), "N.1")
    assert compiled.get_property("PERF_COUNT") and compiled.get_property("EXECUTION_DEVICES") == ["N.1"]


def test_default_device_of_a_kind():
    core = core_with(N=Several())
    core.set_property("N", {"DEVICE_ID": "1"})
    core.set_property("N.1", {"NUM_STREAMS": 5})
    assert read(core, "FULL_DEVICE_NAME", "N", "N.0") == ["device 1", "device 0"]
    assert read(core, "NUM_STREAMS", "N", "N.0") == [5, 1]
    with pytest.raises(PropertyError, match="property DEVICE_ID of N cannot be '2': it takes 0, 1"):
        core.compile_model(relu_model(), "N", {"DEVICE_ID": "2"})
    with pytest.raises(PropertyError, match="property DEVICE_ID of N cannot be '2': it takes 0, 1"):
        core.set_property("N", {"DEVICE_ID": 2})


def test_properties_for_all_devices():
    core = core_with(A=PickyPlugin(), F=Few())
    core.set_property({"PERF_COUNT": True, "NUM_STREAMS": 2})
    assert read(core, "PERF_COUNT", "A", "F", "TEMPLATE", "GPU") == [True] * 4
    assert read(core, "NUM_STREAMS", "A", "TEMPLATE", "GPU", "HETERO") == [2] * 4
    assert core.get_property("PERF_COUNT") is True and core.get_property("NUM_STREAMS") == 2
    with pytest.raises(PropertyError, match="F has no property NUM_STREAMS"):
        core.get_property("F", "NUM_STREAMS")
    core.register_plugin(PickyPlugin, "LATER")
    assert core.get_property("LATER", "PERF_COUNT") is True
    core.set_property("LATER", {"PERF_COUNT": False})
    assert read(core, "PERF_COUNT", "LATER", "A") == [False, True]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"NO_SUCH_KEY": 1}, "neither Core nor any device has a property NO_SUCH_KEY; Core has CACHE_DIR"),
        ({"NUM_STREAMS": -3}, "property NUM_STREAMS of .* cannot be -3: it takes an integer of at least 0, or AUTO"),
        ({"FULL_DEVICE_NAME": "x"}, "property FULL_DEVICE_NAME of .* is read-only"),
    ],
)
def test_rejected_properties_for_all_devices_change_nothing(values, message, tmp_path):
    core = core_with(A=PickyPlugin())
    with pytest.raises(PropertyError, match=message):
        core.set_property({"PERF_COUNT": True, "CACHE_DIR": str(tmp_path), **values})
    assert read(core, "PERF_COUNT", "A", "TEMPLATE") == [False, False] and core.get_property("CACHE_DIR") == ""
    with pytest.raises(PropertyError, match="Core has no property PERF_COUNT"):
        core.get_property("PERF_COUNT")


def test_failing_device_does_not_keep_others_from_their_properties(caplog):
    class Failing(PickyPlugin):
        def set_property(self, values, options):
            raise OSError("the driver hung up")

    core = core_with(A=Failing(), B=PickyPlugin())
    with caplog.at_level(logging.WARNING, "hetero"):
        core.get_plugin("A")  # B is created later
        core.set_property({"PERF_COUNT": True})
    assert "A rejected PERF_COUNT: the driver hung up" in caplog.text
    assert core.get_property("B", "PERF_COUNT") is True
    with pytest.raises(DeviceError, match="A failed to set properties: OSError: the driver hung up"):
        core.set_property("A", {"PERF_COUNT": True})


def test_properties_as_pairs():
    core = core_with(A=PickyPlugin())
    core.set_property("A", props.hint.performance_mode("THROUGHPUT"))
    core.set_property(props.enable_profiling(True))
    assert core.get_property("A", props.hint.performance_mode) == props.hint.PerformanceMode.THROUGHPUT
    assert core.get_property("A", "PERF_COUNT") and core.get_property(props.enable_profiling())


def test_versions():
    core = core_with(A=PickyPlugin())
    versions = core.get_versions("HETERO:GPU,TEMPLATE")
    assert {name: v.description for name, v in versions.items()} == {
        "HETERO": "hetero", "GPU": "hetero-opencl", "TEMPLATE": "hetero-template",
    }  # fmt: skip
    theirs = openvino.Core().get_versions("CPU")["CPU"]
    for version in versions.values():
        assert str(version.build_number).startswith(f"{version.major}.{version.minor}.{version.patch}")
        assert all(type(getattr(version, key)) is type(getattr(theirs, key)) for key in ("description", "build_number"))
    assert core.get_versions("A") == {"A": Version(0, 0, 0, "", "tests.devices")}
    assert Version.parse("some-device 2.11rc1") == Version(2, 11, 0, "2.11rc1", "some-device")
    with pytest.raises(DeviceError, match="there is no device NPU"):
        core.get_versions("NPU")


def test_unload_plugin():
    plugins = []

    def make():
        plugins.append(PickyPlugin())
        return plugins[-1]

    core = Core()
    core.register_plugin(make, "A")
    with pytest.raises(DeviceError, match="device A is not loaded; loaded devices: none"):
        core.unload_plugin("A")
    core.set_property("A", {"NUM_STREAMS": 3})
    compiled = core.compile_model(relu_model(), "A")
    core.unload_plugin("A")
    request = compiled.create_infer_request()
    request.start_async(np.float32([2]))
    request.wait()
    assert request.results[0] == [2]
    assert core.get_property("A", "NUM_STREAMS") == 1 and len(plugins) == 2
    with pytest.raises(DeviceError, match="device B is not loaded; loaded devices: A"):
        core.unload_plugin("B")
