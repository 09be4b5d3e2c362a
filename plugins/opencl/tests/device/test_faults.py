"""A GPU that fails or runs out of memory: TEMPLATE takes over, with one warning and correct results."""

import logging
from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl.device import memory
from hetero_opencl.device.device import OpenCLDevice, present_devices

from hetero import AsyncInferQueue, Core, Model, Parameter, Type, ops
from hetero.system.errors import DeviceError
from tests.interpreter import run_python

CORE = Core()
RNG = np.random.default_rng(0)
XS = RNG.standard_normal([100, 1, 4]).astype(np.float32)


def totals_of(xs: np.ndarray) -> np.ndarray:
    return np.tanh(np.exp(np.cumsum(xs, axis=0)))


def chain() -> Model:
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model(ops.Tanh(ops.Exp(x, name="exp"), name="tanh"), [x], "chain")


def summing() -> Model:
    """Return a model of tanh(exp(total)) with a variable: total += x in every inference."""
    x = Parameter(Type.f32, [1, 4], name="x")
    total = ops.Add(ops.ReadValue(np.zeros((1, 4), np.float32), "total", name="read"), x, name="add")
    model = ops.Tanh(ops.Exp(total, name="exp"), name="tanh")
    return Model(model, [x], "summing", sinks=[ops.Assign(total, "total", name="set")])


class Lost:
    """Replacement of a pyopencl function that raises an OpenCL error after some successful calls."""

    def __init__(self, function, error: cl.Error, healthy: int) -> None:
        self._function, self._error, self._healthy = function, error, healthy

    def __call__(self, *args, **kwargs):
        self._healthy -= 1
        if self._healthy < 0:
            raise self._error
        return self._function(*args, **kwargs)


def lost(kind: type[cl.Error], function: str, code: int) -> cl.Error:
    return kind(function, code, "lost")


KERNEL, COPY, WAIT = "enqueue_nd_range_kernel", "enqueue_copy", "wait_for_events"
FAULTS = {
    "not available in a kernel": (KERNEL, lost(cl.RuntimeError, "clEnqueueNDRangeKernel", -2), 7),
    "not available in a copy": (COPY, lost(cl.RuntimeError, "clEnqueueCopyBuffer", -2), 21),
    "not available at the end": (WAIT, lost(cl.RuntimeError, "clWaitForEvents", -2), 7),
    "out of memory": (KERNEL, lost(cl.MemoryError, "clEnqueueNDRangeKernel", -4), 7),
    "out of resources": (KERNEL, lost(cl.RuntimeError, "clEnqueueNDRangeKernel", -5), 7),
    "invalid queue in a kernel": (KERNEL, lost(cl.LogicError, "clEnqueueNDRangeKernel", -36), 7),
    "invalid queue in a copy": (COPY, lost(cl.LogicError, "clEnqueueWriteBuffer", -36), 21),
}


@pytest.fixture(params=FAULTS)
def fault(request, monkeypatch):
    """Return a function after whose call the device soon fails permanently."""
    name, error, healthy = FAULTS[request.param]
    if name == COPY:  # a device that shares memory with the host gets its inputs without a command
        monkeypatch.setattr(OpenCLDevice, "shares_host_memory", False)
    return lambda: monkeypatch.setattr(cl, name, Lost(getattr(cl, name), error, healthy))


def check_dropped(compiled, caplog) -> None:
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "no longer on GPU: " in warning
    assert compiled.get_property("EXECUTION_DEVICES") == ["TEMPLATE"]
    (failure,) = compiled.get_property("PLACEMENT_REPORT").failures
    assert failure.device == "GPU" and failure.reason in warning


def test_requests_in_flight_are_answered(fault, caplog):
    compiled = CORE.compile_model(chain(), "HETERO:GPU,TEMPLATE")
    assert compiled.get_property("EXECUTION_DEVICES") == ["GPU"]
    queue, found = AsyncInferQueue(compiled, 20), {}
    queue.set_callback(lambda request, number: found.update({number: request.results[0].copy()}))
    fault()
    for number, x in enumerate(XS):
        queue.start_async(x, number)
    queue.wait_all()
    np.testing.assert_allclose([found[n] for n in range(100)], np.tanh(np.exp(XS)), rtol=1e-4, atol=1e-6)
    check_dropped(compiled, caplog)


