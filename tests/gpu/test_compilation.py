"""Programs of the zoo, a decoder and a sample of operations compile for GPUs that are not at hand, within limits."""

import math

import pytest
from hetero_opencl.estimate.compilers.compilation import compile_spirv, compile_unoptimized
from hetero_opencl.profiles.hardware import known_gpus

from tests.gpu.compilation import ROW, all_sources, compile_each, compiled_for
from tests.gpu.marks import needs_tools

pytestmark = needs_tools

# The local memory that every GPU gives to a work-group: OpenCL's least for devices with the full profile.
LOCAL_BYTES = 32 << 10
# Kernels that keep values in memory instead of registers, with the GPUs for which compilers do so, and why.
SPILLING = {
    "depthwise": ({"a100", "t4"}, "16 results of a work-item, of which an array passes on the last ones of a row"),
    "gemm": (
        {"arc_a770", "hd_530", "rx_7900", "rx_6800", "mi210", "t4"},
        "the 64 results of a work-item, which pass through memory once so that the epilogue is in the code once",
    ),
}


@pytest.fixture(params=known_gpus())
def compiled(request):
    return compiled_for(request.param)


def test_every_program_compiles(compiled, record_property):
    record_property(ROW, compiled.row())
    assert compiled.errors == []


def test_work_groups_fit(compiled):
    """A work-group has no more work-items than the driver accepts, and a size that the program declares."""
    sizes = {math.prod(launch.local_size) for launch in compiled.launches if launch.local_size}
    assert max(sizes) <= compiled.hardware.largest_work_group
    assert all("reqd_work_group_size" in launch.source for launch in compiled.launches if launch.local_size)


def test_local_memory_fits(compiled):
    assert [name for name, kernel in compiled.kernels if kernel.local_bytes > LOCAL_BYTES] == []


def test_no_kernel_spills():
    """No kernel that is chosen for a GPU keeps values in memory for want of registers, but those listed, which do."""
    found: dict[str, set[str]] = {}
    for gpu in known_gpus():
        for name, kernel in compiled_for(gpu).kernels:
            if kernel.spilled_registers or kernel.scratch_bytes:
                found.setdefault(name, set()).add(gpu)
    assert found == {name: gpus for name, (gpus, _) in SPILLING.items()}


def test_no_symbol_is_undefined_without_optimization():
    programs = compile_each(all_sources(), compile_unoptimized)
    assert [program.error for program in programs if program.error] == []


def test_spirv_is_valid():
    programs = compile_each(all_sources(), compile_spirv)
    assert [program.error for program in programs if program.error] == []
