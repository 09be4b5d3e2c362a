"""Tries a device in child processes: runs small models, compares them with the reference, and measures speeds."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
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
from hetero_opencl.device.launch import SLACK
from hetero_opencl.device.platforms import find_device, name_of
from hetero_opencl.device.trial import Verdict
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.profiles.profile import Measurements
from hetero_opencl.vector_measurement import measure_vectors

# Sizes of the square matrices of the timed gemm. Powers of two are slow, as rows then share lines of the caches. The
# first is for devices that are too slow for the second, as simulators of GPUs are, at some MFLOP/s. The third and the
# fourth are for devices that the second has too few work-groups to fill.
SIZES = (96, 768, 1536, 3072)
# Bytes of each of the two buffers of the timed copy: for slow devices; together more than the caches of most
# processors; and more than those of large GPUs.
COPIED_BYTES = (1 << 18, 1 << 26, 1 << 28)
# Sizes after the second are tried while a run takes less than SHORT seconds, sizes that would take more than LONG not.
SHORT, LONG = 2e-3, 1.0
# Runs are repeated for so long, and the shortest counts: other programs may disturb some of them. Processors reach
# their full speed only after some tenths of a second, which the cases before have taken.
REPEATED_SECONDS = 0.25
# How many kernels are timed together.
COPIES, LAUNCHES = 4, 500
# No gemm ends sooner. The events of some drivers begin and end at the same time.
LEAST_SECONDS = 1e-6
# Work-items of a work-group of the timed copy.
GROUP = 256
# How often one queue reads what another one has written, and bytes of that: to write them takes longer than to read.
READS, READ_BYTES = 8, 1 << 18

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
    # Mesa 22.3 takes a negative i32 for positive if it is widened and compared with a constant.
    "a gather with negative indices": (
        lambda x, indices: ops.Gather(x, indices, Constant(np.int64(0))),
        [(Type.f32, (100, 3)), (Type.i32, (40,))],
    ),
}


def try_device(
    step: str, device_identity: list[str | int], measurements: dict[str, Any], part: list[int]
) -> dict[str, Any]:
    """Do a step of ``STEPS``; return the fields of the verdict.

    ``measurements`` are the fields of those that the steps before have made. ``part``: every how many cases is done,
    after the first one that is.
    """
    try:
        handle = find_device(device_identity)
        return asdict(STEPS[step](handle, Measurements(**measurements), part))
    except DeviceError as error:
        return asdict(Verdict(str(error)))


def _measure_vectors(handle: cl.Device, measured: Measurements, part: Sequence[int]) -> Verdict:
    with opencl_errors(f"measuring the vectors of {name_of(handle)}"):
        width, registers = measure_vectors(handle)
    return Verdict("", replace(measured, vector_width=width, vector_registers=registers))


def _run_cases(handle: cl.Device, measured: Measurements, part: Sequence[int]) -> Verdict:
    first, every = part
    with _trial_core(handle, measured) as (device, core, folder):
        wrong = [name for name in list(CASES)[first::every] if not _is_right(device, core, folder, name)]
    return Verdict(f"it computes {', '.join(wrong)} wrongly" if wrong else "", measured)


def _measure_speeds(handle: cl.Device, measured: Measurements, part: Sequence[int]) -> Verdict:
    with _trial_core(handle, measured) as (device, core, folder), opencl_errors(f"measuring {device.full_name}"):
        if not _queues_agree(device):
            return Verdict("one of its queues does not read what another one has written")
        return Verdict("", _measure(device, core, folder))


#: What a trial does, in order. Several processes can run cases, each a part of them.
STEPS = {"vectors": _measure_vectors, "cases": _run_cases, "speeds": _measure_speeds}


@contextlib.contextmanager
def _trial_core(handle: cl.Device, measured: Measurements) -> Iterator[tuple[OpenCLDevice, Core, str]]:
    """Yield the device, a Core that has it as TRIAL, and a folder for kernels."""
    device = OpenCLDevice(handle, replace(profile_of(handle, measured), builds_in_child=False))
    core = Core()
    core.register_plugin(lambda: OpenCLPlugin([device]), "TRIAL")
    with tempfile.TemporaryDirectory() as folder:
        yield device, core, folder


def _is_right(device: OpenCLDevice, core: Core, folder: str, name: str) -> bool:
    """Return whether the device computes a case as the reference does, or has not its element type."""
    graph, inputs = CASES[name]
    if Type.f64 in dict(inputs) and not device.profile.has_doubles:
        return True
    parameters = [Parameter(kind, shape) for kind, shape in inputs]
    arrays = [_random(kind, shape) for kind, shape in inputs]
    model = Model(graph(*parameters), parameters, name)
    expected = _reference(graph(*map(Constant, arrays)))
    result = core.compile_model(model, "TRIAL", {"CACHE_DIR": folder})(arrays)[0]
    return np.allclose(result, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def _queues_agree(device: OpenCLDevice) -> bool:
    """Return whether a queue reads what another one has written, once that has ended."""
    writer, reader = (device.make_queue(profiled=False) for _ in range(2))
    copy = cl.Kernel(build_uncached(cl.Program(device.context, KERNELS)), "copy")
    source, target = (device.allocate(READ_BYTES) for _ in range(2))
    copy.set_args(source, target)
    found = np.empty(READ_BYTES // 4, np.float32)
    for value in range(READS):
        cl.enqueue_copy(writer, source, np.full_like(found, value))
        cl.enqueue_nd_range_kernel(writer, copy, *_copy_sizes(device, READ_BYTES)).wait()
        cl.enqueue_copy(reader, found, target)
        if (found != value).any():
            return False
    return True


def _measure(device: OpenCLDevice, core: Core, folder: str) -> Measurements:
    queue = device.make_queue(profiled=False)
    built = build_uncached(cl.Program(device.context, KERNELS))
    nothing, copy = cl.Kernel(built, "nothing"), cl.Kernel(built, "copy")
    buffers: list[cl.Buffer] = []  # a kernel does not keep its arguments alive

    def time_launches(kernel: cl.Kernel, count: int, global_size: tuple[int], local_size: tuple[int]) -> float:
        started = time.perf_counter()
        for _ in range(count):
            event = cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size)
        event.wait()
        return (time.perf_counter() - started) / count

    def time_copies(byte_size: int) -> Callable[[], float]:
        buffers[:] = [device.allocate(byte_size) for _ in range(2)]
        for buffer in buffers:  # the operating system provides memory at the first write
            cl.enqueue_fill_buffer(queue, buffer, np.zeros(1, np.uint8), 0, byte_size)
        copy.set_args(*buffers)
        return partial(time_launches, copy, COPIES, *_copy_sizes(device, byte_size))

    largest = min(device.profile.max_allocation_bytes - SLACK, device.handle.global_mem_size // 8)
    return Measurements(
        flops_per_second=_rate(SIZES, lambda size: 2 * size**3, partial(_time_gemm, core, folder)),
        bytes_per_second=_rate([size for size in COPIED_BYTES if size <= largest], lambda size: 2 * size, time_copies),
        launch_seconds=_shortest(partial(time_launches, nothing, LAUNCHES, (1,), (1,))),
        sub_group_size=_sub_group_size(device, copy, _copy_sizes(device, COPIED_BYTES[0])[1][0]),
        vector_width=device.profile.vector_width,
        vector_registers=device.profile.vector_registers,
    )


def _copy_sizes(device: OpenCLDevice, byte_size: int) -> tuple[tuple[int], tuple[int]]:
    """Return the global and the local size of a copy of ``byte_size`` bytes."""
    return (byte_size // cl.cltypes.float4.itemsize,), (min(GROUP, device.profile.max_work_group_size),)


def _rate(sizes: Sequence[int], work: Callable[[int], int], prepare: Callable[[int], Callable[[], float]]) -> float:
    """Return the work per second for the size that suits the device; ``prepare`` returns a function that times one."""
    for at, size in enumerate(sizes):
        run = prepare(size)
        run()  # the first one may wait for the driver to make ready
        seconds, larger = run(), sizes[at + 1 : at + 2]
        if not larger or (at and seconds > SHORT) or seconds * work(larger[0]) > LONG * work(size):
            break
    return work(size) / min(seconds, _shortest(run))


def _shortest(run: Callable[[], float]) -> float:
    """Return the shortest time of the runs that fit in REPEATED_SECONDS, of at least one."""
    end, times = time.perf_counter() + REPEATED_SECONDS, [run()]
    while time.perf_counter() < end:
        times.append(run())
    return min(times)


def _time_gemm(core: Core, folder: str, size: int) -> Callable[[], float]:
    """Return a function that returns the time of the kernels of a gemm: without transfers, if the driver says it."""
    matrices = [Parameter(Type.f32, (size, size)) for _ in range(2)]
    model = Model(ops.MatMul(*matrices, False, False), matrices)
    compiled = core.compile_model(model, "TRIAL", {"CACHE_DIR": folder, "PERF_COUNT": True})
    request, arrays = compiled.create_infer_request(), [np.ones((size, size), np.float32)] * 2

    def seconds() -> float:
        started = time.perf_counter()
        request.infer(arrays)
        elapsed = time.perf_counter() - started
        kernels = [info for info in request.get_profiling_info() if info.node_type != STAGE]
        measured = sum(info.real_time.total_seconds() for info in kernels)
        return measured if measured > LEAST_SECONDS else elapsed

    return seconds


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
    if dtype.kind not in "iu":
        return generator.standard_normal(shape).astype(dtype)
    signs = generator.choice((-1, 1), shape) if dtype.kind == "i" else 1
    return (generator.integers(1, 100, shape) * signs).astype(dtype)