def test_variables_survive_the_device(fault, caplog):
    compiled = CORE.compile_model(summing(), "HETERO:GPU,TEMPLATE", {"VARIABLE_SNAPSHOTS": True})
    request = compiled.create_infer_request()
    found = []
    for number, x in enumerate(XS[:20]):
        if number == 1:
            fault()
        found.append(request.infer(x)[0])
    np.testing.assert_allclose(found, totals_of(XS[:20]), rtol=1e-4, atol=1e-6)
    check_dropped(compiled, caplog)


def test_out_of_memory_in_a_request(monkeypatch, caplog):
    compiled = CORE.compile_model(summing(), "HETERO:GPU,TEMPLATE", {"VARIABLE_SNAPSHOTS": True})
    lost = Lost(memory.CountedBuffer, cl.MemoryError("clCreateBuffer", -4, "no room"), 0)
    monkeypatch.setattr(memory, "CountedBuffer", lost)
    request = compiled.create_infer_request()
    np.testing.assert_allclose(request.infer(XS[0])[0], totals_of(XS[:1])[0], rtol=1e-5)
    check_dropped(compiled, caplog)


def test_kernels_that_do_not_build(monkeypatch, caplog):
    def build(self, launches, binaries):
        raise DeviceError(f"PoCL cannot build the kernel of {launches[0].operation}: error: unknown type name 'half'")

    monkeypatch.setattr(OpenCLDevice, "build", build)
    compiled = CORE.compile_model(chain(), "HETERO:GPU,TEMPLATE")
    np.testing.assert_allclose(compiled(XS[0])[0], np.tanh(np.exp(XS[0])), rtol=1e-5)
    assert compiled.get_property("EXECUTION_DEVICES") == ["TEMPLATE"]
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 1


BUILD_FAILED = cl.RuntimeError("clBuildProgram failed\nerror: unknown type name 'half'")
NO_ROOM = cl.MemoryError("clCreateBuffer", -4, "no room")


def softmax_of_product() -> Model:
    x = Parameter(Type.f32, [3, 4], name="x")
    weights = np.ones((4, 5), np.float32)
    return Model(ops.Softmax(ops.MatMul(x, weights, False, False, name="product"), 0, name="soft"), [x], "two")


@pytest.mark.parametrize(
    ("target", "fault", "message"),
    [
        (
            "hetero_opencl.device.compiler.Compiler.build_all",
            lambda self, requests: [BUILD_FAILED for _ in requests],
            "build the kernel of MatMul 'product': .* 'half'",
        ),
        (
            "hetero_opencl.device.memory.CountedBuffer",
            Lost(None, NO_ROOM, 0),
            "out of device memory .* for MatMul 'product'",
        ),
    ],
)
def test_compile_errors_name_the_operation(device, monkeypatch, tmp_path, target, fault, message):
    monkeypatch.setattr(target, fault)
    for found in present_devices().usable:
        monkeypatch.setattr(found, "loaded_programs", {})  # another test may have built the same kernels
    name = CORE.get_property(device, "FULL_DEVICE_NAME")
    with pytest.raises(DeviceError, match=message) as raised:
        CORE.compile_model(softmax_of_product(), device, {"CACHE_DIR": str(tmp_path)})
    assert name in str(raised.value)


@pytest.mark.parametrize("operation", ["MatMul 'product'", "Softmax 'soft'"])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (cl.RuntimeError("clEnqueueNDRangeKernel", -5, "lost"), "OpenCL failed while starting"),
        (cl.MemoryError("clEnqueueNDRangeKernel", -4, "lost"), "out of device memory while starting"),
    ],
)
def test_the_operation_whose_launch_fails_is_named(device, monkeypatch, bound_programs, operation, error, message):
    request = CORE.compile_model(softmax_of_product(), device).create_infer_request()
    x = np.ones((3, 4), np.float32)
    request.infer(x)
    launches = bound_programs(request)[0].program.launches
    first = next(index for index, launch in enumerate(launches) if launch.operation == operation)
    monkeypatch.setattr(cl, KERNEL, Lost(cl.enqueue_nd_range_kernel, error, first))
    with pytest.raises(DeviceError, match=f"{message} {operation} on ") as raised:
        request.infer(x)
    assert CORE.get_property(device, "FULL_DEVICE_NAME") in str(raised.value)


