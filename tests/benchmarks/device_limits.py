"""The limits of an OpenCL device: f32 arithmetic in registers, and bytes copied from memory to memory."""

from __future__ import annotations

import math

import numpy as np
import pyopencl as cl
from hetero_opencl.device.caches import build_uncached
from hetero_opencl.device.device import OpenCLDevice
from hetero_opencl.profiles.profile import Family

# Sums in registers, enough to hide the latency of a multiply-add, and the length of each.
SUMS, STEPS = 12, 100_000
# Bytes of each of the two buffers of the copy.
COPIED_BYTES = 1 << 26
SOURCE = """
kernel void multiply_add(global VECTOR *out, const float x, const float y) {
    VECTOR sums[SUMS];
    for (int i = 0; i < SUMS; i++) sums[i] = (VECTOR)(i);
    for (int step = 0; step < STEPS; step++)
        #pragma unroll
        for (int i = 0; i < SUMS; i++) sums[i] = sums[i] * x + y;
    for (int i = 1; i < SUMS; i++) sums[0] += sums[i];
    out[get_global_id(0)] = sums[0];
}
kernel void copy(global const float16 *from, global float16 *to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}
"""


class DeviceLimits:
    """Measures a device at each call of ``sample``. The shortest time counts, as other programs disturb some of them.

    A multiplication and an addition are two operations. The bytes are those read and those written.
    """

    def __init__(self, device: OpenCLDevice) -> None:
        profile = device.profile
        vector = "float" if profile.vector_width == 1 else f"float{profile.vector_width}"
        macros = f"#define VECTOR {vector}\n#define SUMS {SUMS}\n#define STEPS {STEPS}\n"
        program = build_uncached(cl.Program(device.context, macros + SOURCE))
        self._queue = device.make_queue(profiled=True)
        self._buffers = [device.allocate(COPIED_BYTES) for _ in range(2)]
        cl.enqueue_fill_buffer(self._queue, self._buffers[0], np.zeros(1, np.uint8), 0, COPIED_BYTES)
        self._arithmetic, self._copy = cl.Kernel(program, "multiply_add"), cl.Kernel(program, "copy")
        # GPUs need many work-items to hide latencies. On a CPU each work-item is for one core.
        self._group = 1 if profile.family is Family.PROCESSOR else 256
        self._items = profile.compute_units * self._group * (1 if profile.family is Family.PROCESSOR else 8)
        self._operations = 2 * SUMS * STEPS * profile.vector_width * self._items
        self._seconds = [math.inf, math.inf]

    def sample(self) -> None:
        """Measure once more."""
        scale, offset = np.float32(0.5), np.float32(1.0)
        calls = (
            (self._arithmetic, self._items, self._group, (self._buffers[1], scale, offset)),
            (self._copy, COPIED_BYTES // 64, 64, self._buffers),
        )
        for index, (kernel, items, group, arguments) in enumerate(calls):
            event = kernel(self._queue, (items,), (group,), *arguments)
            event.wait()
            seconds = (event.profile.end - event.profile.start) * 1e-9
            self._seconds[index] = min(self._seconds[index], seconds)

    @property
    def flops_per_second(self) -> float:
        return self._operations / self._seconds[0]

    @property
    def bytes_per_second(self) -> float:
        return 2 * COPIED_BYTES / self._seconds[1]
