"""Devices by id, and properties for each of them."""

import itertools

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.plugin import Device, Rank
from hetero.run.yaml_runs.config import load_config
from hetero.system.errors import DeviceError, PropertyError
from tests.devices import PickyPlugin, core_with

X = np.float32([[-1, 0, 0.5, 2]])
NUMBERS = itertools.count()  # each reason is logged once


class Pair(PickyPlugin):
    """A plugin with two devices, the second without Exp."""

    def __init__(self, accepts=lambda node: True):
        super().__init__(accepts)
        self.ids_compiled_for: list[tuple[str, int]] = []

    def devices(self):
        return [Device(number, rank=Rank.PROCESSOR, compiles_fast=True) for number in "01"]

    def unsupported_reason(self, node, device):
        if device.id == "1" and node.type_info.name == "Exp":
            return "the second has none"
        return super().unsupported_reason(node, device)

    def compile_model(self, model, options, context=None):
        compiled = super().compile_model(model, options, context)
        table = compiled.properties
        self.ids_compiled_for.append((table.get("DEVICE_ID"), table.get("NUM_STREAMS")))
        return compiled


def chain() -> Model:
    x = Parameter(Type.f32, [-1, 4], name="x")
    return Model(ops.Tanh(ops.Exp(ops.Relu(x, name="relu"), name="exp"), name="tanh"), [x], "chain")


def compiled_for(devices, **options):
    pair = Pair(lambda node: node.type_info.name != "Tanh")
    core = core_with(PAIR=pair, B=PickyPlugin())
    return core.compile_model(chain(), f"HETERO:{devices}", options), pair


def test_two_devices_of_one_plugin():
    compiled, pair = compiled_for("PAIR.1,PAIR.0,B")
    report = compiled.get_property("PLACEMENT_REPORT")
    assert [(o.device, o.reason) for o in report.operations] == [
        ("PAIR.1", "first device"),
        ("PAIR.0", "PAIR.1: the second has none"),
        ("B", "PAIR.1: PAIR is picky; PAIR.0: PAIR is picky"),
    ]
    assert {device for device, _ in pair.ids_compiled_for} == {"0", "1"}
    assert compiled.get_property("EXECUTION_DEVICES") == ["PAIR.1", "PAIR.0", "B"]
    np.testing.assert_allclose(compiled(X)[0], np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-6)
    core = core_with(PAIR=Pair(), B=PickyPlugin())
    imported = core.import_model(compiled.export_model(), "HETERO:PAIR.1,PAIR.0,B")
    assert imported.get_property("EXECUTION_DEVICES") == ["PAIR.1", "PAIR.0", "B"]
    np.testing.assert_array_equal(imported(X)[0], compiled(X)[0])


def test_pins_name_a_device_by_its_id():
    compiled, _ = compiled_for("PAIR.0,PAIR.1,B", AFFINITIES={"relu": "PAIR.1"})
    devices = {o.name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}
    assert devices == {"relu": "PAIR.1", "exp": "PAIR.0", "tanh": "B"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"DEVICE_PROPERTIES": {"PAIR.1": {"NUM_STREAMS": 3}}, "NUM_STREAMS": 1}, {"0": 1, "1": 3}),
        ({"DEVICE_PROPERTIES": {"PAIR": {"NUM_STREAMS": 3}}}, {"0": 3, "1": 3}),
        ({"DEVICE_PROPERTIES": {"PAIR": {"NUM_STREAMS": 3}, "PAIR.0": {"NUM_STREAMS": 2}}}, {"0": 2, "1": 3}),
        ({"DEVICE_PROPERTIES": {"CPU": {"NUM_STREAMS": 3}, "PAIR.0": {"NUM_STREAMS": 2}}}, {"0": 2, "1": 3}),
        ({"DEVICE_PROPERTIES": {"CPU": {"NUM_STREAMS": 3}, "PAIR": {"NUM_STREAMS": 2}}}, {"0": 2, "1": 2}),
        ({"DEVICE_PROPERTIES": '{"PAIR.0": {"NUM_STREAMS": "2"}}', "NUM_STREAMS": 4}, {"0": 2, "1": 4}),
    ],
)
def test_properties_of_a_device_and_of_a_plugin(given, expected):
    _, pair = compiled_for("PAIR.1,PAIR.0,B", **given)
    assert dict(pair.ids_compiled_for) == expected


def test_properties_of_the_devices_of_the_processor_that_none_of_them_has():
    with pytest.raises(PropertyError, match="DEVICE_PROPERTIES: CPU has no property NOTHING"):
        compiled_for("PAIR.1,PAIR.0,B", DEVICE_PROPERTIES={"CPU": {"NOTHING": 1, "NUM_STREAMS": 2}})


