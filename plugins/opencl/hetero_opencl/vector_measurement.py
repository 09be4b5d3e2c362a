"""Measurement of the vectors of a processor, as a driver's compiler uses them.

Drivers report the widest vectors of the processor, also if they generate code for a smaller instruction set, as Intel's
does for CL_CONFIG_CPU_TARGET_ARCH. The speed of multiplications need not show the difference: a Zen 4 computes as many
elements per cycle with vectors of 8 f32 as with those of 16. But sums that exceed the registers are read from the stack
and written back in each step. With XOR that is visible: it is as fast as its operands are loaded, and each further load
takes time. In a multiply-add of f32, which is slower, a Sapphire Rapids hides them.
"""

from __future__ import annotations

import time

import numpy as np
import pyopencl as cl

from hetero_opencl.device.caches import build_uncached

# Elements of a vector, and the sums of a kernel: with 12 sums, they and an operand fit 16 registers; with 24, only 32.
_WIDTHS = (16, 8, 4)
_FEW, _MANY = 12, 24
# Sums that do not exceed the registers process at least this share of the elements per second. Measured on a Sapphire
# Rapids with Intel's runtime for AVX-512, AVX2 and SSE4.2 and PoCL: 0.63 to 0.76 if they do, else 0.95 to 1.7.
_SHARE = 0.85
# A measurement takes this time, with fewer steps on devices on which these take longer than _SLOW seconds.
_SECONDS, _SLOW = 0.3, 1e-3
_STEPS, _FEW_STEPS = 1 << 15, 1 << 8

# Vectors are loaded by functions as in all kernels: without these, PoCL's compiler divides vectors of 16.
_KERNEL = """
kernel void add{width}_{sums}(global const uint *values, global uint *result, const int steps)
{{
    uint{width} sums[{sums}];
    #pragma unroll
    for (int i = 0; i < {sums}; i++) sums[i] = 0;
    #pragma nounroll
    for (int step = 0; step < steps; step++) {{
        global const uint *row = values + step % 2 * {width};
        #pragma unroll
        for (int i = 0; i < {sums}; i++) sums[i] ^= vload{width}(i, row);
    }}
    #pragma unroll
    for (int i = 0; i < {sums}; i++) vstore{width}(sums[i], i, result);
}}
"""


def measure_vectors(handle: cl.Device) -> tuple[int, int]:
    """Return the vector width in f32, at most the one that the driver reports, and the number of vector registers.

    They are measured for processors. Other devices form vectors of work-items, so their width is 1. Raises cl.Error if
    a kernel does not build or run.
    """
    native = handle.native_vector_width_float
    widths = [width for width in _WIDTHS if width <= native]
    if not (widths and handle.type & cl.device_type.CPU):
        return 1, 16
    seconds = _times(handle, [(width, sums) for width in widths for sums in (_FEW, _MANY)])
    rates = {(width, sums): width * sums / time for (width, sums), time in seconds.items()}
    fastest = max(rates[width, _FEW] for width in widths)
    width = next(width for width in widths if rates[width, _FEW] >= _SHARE * fastest)
    return width, 32 if rates[width, _MANY] >= _SHARE * rates[width, _FEW] else 16


def _times(handle: cl.Device, sizes: list[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Return the shortest time of the kernel for each width and number of sums, measured in turn."""
    context = cl.Context([handle])
    queue = cl.CommandQueue(context, handle)
    text = "".join(_KERNEL.format(width=width, sums=sums) for width, sums in sizes)
    built = build_uncached(cl.Program(context, text))
    byte_size = (_MANY + 2) * max(_WIDTHS) * 4
    values, result = (cl.Buffer(context, cl.mem_flags.READ_WRITE, byte_size) for _ in range(2))
    cl.enqueue_fill_buffer(queue, values, np.zeros(1, np.uint8), 0, byte_size)
    kernels = {size: cl.Kernel(built, "add{}_{}".format(*size)) for size in sizes}

    def run(kernel: cl.Kernel, steps: int) -> float:
        kernel.set_args(values, result, np.int32(steps))
        queue.finish()
        started = time.perf_counter()
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
        queue.finish()
        return time.perf_counter() - started

    # Some drivers generate code at the first launch.
    is_slow = max([run(kernel, _FEW_STEPS) for _ in range(2) for kernel in kernels.values()][len(sizes) :]) > _SLOW
    steps = _FEW_STEPS if is_slow else _STEPS
    seconds = dict.fromkeys(sizes, float("inf"))
    end = time.perf_counter() + _SECONDS
    while seconds[sizes[-1]] == float("inf") or time.perf_counter() < end:
        for size, kernel in kernels.items():
            seconds[size] = min(seconds[size], run(kernel, steps))
    return seconds
