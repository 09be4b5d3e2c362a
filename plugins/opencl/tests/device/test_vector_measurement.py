"""The vectors that a trial finds are those of the instruction set that a driver's compiler generates code for."""

import json
from types import SimpleNamespace

import pyopencl as cl
import pytest
from hetero_opencl import vector_measurement
from hetero_opencl.device import intel, pocl
from hetero_opencl.device.platforms import all_devices
from hetero_opencl.vector_measurement import measure_vectors

from tests.interpreter import run_python

FLAGS = pocl.processor_flags()
HAS_INTEL = any(device.platform.name.strip() == "Intel(R) OpenCL" for device in all_devices())
# Targets of Intel's runtime: the flag of /proc/cpuinfo that they require, their vectors of f32 and their registers.
TARGETS = {"skx": ("avx512f", 16, 32), "core-avx2": ("avx2", 8, 16), "corei7": ("sse4_2", 4, 16)}
# What a processor computes in a second, in vectors of its width: elements of 12 and of 24 sums for each width.
NATIVE_16 = {(16, 12): 64, (16, 24): 70, (8, 12): 44, (8, 24): 42, (4, 12): 27, (4, 24): 30}
HALF_16 = {(16, 12): 40, (16, 24): 41, (8, 12): 41, (8, 24): 42, (4, 12): 20, (4, 24): 22}
NATIVE_8 = {(16, 12): 30, (16, 24): 26, (8, 12): 40, (8, 24): 30, (4, 12): 28, (4, 24): 21}
NATIVE_4 = {(16, 12): 18, (16, 24): 17, (8, 12): 20, (8, 24): 18, (4, 12): 27, (4, 24): 20}


@pytest.fixture(autouse=True)
def processor():
    """Each test runs once: kernels for GPUs make no difference here."""


@pytest.mark.parametrize(
    ("rates", "reported", "expected"),
    [
        (NATIVE_16, 16, (16, 32)),
        (HALF_16, 16, (16, 32)),  # vectors of 16 are two halves for the arithmetic units, and one for the registers
        (NATIVE_16, 8, (8, 32)),
        (NATIVE_8, 16, (8, 16)),
        (NATIVE_8, 8, (8, 16)),
        (NATIVE_4, 16, (4, 16)),
        ({(4, 12): 27, (4, 24): 28}, 4, (4, 32)),
    ],
)
def test_vectors_that_exceed_the_registers_are_not_used(monkeypatch, rates, reported, expected):
    def times(handle, sizes):
        return {(width, sums): width * sums / rates[width, sums] for width, sums in sizes}

    monkeypatch.setattr(vector_measurement, "_times", times)
    handle = SimpleNamespace(native_vector_width_float=reported, type=cl.device_type.CPU)
    assert measure_vectors(handle) == expected


def test_vectors_of_gpus_are_those_that_they_report():
    assert measure_vectors(SimpleNamespace(native_vector_width_float=4, type=cl.device_type.GPU)) == (1, 16)


def intel_device(target: str) -> dict:
    """Return what a new process finds about Intel's runtime with this target."""
    code = """
import json
from dataclasses import replace
from hetero_opencl.device import device, device_profile, launch, platforms, trial
from hetero_opencl.profiles.profile import Measurements
from hetero_opencl.vector_measurement import measure_vectors

(handle,) = [one for one in platforms.all_devices() if one.platform.name.strip() == "Intel(R) OpenCL"]
profile = replace(device_profile.profile_of(handle, Measurements()), builds_in_child=False)
found = device.OpenCLDevice(handle, profile)
names = found.binary_names([launch.Launch("kernel void a(void) {}", "a", (), (1,), (1,), "a", "Abs")])
print(json.dumps([measure_vectors(handle), trial.verdict_file(handle).name, found.architecture, *names]))
"""
    printed, _ = run_python(code, **({intel.TARGET: target} if target else {}))
    keys = ("vectors", "verdict", "architecture", "binary")
    return dict(zip(keys, json.loads(printed), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(not HAS_INTEL, reason="Intel's runtime is not installed")
def test_each_target_of_intels_runtime_has_its_vectors_and_its_files():
    """Vectors are those of the instruction set, according to Intel's manuals; programs are not mixed up."""
    targets = {name: vectors for name, (flag, *vectors) in TARGETS.items() if flag in FLAGS}
    if not targets:
        pytest.skip("Intel's runtime has targets for x86")
    found = {name: intel_device(name) for name in targets}
    assert {name: one["vectors"] for name, one in found.items()} == targets
    for key in ("verdict", "architecture", "binary"):
        assert len({one[key] for one in [*found.values(), intel_device("")]}) == len(targets) + 1
    assert all(one["architecture"].endswith(f", built for {name}") for name, one in found.items())
