"""AUTO, MULTI and BATCH have the properties of OpenVINO's devices, with the same defaults."""

import numpy as np
import openvino
import pytest

import hetero
from hetero import Core, Model, Parameter, Type, ops

# For power and utilization of Intel's processors.
MISSING = {"DEVICES_UTILIZATION_THRESHOLD", "LOW_POWER_DEVICE", "PERF_CURVE_TABLE"}
# FULL_DEVICE_NAME and the capabilities depend on the devices; OpenVINO's level -1 is its default for all devices.
DIFFERENT = {"SUPPORTED_PROPERTIES", "OPTIMIZATION_CAPABILITIES", "LOG_LEVEL"}


@pytest.mark.parametrize("device", ["AUTO", "MULTI", "BATCH"])
def test_properties_and_defaults(device):
    theirs, ours = openvino.Core(), Core()
    supported = ours.get_property(device, "SUPPORTED_PROPERTIES")
    for key, mutability in theirs.get_property(device, "SUPPORTED_PROPERTIES").items():
        if key in MISSING:
            continue
        assert supported[key] == mutability
        if key in DIFFERENT or (device, key) == ("MULTI", "PERFORMANCE_HINT"):
            continue  # OpenVINO says that the hint of MULTI is LATENCY, and compiles with THROUGHPUT
        try:
            expected = theirs.get_property(device, key)
        except RuntimeError:
            continue  # MULTI_DEVICE_PRIORITIES of BATCH, before it is set
        found = ours.get_property(device, key)
        if key == "MULTI_DEVICE_PRIORITIES":
            found = ",".join(found)
        assert getattr(found, "name", found) == getattr(expected, "name", expected), key


def square(library):
    if library is hetero:
        x = Parameter(Type.f32, [1, 4], name="x")
        return Model(ops.Multiply(x, x), [x], "square")
    x = openvino.opset13.parameter([1, 4], np.float32, name="x")
    return openvino.Model([openvino.opset13.multiply(x, x)], [x], "square")


@pytest.mark.parametrize(
    ("device", "options"),
    [
        ("AUTO:{}", {}),
        ("AUTO:{}", {"PERFORMANCE_HINT": "CUMULATIVE_THROUGHPUT"}),
        ("MULTI:{}", {}),
        ("MULTI:{}(4)", {}),
        ("BATCH:{}(4)", {}),
    ],
)
def test_properties_of_compiled_models(device, options):
    theirs = openvino.Core().compile_model(square(openvino), device.format("CPU"), options)
    ours = Core().compile_model(square(hetero), device.format("TEMPLATE"), options)
    assert ours.get_property("EXECUTION_DEVICES") == ["TEMPLATE"]
    assert theirs.get_property("EXECUTION_DEVICES") == ["CPU"]
    for key in ("NETWORK_NAME", "PERFORMANCE_HINT", "MODEL_PRIORITY", "LOADED_FROM_CACHE", "AUTO_BATCH_TIMEOUT"):
        if key in theirs.get_property("SUPPORTED_PROPERTIES"):
            found, expected = ours.get_property(key), theirs.get_property(key)
            assert getattr(found, "name", found) == getattr(expected, "name", expected), key
    if device.startswith("BATCH"):
        key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS"
        assert ours.get_property(key) == theirs.get_property(key) == 4
    x = np.ones([1, 4], np.float32)
    np.testing.assert_array_equal(ours(x)[0], theirs(x)[0])
