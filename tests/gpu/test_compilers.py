"""What the compilers of vendors report, for kernels whose resources are known."""

import pytest
from hetero_opencl.estimate.compilers.compilation import compile_program, compile_spirv, compile_unoptimized

from tests.gpu.marks import needs_tools

pytestmark = needs_tools

TARGETS = ("gfx1030", "gfx1100", "gfx90a", "sm_75", "sm_80", "sm_89", "skl", "dg2")
WAVES = {"gfx1030": 32, "gfx1100": 32, "gfx90a": 64, "sm_75": 32, "sm_80": 32, "sm_89": 32}

KERNELS = """
static inline float twice(const float x)
{
    return 2 * x;
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void reverse(global const float *x, global float *y)
{
    local float group[1024];
    group[get_local_id(0)] = twice(x[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = group[63 - get_local_id(0)];
}

// Where an element is depends on the data, so that the array cannot be in registers.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void histogram(global const int *x, global int *y, const int n)
{
    int counts[64];
    for (int i = 0; i < 64; i++)
        counts[i] = get_global_id(0);
    for (int i = 0; i < n; i++)
        counts[x[i + get_global_id(0)] & 63] += i;
    for (int i = 0; i < 64; i++)
        y[64 * get_global_id(0) + i] = counts[i];
}
"""
# 512 sums of a work-item, which fit the registers of no GPU.
WIDE = """
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void wide(global const float *x, global float *y, const int n)
{
    x += get_global_id(0);
    float16 %s;
    for (int k = 0; k < n; k++) {
        const float16 b = vload16(0, x + 999 * k);
        %s
    }
    %s
}
"""
NAMES = [f"a{i}" for i in range(32)]
WIDE %= (
    ", ".join(f"{name} = 0" for name in NAMES),
    " ".join(f"{name} += b * x[{i} + 77 * k];" for i, name in enumerate(NAMES)),
    " ".join(f"vstore16({name}, {i} + 32 * get_global_id(0), y);" for i, name in enumerate(NAMES)),
)


@pytest.mark.parametrize("target", TARGETS)
def test_resources(target):
    kernels = compile_program(KERNELS, target).kernels
    assert sorted(kernels) == ["histogram", "reverse"]
    assert kernels["reverse"].local_bytes == 4 * 1024
    assert kernels["reverse"].scratch_bytes == 0
    # AMD's compiler keeps 4 bytes for itself.
    assert kernels["histogram"].scratch_bytes in (4 * 64, 4 * 64 + 4)
    assert kernels["histogram"].local_bytes == 0
    for kernel in kernels.values():
        assert kernel.spilled_registers == 0
        assert kernel.wave_width == WAVES.get(target, kernel.wave_width)
        assert kernel.registers in ((128,) if target in ("skl", "dg2") else range(1, 100))


@pytest.mark.parametrize("target", TARGETS)
def test_spilled_registers(target):
    (kernel,) = compile_program(WIDE, target).kernels.values()
    assert kernel.spilled_registers > 100 or target == "gfx90a"  # which has 512
    assert kernel.scratch_bytes > 400 or target == "gfx90a"


@pytest.mark.parametrize("target", TARGETS)
def test_errors(target):
    result = compile_program("kernel void f(global float *x) { *x = missing; }", target)
    assert not result.kernels
    assert "undeclared identifier 'missing'" in result.error


def test_f64_is_an_error_where_there_is_none():
    """Arc has no f64 in hardware."""
    program = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nkernel void f(global double *x) { *x = 2 * *x; }"
    assert "use of type 'double' requires cl_khr_fp64 support" in compile_program(program, "dg2").error
    assert compile_program(program, "skl").error == ""


def test_inline_functions_that_are_not_static():
    program = "inline float f(float x) { return x; } kernel void g(global float *x) { *x = f(*x); }"
    assert compile_program(program, "gfx1030").error == ""
    assert compile_unoptimized(program).error == "undefined symbols: f"
    assert "may not be decorated with Import Linkage type" in compile_spirv(program).error
    assert compile_unoptimized(KERNELS).error == compile_spirv(KERNELS).error == ""
