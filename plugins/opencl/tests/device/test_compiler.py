"""CPU kernels are built in child processes, whose failures are reported."""

import os
import signal
from types import SimpleNamespace

import pyopencl as cl
import pytest
from hetero_opencl.device import child_process, compiler, pocl
from hetero_opencl.device.compiler import BuildRequest, Compiler
from hetero_opencl.device.device import present_devices

from hetero.system.errors import DeviceError
from tests.faulty_driver import aborting_driver
from tests.interpreter import run_python

ON_PROCESSORS = [device for device in present_devices().usable if device.handle.type & cl.device_type.CPU]
SOURCE = "kernel void one(global float* x) { x[get_global_id(0)] = 1; }"


@pytest.fixture(autouse=True)
def processor():
    """Each test runs once: kernels for GPUs make no difference here."""


@pytest.fixture(params=ON_PROCESSORS, ids=lambda device: device.handle.platform.name)
def handle(request) -> cl.Device:
    return request.param.handle


ABORTED_BUILD = """
import hetero, numpy as np
from hetero import ops
core = hetero.Core()
x = hetero.Parameter(hetero.Type.f32, [2, 3])
model = hetero.Model(ops.Relu(ops.Atanh(x), name="flat"), [x])
try:
    core.compile_model(model, "GPU")
except hetero.HeteroError as error:
    print(type(error).__name__, error)
compiled = core.compile_model(model, "HETERO:GPU,TEMPLATE")
array = np.linspace(-0.5, 0.5, 6, dtype=np.float32).reshape(2, 3)
np.testing.assert_allclose(compiled(array)[0], np.maximum(np.arctanh(array), 0), rtol=1e-5)
print(*compiled.get_property("EXECUTION_DEVICES"))
"""


@pytest.mark.slow
def test_an_abort_in_a_build_that_the_trial_does_not_cover_is_an_error(tmp_path):
    """Only build processes end. HETERO runs the model on TEMPLATE."""
    printed, logged = run_python(ABORTED_BUILD, **aborting_driver(tmp_path, marker="atanh"))
    error, devices = printed.splitlines()
    assert error.startswith("DeviceError ") and "cannot build the kernel of Relu 'flat'" in error
    assert "was ended by SIGABRT (LLVM ERROR: Cannot emit physreg copy instruction)" in error
    assert devices == "TEMPLATE"
    assert "cannot build the kernel of Relu 'flat'" in logged


def test_good_and_bad_sources_are_built_together(handle):
    sources = [SOURCE, "kernel void two( {", SOURCE.replace("1", "2")]
    first, second, third = Compiler(handle).build_all(map(BuildRequest, sources))
    assert isinstance(first, bytes) and isinstance(third, bytes) and first != third
    assert isinstance(second, cl.Error) and "error" in str(second)


def test_a_build_that_takes_too_long_is_ended(handle, monkeypatch):
    monkeypatch.setattr(compiler, "BUILD_SECONDS", 0.0)
    (error,) = Compiler(handle).build_all([BuildRequest(SOURCE)])
    assert isinstance(error, DeviceError) and "took more than 0 s" in str(error)


def test_a_process_that_was_killed_is_replaced(handle):
    processes = Compiler(handle)
    (built,) = processes.build_all([BuildRequest(SOURCE)])
    (idle,) = processes.idle
    os.kill(idle.process.pid, signal.SIGKILL)
    idle.process.wait()
    assert processes.build_all([BuildRequest(SOURCE)]) == [built]


def test_an_idle_process_ends(handle, monkeypatch):
    monkeypatch.setattr(child_process, "IDLE_SECONDS", 0.5)
    processes = Compiler(handle)
    processes.build_all([BuildRequest(SOURCE)])
    (idle,) = processes.idle
    assert idle.process.wait(timeout=20) == 0


@pytest.mark.slow
def test_the_first_inference_builds_nothing(tmp_path):
    """PoCL generates code for a size of work-groups when it is first launched, unless the binary has that already."""
    pocl_device = next((device for device in ON_PROCESSORS if pocl.is_pocl(device.handle)), None)
    if pocl_device is None:
        pytest.skip("PoCL does not work on this machine")
    name = f"GPU.{present_devices().usable.index(pocl_device)}" if len(present_devices().usable) > 1 else "GPU"
    kernels = """
import hetero, numpy as np, pathlib, sys
from hetero import ops
def built():
    return {str(file.relative_to(FOLDER)) for file in pathlib.Path(FOLDER).rglob("*.so")}
x = hetero.Parameter(hetero.Type.f32, [700, 1000])
product = ops.MatMul(x, np.ones((1000, 330), np.float32), False, False)
y = ops.ReduceSum(ops.Concat([product, x], 1), 1)
for _ in range(4):
    y = ops.CumSum(ops.Exp(y), 0)
model = hetero.Model(y, [x])
compiled = hetero.Core().compile_model(model, NAME)
before = built()
compiled(np.zeros((700, 1000), np.float32))
print(len(before), sorted(built() - before))
"""
    code = kernels.replace("FOLDER", repr(str(tmp_path))).replace("NAME", repr(name))
    count, new = run_python(code, POCL_CACHE_DIR=str(tmp_path))[0].split(" ", 1)
    assert int(count) > 2 and new == "[]"


def test_two_builds_may_take_the_last_idle_process():
    class Idle(list):
        """A list whose last process another thread takes after it was seen."""

        def __len__(self):
            count = super().__len__()
            self.clear()
            return count

    made = Compiler.__new__(Compiler)
    made.idle = Idle([SimpleNamespace(is_alive=lambda: False)])
    assert made._idle_process() is None
