"""Device profiles: what devices report, what trials measure, and kernels for another profile."""

from dataclasses import replace

import numpy as np
import pytest
from hetero_opencl.device.device import OpenCLDevice, present_devices
from hetero_opencl.device.device_profile import cache_sizes, profile_of
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.profiles.profile import Family, Measurements

import hetero
from hetero import Model, Parameter, Type, ops

DEVICES = present_devices().usable


@pytest.fixture(autouse=True)
def processor():
    """Each test runs once, with the profiles that it chooses."""


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.handle.platform.name)
def test_a_profile_has_the_measurements_of_the_trial(device):
    profile, defaults = device.profile, Measurements()
    # The slowest and the fastest devices that are made, from one old core to a large GPU.
    assert 1e8 < profile.flops_per_second < 1e15
    assert 1e8 < profile.bytes_per_second < 1e14
    assert 1e-7 < profile.launch_seconds < 1e-2
    assert profile.flops_per_second != defaults.flops_per_second
    assert (profile.bytes_per_second, profile.launch_seconds) != (defaults.bytes_per_second, defaults.launch_seconds)
    assert profile.sub_group_size in (0, 1, 2, 4, 8, 16, 32, 64, 128)
    assert (profile.vector_width, profile.vector_registers) in [(1, 16), (4, 16), (4, 32), (8, 16), (8, 32), (16, 32)]
    assert 1024 <= profile.l1_bytes <= profile.l2_bytes
    details = hetero.Core().get_property(f"GPU.{device.id}", "DEVICE_DETAILS")
    assert details["speed"] == profile.describe_speed()


def test_descriptions():
    (device, *_) = DEVICES
    measured = Measurements(flops_per_second=2.5e11, bytes_per_second=1.25e10, launch_seconds=4e-6, sub_group_size=8)
    profile = replace(profile_of(device.handle, measured), l1_bytes=49152, l2_bytes=1 << 21)
    assert profile.describe_speed() == "250 GFLOP/s, 12.5 GB/s, 4.0 µs per launch"
    assert profile.describe_caches() == "48 KiB L1, 2048 KiB L2"
    assert profile.describe_work_group().endswith("work-items, sub-groups of 8")


def test_caches_are_those_for_data(tmp_path):
    for index, (level, kind, size) in enumerate(
        [(1, "Data", "48K"), (1, "Instruction", "32K"), (2, "Unified", "2048K")]
    ):
        (tmp_path / f"index{index}").mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (tmp_path / f"index{index}" / name).write_text(f"{text}\n")
    (tmp_path / "index3").mkdir()  # without files, as in some containers
    assert cache_sizes(tmp_path) == {1: 49152, 2: 2 << 20}
    assert cache_sizes(tmp_path / "absent") == {}


@pytest.mark.parametrize("family", Family)
def test_the_profile_given_to_a_device_selects_its_kernels(family):
    """A sum of columns has one work-item for several columns on CPUs, and one for each column on GPUs."""
    (found, *_) = DEVICES
    device = OpenCLDevice(found.handle, replace(found.profile, family=family))
    plugin = OpenCLPlugin([device])
    x = Parameter(Type.f32, [8, 96])
    compiled = plugin.compile_model(Model(ops.ReduceSum(x, 0), [x]), {})
    (launch,) = compiled.last_programs()[0].launches
    assert (launch.global_size[0] < 96) == (family is Family.PROCESSOR)
    core = hetero.Core()
    core.register_plugin(lambda: plugin, "PROFILED")
    array = np.arange(8 * 96, dtype=np.float32).reshape(8, 96)
    np.testing.assert_array_equal(
        core.compile_model(Model(ops.ReduceSum(x, 0), [x]), "PROFILED")(array)[0], array.sum(0)
    )
