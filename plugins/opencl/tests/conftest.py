"""Fixtures of the GPU plugin's tests, which run on every OpenCL device and compare with OpenVINO or numpy."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import openvino
import pytest
from hetero_opencl.compile import lower_model
from hetero_opencl.device.device import present_devices
from hetero_opencl.execute.bound_program import BoundProgram
from hetero_opencl.execute.infer_request import OpenCLInferRequest
from hetero_opencl.execute.variable_state import GrowingMemory
from hetero_opencl.lowering.implementation import Implementation, choices_of
from hetero_opencl.profiles.profile import Family

import hetero
from hetero.graph import Model, Node, Output
from hetero.system.errors import DeviceError, HeteroError
from tests.devices import GPU_LIMITS, GPUS
from tests.ops import oracle
from tests.tiers import IS_FULL, IS_QUICK, in_sample

CORE = hetero.Core()


# Profiles with which tests run besides those of the devices: of which one in how many runs, and what is different.
# Vectors of 4 f32 are those of SSE and of ARM's NEON.
PROFILES = {
    "as_gpu": (12, GPU_LIMITS),
    "as_avx2": (12, {"vector_width": 8, "vector_registers": 16}),
    "as_sse": (48, {"vector_width": 4, "vector_registers": 16}),
    "as_arm": (48, {"vector_width": 4, "vector_registers": 32}),
}


def pytest_collection_modifyitems(config, items):
    """Run a sample of the tests with other profiles, on the first device only; in the full tier all on each."""
    if IS_FULL:
        return
    deselected = [item for item in items if hasattr(item, "callspec") and not _is_selected(item)]
    config.hook.pytest_deselected(items=deselected)
    items[:] = [item for item in items if item not in deselected]


def _is_selected(item):
    params = item.callspec.params
    one_in, _ = PROFILES.get(params.get("processor"), (1, {}))
    return one_in == 1 or (not IS_QUICK and params.get("device") not in GPUS[1:] and in_sample(item.nodeid, one_in))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip tests of f64 on devices that refuse it, as those of Intel's Arc do."""
    try:
        return (yield)
    except HeteroError as error:
        if "has no f64" not in str(error) or all(one.profile.has_doubles for one in present_devices().usable):
            raise
        pytest.skip(str(error))


@pytest.fixture(params=GPUS)
def device(request) -> str:
    return request.param


@pytest.fixture(autouse=True, params=["", *PROFILES])
def processor(request, monkeypatch) -> None:
    """Run each test with the profiles of the devices, and with those of other devices of the same speed."""
    if request.param:
        _, fields = PROFILES[request.param]
        for one in present_devices().usable:
            monkeypatch.setattr(one, "profile", replace(one.profile, **fields))


@pytest.fixture
def is_processor(request) -> bool:
    """Whether a test runs with the profile of a processor as it is measured."""
    is_measured = not request.node.callspec.params["processor"]
    return is_measured and present_devices().usable[0].profile.family is Family.PROCESSOR


@pytest.fixture
def without_f64(processor, monkeypatch) -> None:
    """Let no device have f64."""
    for one in present_devices().usable:
        monkeypatch.setattr(one, "profile", replace(one.profile, has_doubles=False))


@pytest.fixture
def force(monkeypatch) -> Callable[..., None]:
    """Return a function after which implementations of these classes run all operations that they can run."""

    def use(*classes: type[Implementation]) -> None:
        def choices(operation, implementations, profile, tuning):
            wanted = [one for one in implementations if isinstance(one, classes)]
            forced = choices_of(operation, wanted, profile, tuning)
            return forced or choices_of(operation, implementations, profile, tuning)

        monkeypatch.setattr(lower_model, "choices_of", choices)

    return use


@pytest.fixture
def plugin_request() -> Callable[[hetero.InferRequest], OpenCLInferRequest]:
    """Return a function that returns the plugin's request behind a request."""
    return lambda request: request._request.request


