"""Times of launches, against figures on paper, with what a compiler would say about the kernels' registers given."""

from pathlib import Path

import numpy as np
import pytest
from hetero_opencl.device.launch import Buffer, Launch
from hetero_opencl.estimate.compilers.resources import KernelResources
from hetero_opencl.estimate.performance_model import PerformanceModel
from hetero_opencl.profiles.hardware import hardware_of

IR = (Path(__file__).parent / "kernels.ll").read_text()


def estimate(kernel, profile, items, *scalars, group=64, buffers=(1 << 26, 1 << 26), **resources):
    hardware = hardware_of(profile)
    known = {"registers": 32, "spilled_registers": 0, "scratch_bytes": 0, "local_bytes": 0}
    known |= {"wave_width": hardware.wave} | resources
    model = PerformanceModel(hardware, lambda source: IR, lambda source, name: KernelResources(**known))
    arguments = (*map(Buffer, buffers), *map(np.int32, scalars))
    return model.estimate(Launch("", kernel, arguments, (items,), (group,), "node", "Type"))


@pytest.mark.parametrize(
    ("profile", "bandwidth"), [("rx_7900", 960e9), ("rtx_4090", 1008e9), ("a100", 1555e9), ("hd_530", 34.1e9)]
)
def test_a_large_copy_takes_the_bandwidth_of_memory(profile, bandwidth):
    one = estimate("copy", profile, 1 << 24, group=256)
    assert one.limit == "memory"
    assert one.seconds == pytest.approx(2 * (1 << 26) / bandwidth + 4e-6)
    assert one.groups == 1 << 16


def test_one_group_takes_the_latency_of_what_it_reads():
    """A thousand reads, each of 320 cycles and 20 of arithmetic, with one wave on a GPU of 2.5 GHz."""
    one = estimate("waiting", "rx_7900", 32, 1001, group=32)
    assert one.limit == "latency"
    assert one.seconds == pytest.approx(1000 * 340 / 2.5e9 + 4e-6, rel=0.01)


def test_bank_conflicts_take_time():
    """8 groups a unit, whose work-items read 32 columns of one bank each, and write 32 rows."""
    one = estimate("transpose", "rx_7900", 32 * 96 * 8, 1024, group=32)
    assert one.seconds_of["local memory"] == pytest.approx(8 * 32 * 33 / 2.5e9)


def test_local_memory_of_half_the_banks():
    """Of 16 banks, each of 16 work-items in a wave reads another one. A row of 32 elements is two waves' write."""
    one = estimate("transpose_padded", "hd_530", 32 * 3, 1024, group=32)
    assert one.seconds_of["local memory"] == pytest.approx(2 * 2 * 32 / 1.15e9)


def test_transfers_of_a_strided_copy():
    """Of each line of 128 bytes, a sector is read. The cache delivers a line per cycle."""
    one = estimate("strided", "rx_7900", 96 * 64, 32)
    assert one.seconds_of["cache"] == pytest.approx(2 * 33 / 2.5e9)
    assert one.seconds_of["memory"] == pytest.approx(96 * 64 * (32 + 4) / 960e9)


@pytest.mark.parametrize(("registers", "waves"), [(32, 12), (64, 8), (128, 4), (168, 3), (255, 2)])
def test_waves_that_registers_hold(registers, waves):
    """A scheduler of an RTX 4090 has 16,384 registers of 4 bytes, for 32 work-items a wave; it holds 12 waves."""
    assert estimate("copy", "rtx_4090", 1 << 20, registers=registers).waves == waves


def test_waves_that_local_memory_holds():
    """15 groups of a wave with 4,224 bytes fit 64 KiB, for two schedulers; 9 waves are what the compiler says."""
    assert estimate("transpose_padded", "rx_7900", 1 << 20, 1024, group=32).waves == 8
    assert estimate("transpose_padded", "rx_7900", 1 << 20, 1024, group=32, waves=5).waves == 5


def test_spilled_registers_are_moved_in_each_iteration():
    """10 registers of 128 bytes there and back, in 1000 iterations of each of 2 waves, at 64 bytes per cycle."""
    without, spilled = (
        estimate("waiting", "rx_7900", 96 * 64, 1001, spilled_registers=count).seconds_of["cache"] for count in (0, 10)
    )
    moved = 2 * 10 * 128 * 1000 * 2 / 64
    assert without == pytest.approx(2 * 1001 * 128 / 64 / 2.5e9)
    assert spilled == pytest.approx(without + moved / 2.5e9)


def test_parts_of_a_buffer_are_not_read_twice():
    whole = Buffer(1 << 26)
    half = Buffer(1 << 25, whole=whole)
    model = PerformanceModel(
        hardware_of("rx_7900"), lambda source: IR,
        lambda source, name: KernelResources(
            registers=32, spilled_registers=0, scratch_bytes=0, local_bytes=0, wave_width=32
        ),
    )  # fmt: skip
    one = model.estimate(Launch("", "copy", (half, half), (1 << 24,), (256,), "node", "Type"))
    assert one.seconds_of["memory"] == pytest.approx((1 << 25) / 960e9)
