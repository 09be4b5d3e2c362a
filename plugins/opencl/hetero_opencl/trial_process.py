"""Tries a device in a child process: runs small models, compares them with the reference, and measures speeds."""

from __future__ import annotations

import tempfile
import time
import timeit
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

import numpy as np
import pyopencl as cl

from hetero import Constant, Core, Model, Node, Parameter, Type, ops
from hetero.graph import constant_array
from hetero.passes import fold_constants
from hetero.plugin import STAGE
from hetero.system.errors import DeviceError
from hetero_opencl.device.caches import build_uncached
from hetero_opencl.device.device import OpenCLDevice, opencl_errors
from hetero_opencl.device.device_profile import profile_of
from hetero_opencl.device.platforms import find_device, name_of
from hetero_opencl.device.trial import Verdict
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.profiles.profile import Measurements
from hetero_opencl.vector_measurement import measure_vectors

# The size of the square matrices of the timed gemm. Powers of two are slow, as rows then share lines of the caches.
SIZE = 768
# Bytes of each of the two buffers of the timed copy: together more than the caches of most processors.
COPIED_BYTES = 1 << 26
# How many kernels are timed together, and how often. The shortest time counts, because other programs may disturb some
# runs.
COPIES, LAUNCHES, RUNS = 4, 500, 10
# The time in which the gemm is repeated: processors reach their full speed only after some tenths of a second.
GEMM_SECONDS = 0.5
# Work-items of a work-group of the timed copy.
GROUP = 256

KERNELS = """
kernel void nothing(void) {}
kernel void copy(global const float4 *from, global float4 *to) { to[get_global_id(0)] = from[get_global_id(0)]; }
"""

# Small graphs, and the types and shapes of their inputs.
CASES: dict[str, tuple[Callable[..., Node], Sequence[tuple[Type, tuple[int, ...]]]]] = {
    "a matrix product": (
        lambda a, b: ops.MatMul(a, b, False, False),
        [(Type.f32, (96, 130)), (Type.f32, (130, 70))],
    ),
    "a convolution": (
        lambda x, w: ops.Relu(ops.Convolution(x, w, [1, 1], [1, 1], [1, 1], [1, 1])),
        [(Type.f32, (1, 16, 14, 14)), (Type.f32, (32, 16, 3, 3))],
    ),
    "sums of rows": (lambda x: ops.ReduceSum(x, 1), [(Type.f32, (8, 1000))]),
    "sums of columns": (lambda x: ops.ReduceSum(x, 0), [(Type.f32, (40, 96))]),
    "a softmax": (lambda x: ops.Softmax(x, 1), [(Type.f32, (6, 100))]),
    "a choice": (
        lambda a, b: ops.Select(ops.Greater(a, b), ops.Exp(a), ops.Tanh(b)),
        [(Type.f32, (7, 33)), (Type.f32, (7, 33))],
    ),
    "arithmetic of i32": (
        lambda a, b: ops.Add(ops.Divide(a, b), ops.Multiply(a, b)),
        [(Type.i32, (130,)), (Type.i32, (130,))],
    ),
    "sums of i64": (lambda x: ops.ReduceSum(x, 0), [(Type.i64, (300, 3))]),
    "arithmetic of u8": (lambda a: ops.Multiply(a, a), [(Type.u8, (130,))]),
    "arithmetic of f64": (lambda a: ops.Exp(a), [(Type.f64, (50,))]),
}


def try_device(device_identity: list[str | int]) -> dict[str, Any]:
    """Try the device with this identity; return the fields of the verdict."""
    handle = find_device(device_identity)
    try:
        with opencl_errors(f"measuring the vectors of {name_of(handle)}"):
            width, registers = measure_vectors(handle)
    except DeviceError as error:
        return asdict(Verdict(str(error)))
    measured = Measurements(vector_width=width, vector_registers=registers)
    profile = replace(profile_of(handle, measured), builds_in_child=False)
    return asdict(_verdict(OpenCLDevice(handle, profile)))