@pytest.fixture
def limit_growth(monkeypatch) -> Callable[[int], None]:
    """Return a function after which memory of variables and caches does not grow beyond some bytes."""

    def limit(most: int) -> None:
        resize = GrowingMemory.resize

        def limited(self: GrowingMemory, byte_size: int) -> None:
            if byte_size > most:
                raise DeviceError("allocating failed")
            resize(self, byte_size)

        monkeypatch.setattr(GrowingMemory, "resize", limited)

    return limit


@pytest.fixture
def bound_programs(plugin_request) -> Callable[[hetero.InferRequest], list[BoundProgram]]:
    """Return a function that returns the bound programs of a request."""
    return lambda request: plugin_request(request).bound_model.bound_programs


@pytest.fixture
def run(device) -> Callable[..., list[np.ndarray]]:
    """Return a function that computes the outputs of a graph from arrays for its Parameters."""

    def compute(outputs: Sequence[Node | Output], parameters: Sequence[Node], arrays: Sequence[np.ndarray]):
        request = CORE.compile_model(Model(list(outputs), list(parameters)), device).create_infer_request()
        return list(request.infer(list(arrays)).to_tuple())

    return compute


@pytest.fixture
def compute(run) -> Callable[..., list[np.ndarray]]:
    """Return a function that computes one operation, with arguments as in tests/ops/oracle.py."""

    def compute(name: str, arguments: tuple, keywords: dict, opset: int = 13):
        node, parameters = oracle.in_hetero(name, opset, arguments, keywords)
        return run(node.outputs(), parameters, _data(arguments, keywords))

    return compute


@pytest.fixture
def openvino_agrees(compute) -> Callable[..., None]:
    """Compare one operation with OpenVINO's CPU device. The tolerance is relative to the largest magnitude."""

    def check(name: str, *arguments, opset: int = 13, tolerance: float = 1e-5, **keywords):
        node, parameters = oracle.in_openvino(name, opset, arguments, keywords)
        model = openvino.Model(list(node.outputs()), parameters)
        compiled = oracle.core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        results = compiled(_data(arguments, keywords))
        expected = [np.array(results[output]) for output in compiled.outputs]
        for found, wanted in zip(compute(name, arguments, keywords, opset), expected, strict=True):
            assert found.dtype == wanted.dtype
            finite = wanted[np.isfinite(wanted)]
            error = tolerance * (np.abs(finite).max() if finite.size else 1)
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=error)

    return check


@pytest.fixture
def reference_agrees(compute) -> Callable[..., None]:
    """Compare one operation with the numpy reference, for types and attributes that OpenVINO's CPU device lacks.

    The tolerance is relative to the largest magnitude; integers must be equal.
    """

    def check(name: str, *arguments, opset: int = 13, tolerance: float = 1e-5, **keywords):
        node, parameters = oracle.in_hetero(name, opset, arguments, keywords)
        expected = oracle.run(node, parameters, _data(arguments, keywords))
        for found, wanted in zip(compute(name, arguments, keywords, opset), expected, strict=True):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            if wanted.dtype.kind in "iub":
                np.testing.assert_array_equal(found, wanted)
                continue
            found, wanted = found.astype(np.float64), wanted.astype(np.float64)
            error = tolerance * np.abs(wanted[np.isfinite(wanted)]).max(initial=1)
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=error)

    return check


@pytest.fixture
def template_agrees(run) -> Callable[..., None]:
    """Compare the outputs of a node with those of TEMPLATE."""

    def check(node: Node, parameters: Sequence[Node], arrays: Sequence[np.ndarray], tolerance: float = 1e-5):
        expected = CORE.compile_model(Model(node.outputs(), parameters), "TEMPLATE")(arrays).to_tuple()
        for found, wanted in zip(run(node.outputs(), parameters, arrays), expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            found, wanted = (np.asarray(array, np.float64) for array in (found, wanted))
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)

    return check


def _data(arguments: tuple, keywords: dict) -> list[np.ndarray]:
    values = [*arguments, *keywords.values()]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [value.array for value in flat if isinstance(value, oracle.Data)]
