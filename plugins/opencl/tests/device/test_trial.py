"""A driver that aborts or computes wrong results does not end the program: the next one is used, or none."""

import json
import re
from dataclasses import asdict

import pyopencl as cl
import pytest
from hetero_opencl.device import device, pocl, trial
from hetero_opencl.device.device import OpenCLDevice, present_devices
from hetero_opencl.device.platforms import all_devices
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.profiles.profile import Measurements

from hetero import Core, Model, Parameter, Type, ops
from hetero.system.errors import DeviceError
from tests.faulty_driver import aborting_driver, idle_driver
from tests.interpreter import run_python

PLATFORMS = [device.handle.platform.name for device in present_devices().usable]
# Names that LLVM 14 gives to newer processors. Code for "icelake-client" needs AVX-512.
MISTAKEN_NAMES = ["generic", "znver3", *(["icelake-client"] if "avx512f" in pocl.processor_flags() else [])]
DEVICES = """
import json, hetero
core = hetero.Core()
gpus = [name for name in core.available_devices if name.startswith("GPU")]
names = {name: core.get_property(name, "FULL_DEVICE_NAME") for name in gpus}
print(json.dumps([names, core.unavailable_devices]))
"""
RUN = """
import hetero, numpy as np
from hetero import ops
x = hetero.Parameter(hetero.Type.f32, [2, 3])
model = hetero.Model(ops.Exp(ops.Atan(x)), [x])
compiled = hetero.Core().compile_model(model, "HETERO:GPU,TEMPLATE")
array = np.arange(6, dtype=np.float32).reshape(2, 3)
np.testing.assert_allclose(compiled(array)[0], np.exp(np.arctan(array)), rtol=1e-5)
print(*compiled.get_property("EXECUTION_DEVICES"))
"""


@pytest.fixture(autouse=True)
def processor():
    """Each test runs once: kernels for GPUs make no difference here."""


def devices(environment) -> tuple[dict[str, str], dict[str, str]]:
    return json.loads(run_python(DEVICES, **environment)[0])


@pytest.mark.slow
def test_if_every_compiler_aborts_the_model_runs_on_template(tmp_path):
    environment = aborting_driver(tmp_path)
    usable, unavailable = devices(environment)
    assert usable == {}
    assert "SIGABRT (LLVM ERROR: Cannot emit physreg copy instruction)" in unavailable["GPU"]
    printed, logged = run_python(RUN, **environment)
    assert printed == "TEMPLATE"
    assert "HETERO goes on without a device: device GPU is not available: no OpenCL device can be used" in logged


@pytest.mark.slow
@pytest.mark.skipif(len(PLATFORMS) < 2, reason="one OpenCL runtime works on this machine")
@pytest.mark.parametrize("driver", [aborting_driver, idle_driver])
def test_the_next_runtime_takes_the_place_of_one_that_fails(tmp_path, driver):
    environment = driver(tmp_path, PLATFORMS[0])
    usable, unavailable = devices(environment)
    assert PLATFORMS[1] in usable["GPU.1"] and not any(PLATFORMS[0] in name for name in usable.values())
    reason = unavailable["GPU.0"]
    assert PLATFORMS[0] in reason and "GPU.1" not in unavailable
    assert ("SIGABRT" if driver is aborting_driver else "computes a matrix product, ") in reason
    assert run_python(RUN, **environment)[0].startswith("GPU")


@pytest.mark.slow
def test_a_verdict_is_kept_unless_the_process_was_killed_from_outside(tmp_path):
    kept = tmp_path / "cache/hetero/trials"
    killed = aborting_driver(tmp_path, end="kill(os.getpid(), 9) or print")
    assert "SIGKILL" in devices(killed)[1]["GPU"]
    assert list(kept.glob("*.json")) == []
    assert "SIGABRT" in devices(aborting_driver(tmp_path))[1]["GPU"]
    assert len(list(kept.glob("*.json"))) == len(PLATFORMS)
    (tmp_path / "sitecustomize.py").unlink()
    assert "SIGABRT" in devices(killed)[1]["GPU"], "the verdict of the process before"
    next(kept.glob("*.json")).write_text("damaged")
    assert len(devices(killed)[0]) == 1


def test_a_verdict_lacks_no_figure():
    fields = asdict(trial.Verdict())
    assert trial.Verdict.of(fields) == trial.Verdict()
    del fields["measurements"]["vector_width"]
    with pytest.raises(LookupError, match="an earlier version"):
        trial.Verdict.of(fields)


def test_runtimes_of_one_processor_are_ordered_by_their_speed(monkeypatch):
    verdicts = {device.handle: trial.verdict_on(device.handle) for device in present_devices().usable}
    speeds = {handle: verdict.measurements.flops_per_second for handle, verdict in verdicts.items()}
    assert not any(verdict.reason for verdict in verdicts.values())
    slowest_first = {
        handle: trial.Verdict("", Measurements(flops_per_second=1 / speed)) for handle, speed in speeds.items()
    }
    monkeypatch.setattr(trial, "verdict_on", slowest_first.__getitem__)
    found = [device.handle for device in present_devices.__wrapped__().usable]
    order = [handle for handle in found if handle.type & cl.device_type.CPU]
    assert order == sorted(order, key=speeds.__getitem__)


