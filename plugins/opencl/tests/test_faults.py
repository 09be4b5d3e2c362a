"""A GPU that runs out of memory or is lost: TEMPLATE goes on, with one warning and the right results."""

import logging

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl import memory
from hetero_opencl.device import OpenCLDevice

from hetero import AsyncInferQueue, Core, Model, Parameter, Type, ops
from hetero.errors import DeviceError

CORE = Core()
XS = np.random.default_rng(0).standard_normal([100, 1, 4]).astype(np.float32)


def totals_of(xs: np.ndarray) -> np.ndarray:
    return np.tanh(np.exp(np.cumsum(xs, axis=0)))


def chain() -> Model:
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model(ops.Tanh(ops.Exp(x, name="exp"), name="tanh"), [x], "chain")


def summing() -> Model:
    """tanh(exp(total)), where total += x in every inference."""
    x = Parameter(Type.f32, [1, 4], name="x")
    total = ops.Add(ops.ReadValue(np.zeros((1, 4), np.float32), "total", name="read"), x, name="add")
    model = ops.Tanh(ops.Exp(total, name="exp"), name="tanh")
    return Model(model, [x], "summing", sinks=[ops.Assign(total, "total", name="set")])


class Lost:
    """Replaces one of pyopencl's functions, and raises from a call on, as it does when OpenCL tells it an error."""

    def __init__(self, function, error: cl.Error, healthy: int) -> None:
        self._function, self._error, self._healthy = function, error, healthy

    def __call__(self, *args, **kwargs):
        self._healthy -= 1
        if self._healthy < 0:
            raise self._error
        return self._function(*args, **kwargs)


FAULTS = {
    "lost in a kernel": ("enqueue_nd_range_kernel", cl.RuntimeError("clEnqueueNDRangeKernel", -2, "lost"), 7),
    "lost in a copy": ("enqueue_copy", cl.RuntimeError("clEnqueueCopyBuffer", -2, "lost"), 21),
    "out of memory": ("enqueue_nd_range_kernel", cl.MemoryError("clEnqueueNDRangeKernel", -4, "no room"), 7),
}


@pytest.fixture(params=FAULTS)
def fault(request, monkeypatch):
    """Call it, and some calls later the device fails, for good."""
    name, error, healthy = FAULTS[request.param]
    return lambda: monkeypatch.setattr(cl, name, Lost(getattr(cl, name), error, healthy))


def check_dropped(compiled, caplog) -> None:
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "no longer on GPU: " in warning
    assert compiled.get_property("EXECUTION_DEVICES") == ("TEMPLATE",)
    (failure,) = compiled.get_property("PLACEMENT_REPORT").failures
    assert failure.device == "GPU" and failure.reason in warning


def test_requests_in_flight_are_answered(fault, caplog):
    compiled = CORE.compile_model(chain(), "HETERO:GPU,TEMPLATE")
    assert compiled.get_property("EXECUTION_DEVICES") == ("GPU",)
    queue, found = AsyncInferQueue(compiled, 20), {}
    queue.set_callback(lambda request, number: found.update({number: request.results[0].copy()}))
    fault()
    for number, x in enumerate(XS):
        queue.start_async(x, number)
    queue.wait_all()
    np.testing.assert_allclose([found[n] for n in range(100)], np.tanh(np.exp(XS)), rtol=1e-4, atol=1e-6)
    check_dropped(compiled, caplog)


def test_variables_survive_the_device(fault, caplog):
    compiled = CORE.compile_model(summing(), "HETERO:GPU,TEMPLATE")
    request = compiled.create_infer_request()
    found = []
    for number, x in enumerate(XS[:20]):
        if number == 1:
            fault()
        found.append(request.infer(x)[0])
    np.testing.assert_allclose(found, totals_of(XS[:20]), rtol=1e-4, atol=1e-6)
    check_dropped(compiled, caplog)


def test_memory_that_is_not_there_for_a_request(monkeypatch, caplog):
    compiled = CORE.compile_model(summing(), "HETERO:GPU,TEMPLATE")
    lost = Lost(memory.CountedBuffer, cl.MemoryError("clCreateBuffer", -4, "no room"), 0)
    monkeypatch.setattr(memory, "CountedBuffer", lost)
    request = compiled.create_infer_request()
    np.testing.assert_allclose(request.infer(XS[0])[0], totals_of(XS[:1])[0], rtol=1e-5)
    check_dropped(compiled, caplog)


def test_kernels_that_do_not_build(monkeypatch, caplog):
    def build(self, source, binaries):
        raise DeviceError("PoCL cannot build a kernel: error: unknown type name 'half'")

    monkeypatch.setattr(OpenCLDevice, "build", build)
    compiled = CORE.compile_model(chain(), "HETERO:GPU,TEMPLATE")
    np.testing.assert_allclose(compiled(XS[0])[0], np.tanh(np.exp(XS[0])), rtol=1e-5)
    assert compiled.get_property("EXECUTION_DEVICES") == ("TEMPLATE",)
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 1
