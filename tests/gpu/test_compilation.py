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
# Kernels that keep values in memory instead of registers on some GPU, and why.
SPILLING = {
    "depthwise": "16 results of a work-item, of which an array passes on the last ones of a row",
    "reduce": "4 sums of 16 elements of a work-item, and as many loads",
    "softmax_columns": "the exponentials of 16 columns of a work-item",
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


def test_no_kernel_spills(compiled):
    """No kernel that is chosen for a GPU keeps values in memory for want of registers, but those listed."""
    assert sorted(_spilling(compiled) - set(SPILLING)) == []


def test_every_exception_is_needed():
    """A kernel that spills on no GPU any more is no exception."""
    assert set(SPILLING) == set().union(*(_spilling(compiled_for(name)) for name in known_gpus()))


def _spilling(compiled):
    return {name for name, kernel in compiled.kernels if kernel.spilled_registers or kernel.scratch_bytes}


def test_no_symbol_is_undefined_without_optimization():
    programs = compile_each(all_sources(), compile_unoptimized)
    assert [program.error for program in programs if program.error] == []


def test_spirv_is_valid():
    programs = compile_each(all_sources(), compile_spirv)
    assert [program.error for program in programs if program.error] == []