def no_device(number: int):
    """Return OpenCLDevice that fails for the device of a number, as if its driver did not initialize any more."""
    handle = present_devices().usable[number].handle

    def make(found, profile):
        if found == handle:
            raise DeviceError("making a context failed")
        return OpenCLDevice(found, profile)

    return make


@pytest.mark.skipif(len(PLATFORMS) < 2, reason="one OpenCL runtime works on this machine")
@pytest.mark.parametrize(
    ("number", "fault"), [(0, "verdict"), (0, "context"), (0, "driver"), (1, "context"), (1, "driver")]
)
def test_a_device_that_fails_keeps_its_number(monkeypatch, number, fault, caplog):
    """One that fails in its trial was never measured, and comes before those that were."""
    before = present_devices().usable
    failing, other = before[number], before[1 - number]
    if fault == "verdict":
        verdict_on = trial.verdict_on
        monkeypatch.setattr(
            trial, "verdict_on", lambda h: trial.Verdict("it aborts") if h == failing.handle else verdict_on(h)
        )
    elif fault == "context":
        monkeypatch.setattr(device, "OpenCLDevice", no_device(number))
    else:
        profile_of, lost = device.profile_of, cl.RuntimeError("clGetDeviceInfo", -2, "lost")

        def profile(handle, measurements):
            if handle == failing.handle:
                raise lost
            return profile_of(handle, measurements)

        monkeypatch.setattr(device, "profile_of", profile)
    found = present_devices.__wrapped__()
    monkeypatch.setattr("hetero_opencl.plugin.present_devices", lambda: found)
    core = Core()
    core.register_plugin(OpenCLPlugin, "DRIVER")
    names = [name for name in core.available_devices if name.startswith("DRIVER")]
    assert names == (["DRIVER.1"] if number == 0 else ["DRIVER"])
    assert core.get_property(names[0], "FULL_DEVICE_NAME") == other.full_name
    assert core.get_property(f"DRIVER.{1 - number}", "FULL_DEVICE_NAME") == other.full_name
    problem = f"device DRIVER.{number} is not available: {failing.full_name}: "
    x = Parameter(Type.f32, [2])
    model = Model(ops.Exp(x), [x])
    for name, options in ((f"DRIVER.{number}", {}), ("DRIVER", {"DEVICE_ID": str(number)})):
        with pytest.raises(DeviceError, match=f"^{re.escape(problem)}"):
            core.compile_model(model, name, options)
    assert core.unavailable_devices[f"DRIVER.{number}"].startswith(failing.full_name)
    compiled = core.compile_model(model, f"HETERO:DRIVER.{number},TEMPLATE")
    assert compiled.get_property("EXECUTION_DEVICES") == ["TEMPLATE"]
    assert f"HETERO goes on without a device: {problem}" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKEN_NAMES)
def test_pocl_builds_for_processors_that_its_compiler_does_not_know(name, tmp_path):
    """LLVM 14 rejects "generic"; with AVX-512, it aborts for "znver3" and inlines no built-in for "icelake-client"."""
    if not any(pocl.is_pocl(handle) for handle in all_devices()):
        pytest.skip("PoCL is not installed")
    code = f"""
import ctypes, json, pyopencl as cl
from hetero_opencl import trial_process
from hetero_opencl.device import platforms, pocl, trial
repair, pocl.repair = pocl.repair, lambda device: None
(device,) = filter(pocl.is_pocl, platforms.all_devices())
name = ctypes.create_string_buffer(b"{name}")
pocl.processor_field(device, pocl.processor_name(device)).value = ctypes.addressof(name)
pocl.processor_name = lambda device: "{name}"
pocl.repair = repair
trial_process.CASES = dict(list(trial_process.CASES.items())[:2])
print(json.dumps([trial.run_steps([trial_process.try_device], platforms.identity(device)).reason, pocl.built_for()]))
"""
    printed, _ = run_python(code, POCL_CACHE_DIR=str(tmp_path))
    reason, processor = json.loads(printed)
    assert reason == ""
    if "avx512vl" in pocl.processor_flags():
        assert processor == "skylake-avx512"


def test_drivers_are_tried_only_for_devices_of_theirs():
    """Device CPU, the reading of a model and properties for all devices need no driver."""
    code = """
import numpy as np
from hetero import Core, Model, Parameter, Type, ops
from hetero_opencl.device import trial

tried, verdict_on = [], trial.verdict_on
trial.verdict_on = lambda device: tried.append(device.name) or verdict_on(device)
core, x = Core(), Parameter(Type.f32, [2])
model = Model(ops.Relu(x), [x])
for name in ("CPU", "HETERO:CPU", "AUTO:CPU", "MULTI:CPU", "HETERO:TEMPLATE,CPU", "TEMPLATE"):
    assert core.compile_model(model, name)(np.float32([-1, 2]))[0].tolist() == [0, 2]
    core.query_model(model, name)
core.get_property("CPU", "FULL_DEVICE_NAME"), core.get_versions("CPU")
core.set_property("CPU", {"PERF_COUNT": True})
core.set_property({"PERF_COUNT": False, "ENABLE_MMAP": True, "CACHE_DIR": ""})
print(len(tried), end=" ")
core.compile_model(model, "GPU")
print(len(tried))
"""
    before, after = run_python(code)[0].split()
    assert int(before) == 0 < int(after)