def test_properties_from_yaml(tmp_path):
    (tmp_path / "model.onnx").touch()
    run = "model: model.onnx\ndevice: HETERO:PAIR.1,PAIR.0,B\n"
    run += "properties: {DEVICE_PROPERTIES: {PAIR.0: {NUM_STREAMS: 2}, B: {PERF_COUNT: YES}}, NUM_STREAMS: 1}\n"
    (tmp_path / "run.yaml").write_text(run)
    config = load_config(tmp_path / "run.yaml", ["properties.DEVICE_PROPERTIES={PAIR.1: {NUM_STREAMS: 4}}"])
    _, pair = compiled_for("PAIR.1,PAIR.0,B", **config.properties)
    assert dict(pair.ids_compiled_for) == {"0": 1, "1": 4}
    _, pair = compiled_for("PAIR.1,PAIR.0,B", **load_config(tmp_path / "run.yaml").properties)
    assert dict(pair.ids_compiled_for) == {"0": 2, "1": 1}


@pytest.mark.parametrize(
    ("devices", "options", "error", "message"),
    [
        ("PAIR.7,B", {}, DeviceError, "there is no device PAIR.7; there is PAIR.0, PAIR.1"),
        ("PAIR.1,PAIR.1", {}, DeviceError, "HETERO:PAIR.1,PAIR.1 cannot use PAIR.1 twice: name each device once"),
        ("PAIR.0,B,PAIR", {}, DeviceError, "cannot use PAIR.0 and PAIR, which are one device: name each device once"),
        ("B,HETERO", {}, DeviceError, "HETERO:B,HETERO cannot use itself: name other devices"),
        ("PAIR.0,B", {"AFFINITIES": {"relu": "PAIR.1"}}, DeviceError, "is pinned to PAIR.1.*PAIR.0, B"),
        ("PAIR.0,B", {"DEVICE_PROPERTIES": {"PAIR.1": {}}}, DeviceError, "names PAIR.1, which is not .*PAIR.0, B"),
        ("B", {"DEVICE_PROPERTIES": 3}, PropertyError, "takes a mapping from device names to their properties"),
        ("B", {"DEVICE_PROPERTIES": {"B": 3}}, PropertyError, "takes a mapping from device names to their properties"),
        ("B", {"DEVICE_PROPERTIES": "{B: 3"}, PropertyError, "takes a mapping from device names to their properties"),
        ("B", {"DEVICE_PROPERTIES": "[" * 9999}, PropertyError, "takes a mapping from device names to"),
        (
            "B", {"DEVICE_PROPERTIES": {"B": {"NUM_STREAM": 3}}}, PropertyError,
            "^DEVICE_PROPERTIES: B has no property NUM_STREAM; did you mean NUM_STREAMS?",
        ),
        (
            "B", {"DEVICE_PROPERTIES": {"B": {"NUM_STREAMS": "many"}}}, PropertyError,
            "^DEVICE_PROPERTIES: property NUM_STREAMS of B cannot be 'many'",
        ),
        ("B", {"DEVICE_PROPERTIES": {"B": {"FULL_DEVICE_NAME": "x"}}}, PropertyError, "is read-only"),
        ("PAIR.0,B", {"DEVICE_PROPERTIES": {"PAIR.0": {"DEVICE_ID": "1"}}}, PropertyError, "cannot choose a DEVICE_ID"),
    ],
)  # fmt: skip
def test_error_messages_are_one_sentence(devices, options, error, message):
    with pytest.raises(error, match=message) as caught:
        compiled_for(devices, **options)
    assert "\n" not in str(caught.value)


def without_driver():
    raise OSError(f"libnpu.so {next(NUMBERS)}")


def core_without_driver():
    core = core_with(B=PickyPlugin())
    core.register_plugin(without_driver, "NPU")
    return core


def test_an_unavailable_device_is_left_out(caplog):
    compiled = core_without_driver().compile_model(chain(), "HETERO:NPU,B", {"DEVICE_PROPERTIES": {"NPU": {"A": 1}}})
    assert compiled.get_property("EXECUTION_DEVICES") == ["B"]
    np.testing.assert_allclose(compiled(X)[0], np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-6)
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith("HETERO goes on without a device: device NPU is not available: OSError: libnpu.so")


@pytest.mark.parametrize(("devices", "message"), [("NPU", "device NPU is not available"), ("NPU,C", "no device C")])
def test_without_any_other_device_it_is_an_error(devices, message):
    with pytest.raises(DeviceError, match=message):
        core_without_driver().compile_model(chain(), f"HETERO:{devices}")