@pytest.mark.parametrize(
    ("statuses", "message"),
    [
        ((0, -5), "running Softmax 'soft' on"),
        ((-5, -14), "running MatMul 'product' on"),
        ((0, 2), "running Softmax 'soft' on"),
        ((1, -5), "running Softmax 'soft' on"),
        ((0, 0), "running kernels on"),
    ],
)
def test_a_failing_operation_is_named_by_its_event_status(device, monkeypatch, bound_programs, statuses, message):
    request = CORE.compile_model(softmax_of_product(), device).create_infer_request()
    x = np.ones((3, 4), np.float32)
    request.infer(x)
    (bound,) = bound_programs(request)
    by_type = dict(zip(("MatMul", "Softmax"), statuses))
    status_of = {launch.operation: by_type[launch.node_type] for launch in bound.program.launches}

    def status(event):
        (launch,) = [launch for launch, other in bound.launched if other is event]
        return status_of[launch.operation]

    bound.launch(lambda: None)
    monkeypatch.setattr(cl, "wait_for_events", Lost(None, lost(cl.RuntimeError, "clWaitForEvents", -36), 0))
    monkeypatch.setattr("hetero_opencl.execute.bound_program.execution_status", status)
    with pytest.raises(DeviceError, match=message):
        bound.finish()


def test_a_failed_kernel_is_noticed_if_the_queue_reports_no_error(device, monkeypatch):
    request = CORE.compile_model(softmax_of_product(), device).create_infer_request()
    monkeypatch.setattr("hetero_opencl.execute.bound_program.execution_status", lambda event: -5)
    with pytest.raises(DeviceError, match="MatMul 'product' failed on "):
        request.infer(np.ones((3, 4), np.float32))


def test_a_buffer_beyond_the_limit_of_one_allocation(device, monkeypatch):
    """The driver is asked first, as some allocate more than they promise."""
    for one in present_devices().usable:
        monkeypatch.setattr(one, "profile", replace(one.profile, max_allocation_bytes=1 << 20))
    allocate = memory.CountedBuffer
    x = Parameter(Type.f32, [1, 600, 600])
    model = Model(
        ops.Softmax(ops.Add(x, RNG.standard_normal((600, 600)).astype(np.float32), name="sum"), 2), [x], "wide"
    )
    array = RNG.standard_normal((1, 600, 600)).astype(np.float32)
    expected = CORE.compile_model(model, "TEMPLATE")(array)[0]
    np.testing.assert_allclose(CORE.compile_model(model, device)(array)[0], expected, rtol=1e-4, atol=1e-7)

    def limited(context, flags, size, hostbuf):
        if max(size, 0 if hostbuf is None else hostbuf.nbytes) > 1 << 20:
            raise cl.LogicError("clCreateBuffer", -61, "INVALID_BUFFER_SIZE")
        return allocate(context, flags, size, hostbuf)

    monkeypatch.setattr(memory, "CountedBuffer", limited)
    message = "allocating 1440000 bytes on .*, which promises 1048576 bytes at once: .*, for Add 'sum'"
    with pytest.raises(DeviceError, match=message):
        CORE.compile_model(model, device)(array)


def test_out_of_memory_names_the_largest_operation(device, monkeypatch):
    request = CORE.compile_model(softmax_of_product(), device).create_infer_request()
    monkeypatch.setattr(memory, "CountedBuffer", Lost(None, NO_ROOM, 0))
    with pytest.raises(DeviceError, match="out of device memory while allocating .* MatMul 'product' uses the most"):
        request.infer(np.ones((3, 4), np.float32))


HANGING = """
import time, numpy as np, hetero
from hetero import ops
from hetero_opencl.device.compiler import BuildRequest, Compiler
real = Compiler.build_all
def endless(self, requests):
    return real(self, [BuildRequest(forever(request.source)) for request in requests])
def forever(source):
    first = source.rfind("{", 0, source.find("get_global_id")) + 1
    return source[:first] + " { volatile int one = 1; while (one) {} } " + source[first:]
Compiler.build_all = endless
x = hetero.Parameter(hetero.Type.f32, [1, 4])
model = hetero.Model(ops.Exp(x), [x])
options = {"DEVICE_TIMEOUT": 20000, "CACHE_DIR": FOLDER}
compiled = hetero.Core().compile_model(model, "HETERO:GPU,TEMPLATE".replace("GPU", DEVICE), options)
compiled._compiled.timeout = 0.3
print(compiled(np.zeros((1, 4), np.float32))[0], compiled.get_property("EXECUTION_DEVICES"))
"""


@pytest.mark.slow
def test_a_kernel_that_never_ends_does_not_keep_the_program_from_ending(device, tmp_path):
    code = HANGING.replace("FOLDER", repr(str(tmp_path))).replace("DEVICE)", f"{device!r})")
    printed, logged = run_python(code, timeout=60)
    assert printed == "[[1. 1. 1. 1.]] ['TEMPLATE']"
    assert "did not end an inference" in logged