def _verdict(device: OpenCLDevice) -> Verdict:
    core = Core()
    core.register_plugin(lambda: OpenCLPlugin([device]), "TRIAL")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (graph, inputs) in CASES.items():
            if Type.f64 in dict(inputs) and not device.profile.has_doubles:
                continue
            parameters = [Parameter(kind, shape) for kind, shape in inputs]
            arrays = [_random(kind, shape) for kind, shape in inputs]
            model = Model(graph(*parameters), parameters, name)
            expected = _reference(graph(*map(Constant, arrays)))
            try:
                result = core.compile_model(model, "TRIAL", {"CACHE_DIR": folder})(arrays)[0]
            except DeviceError as error:
                return Verdict(str(error))
            if not np.allclose(result, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()):
                wrong.append(name)
        if wrong:
            return Verdict(f"it computes {', '.join(wrong)} wrongly")
        with opencl_errors(f"measuring {device.full_name}"):
            return Verdict("", _measure(device, core, folder))


def _measure(device: OpenCLDevice, core: Core, folder: str) -> Measurements:
    queue = device.make_queue(profiled=False)
    built = build_uncached(cl.Program(device.context, KERNELS))
    nothing, copy = cl.Kernel(built, "nothing"), cl.Kernel(built, "copy")
    buffers = [device.allocate(COPIED_BYTES) for _ in range(2)]
    for buffer in buffers:  # the operating system provides memory at the first write
        cl.enqueue_fill_buffer(queue, buffer, np.zeros(1, np.uint8), 0, COPIED_BYTES)
    copy.set_args(*buffers)
    items = COPIED_BYTES // cl.cltypes.float4.itemsize
    group = min(GROUP, device.profile.max_work_group_size)

    def seconds(kernel: cl.Kernel, count: int, global_size: int, local_size: int) -> float:
        def run() -> None:
            for _ in range(count):
                cl.enqueue_nd_range_kernel(queue, kernel, (global_size,), (local_size,))
            queue.finish()

        return min(timeit.repeat(run, number=1, repeat=RUNS)) / count

    return Measurements(
        flops_per_second=2 * SIZE**3 / _gemm_seconds(core, folder),
        bytes_per_second=2 * COPIED_BYTES / seconds(copy, COPIES, items, group),
        launch_seconds=seconds(nothing, LAUNCHES, 1, 1),
        sub_group_size=_sub_group_size(device, copy, group),
        vector_width=device.profile.vector_width,
        vector_registers=device.profile.vector_registers,
    )


def _gemm_seconds(core: Core, folder: str) -> float:
    """Return the time of the kernels of a gemm, without transfers."""
    matrices = [Parameter(Type.f32, (SIZE, SIZE)) for _ in range(2)]
    model = Model(ops.MatMul(*matrices, False, False), matrices)
    compiled = core.compile_model(model, "TRIAL", {"CACHE_DIR": folder, "PERF_COUNT": True})
    request, arrays = compiled.create_infer_request(), [np.ones((SIZE, SIZE), np.float32)] * 2

    def seconds() -> float:
        request.infer(arrays)
        kernels = [info for info in request.get_profiling_info() if info.node_type != STAGE]
        return sum(info.real_time.total_seconds() for info in kernels)

    end, times = time.perf_counter() + GEMM_SECONDS, [seconds()]
    while time.perf_counter() < end:
        times.append(seconds())
    return min(times)


def _sub_group_size(device: OpenCLDevice, kernel: cl.Kernel, work_items: int) -> int:
    """Return the size of the sub-groups of a work-group, 0 if the device has none."""
    query = cl.kernel_sub_group_info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE
    try:
        return cast(int, kernel.get_sub_group_info(device.handle, query, [work_items]))
    except cl.Error:
        return 0


def _reference(node: Node) -> np.ndarray:
    """Return the value of a graph of Constants."""
    model = Model(node, [])
    fold_constants(model)
    value = constant_array(model.results[0].input_value(0))
    assert value is not None
    return value


def _random(kind: Type, shape: tuple[int, ...]) -> np.ndarray:
    generator = np.random.default_rng(0)
    dtype = kind.to_dtype()
    return (generator.integers(1, 100, shape) if dtype.kind in "iu" else generator.standard_normal(shape)).astype(dtype)
