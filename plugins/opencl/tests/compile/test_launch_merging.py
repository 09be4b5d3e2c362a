"""Launches that become one, in a model and from their texts."""

from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl.compile.launch_merging import merge_launches
from hetero_opencl.device.caches import make_kernel
from hetero_opencl.device.device import present_devices
from hetero_opencl.device.launch import Buffer, Launch
from hetero_opencl.profiles.profile import Family

import hetero
from hetero import Model, Parameter, Type, ops
from tests.devices import GPUS

PROFILE = replace(present_devices().usable[0].profile, family=Family.PROCESSOR, compute_units=2)
X = np.random.default_rng(0).standard_normal((4, 24)).astype(np.float32)

# Both texts have a macro, a type and a function of the same name.
DOUBLE = """
#define FACTOR 2
typedef struct { float number; } Item;
float times(const Item item) { return item.number * FACTOR; }
kernel void multiply(global const float *restrict x, global float *restrict y, const int count)
{
    const int i = get_global_id(0);
    if (i < count) {
        const Item item = {x[i]};
        y[i] = times(item);
    }
}
kernel void unused(global float *x) { local float part[1]; part[0] = x[0]; }
"""
TRIPLE = DOUBLE.replace("FACTOR 2", "FACTOR 3").replace("number", "value")
# A work-item has a work-group of its own, with local memory and barriers, and a position along three axes.
POSITIONS = """
kernel void positions(global long *restrict out, const long start, const float factor, const uchar small)
{
    local long own[1];
    own[get_local_id(0)] = get_group_id(0) + 10 * get_global_id(1) + 100 * get_global_id(2);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int x = get_num_groups(0), y = get_global_size(1) * get_local_size(1);
    const int at = get_global_id(0) + x * (get_global_id(1) + y * get_global_id(2));
    out[at] = own[0] * (long)factor + start + small;
}
"""


def launch(name: str, source: str = DOUBLE, buffers: list[Buffer] | None = None, **more) -> Launch:
    size = more.pop("size", 64)
    arguments = (*(buffers or [Buffer(4), Buffer(4)]), np.int32(size))
    return replace(Launch(source, "multiply", arguments, (size,), (64,), name, "Node"), **more)


def merge(*launches: Launch, profile=PROFILE) -> list[Launch]:
    return merge_launches(launches, profile, lambda array: Buffer(array.nbytes, source=array))


def names(*launches: Launch, profile=PROFILE) -> list[list[str]]:
    """Return the names of the nodes of each launch after merging."""
    return [[part.node_name for part in one.parts or (one,)] for one in merge(*launches, profile=profile)]


def copies(count: int, **more) -> list[Launch]:
    return [launch(str(index), **more) for index in range(count)]


def test_short_launches_wait_for_others():
    long = launch("long", seconds=1.0)
    short = copies(4)
    assert names(short[0], long, *short[1:]) == [["long"], ["0", "1", "2", "3"]]
    assert names(long, short[0]) == [["long"], ["0"]]


def test_a_few_launches_are_not_merged():
    assert names(*copies(3)) == [["0"], ["1"], ["2"]]
    assert names(*copies(4)) == [["0", "1", "2", "3"]]


def test_a_launch_does_not_go_before_one_that_uses_its_buffers():
    x, whole = Buffer(4), Buffer(8)
    first = launch("first", buffers=[x, Buffer(4, whole=whole)])
    after = copies(4)
    assert names(first, launch("long", seconds=1.0, buffers=[Buffer(4), x]), *after)[:2] == [["first"], ["long"]]
    assert names(first, launch("long", seconds=1.0, buffers=[Buffer(4), whole]), *after)[:2] == [["first"], ["long"]]


@pytest.mark.parametrize(
    "text", ["local float part[1];", "barrier(CLK_LOCAL_MEM_FENCE);", "const int own = get_local_id(0);"]
)
def test_kernels_that_depend_on_their_work_group(text):
    source = DOUBLE.replace("const int i", text + " const int i")
    assert len(names(*copies(4, source=source))) == 4
    assert len(names(*copies(4, source=source, local_size=(1,)))) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return item", "return get_global_id(0) + item"),
        ("const int i", "atomic_inc((global int *)y); const int i"),
        ("float times(const Item item)", "#define DECLARE(name) float name(const Item item)\nDECLARE(times)"),
    ],
    ids=["a function that asks for its position", "atomics", "a function that a macro declares"],
)
def test_texts_that_cannot_be_functions(old, new):
    assert old in DOUBLE
    assert len(names(*copies(4, source=DOUBLE.replace(old, new)))) == 4


def test_what_is_never_merged():
    assert len(names(*copies(4, size=8192))) == 4
    assert len(names(*copies(4, origin=" in a file"))) == 4
    assert len(names(*copies(4), profile=replace(PROFILE, family=Family.GPU))) == 4
    odd = replace(launch("odd"), arguments=(Buffer(4), Buffer(4), np.complex64(1)))
    assert len(names(*[odd] * 4)) == 4


def test_arguments_are_limited():
    profile = replace(PROFILE, max_parameter_bytes=1024)
    found = names(*(launch(str(index), buffers=[Buffer(4) for _ in range(12)]) for index in range(20)), profile=profile)
    assert [len(group) for group in found] == [10, 10]  # 1024 bytes are 2 pointers and 10 times 12
    assert [name for group in found for name in group] == [str(index) for index in range(20)]
    shared = [Buffer(4), Buffer(4)]
    assert len(names(*copies(200, buffers=shared), profile=profile)) == 1


def test_messages_name_the_first_and_the_last_operation():
    (merged,) = merge(*copies(4))
    assert merged.operation == "Node '0' to Node '3'"
    (merged,) = merge(*[launch("a")] * 4)
    assert merged.operation == "Node 'a'"


class Runner:
    """Runs a merged launch on a device."""

    def __init__(self, device: str, merged: Launch):
        self.opencl = present_devices().usable[GPUS.index(device)]
        self.queue = self.opencl.make_queue(profiled=False)
        self.merged = merged.with_declared_size()
        self.kernel = make_kernel(self.opencl.compile([self.merged])[self.merged.source], merged.kernel)
        self.memory = {buffer: self.opencl.allocate(buffer.byte_size) for buffer in merged.buffers()}
        for buffer, memory in self.memory.items():
            content = np.zeros(buffer.byte_size, np.uint8) if buffer.source is None else buffer.source
            cl.enqueue_copy(self.queue, memory, content)
        self.kernel.set_args(*(self.memory[buffer] for buffer in merged.buffers()))

    def run(self, groups: int) -> None:
        cl.enqueue_nd_range_kernel(self.queue, self.kernel, (groups,), (1,))

    def write(self, buffer: Buffer, array: np.ndarray) -> None:
        cl.enqueue_copy(self.queue, self.memory[buffer], array)

    def read(self, buffer: Buffer, array: np.ndarray) -> np.ndarray:
        cl.enqueue_copy(self.queue, array, self.memory[buffer])
        return array


@pytest.mark.parametrize("source", [DOUBLE, DOUBLE.replace("kernel void", "__kernel void")])
def test_texts_with_equal_names(device, source):
    buffers = [Buffer(4 * 512) for _ in range(6)]
    kinds = [(source, 512), (TRIPLE, 448), (source, 384), (source, 320), (TRIPLE, 64)]
    parts = [launch("", text, buffers[at : at + 2], size=size) for at, (text, size) in enumerate(kinds)]
    (merged,) = merge(*parts)
    runner = Runner(device, merged)
    runner.write(buffers[0], np.arange(512, dtype=np.float32))
    runner.run(groups=2)
    np.testing.assert_array_equal(runner.read(buffers[5], np.zeros(64, np.float32)), 72 * np.arange(64))
    np.testing.assert_array_equal(runner.read(buffers[1], np.zeros(512, np.float32)), 2 * np.arange(512))


@pytest.mark.parametrize("size", [(7,), (5, 9), (3, 8, 4)])
def test_positions_and_numbers(device, size):
    out = [Buffer(8 * int(np.prod(size))) for _ in range(4)]
    numbers = [(np.int64(2**40), np.float32(factor), np.uint8(200)) for factor in range(4)]
    parts = [
        Launch(POSITIONS, "positions", (one, *three), size, (1,) * len(size), "", "")
        for one, three in zip(out, numbers)
    ]
    (merged,) = merge(*parts)
    runner = Runner(device, merged)
    runner.run(groups=2)
    position = sum(factor * index for factor, index in zip((1, 10, 100), np.indices(size))).ravel("F")
    for factor, one in enumerate(out):
        found = runner.read(one, np.zeros(int(np.prod(size)), np.int64))
        np.testing.assert_array_equal(found, position * factor + 2**40 + 200)


def test_each_launch_sees_what_all_work_groups_wrote_before(device):
    """Each part adds neighbors of the one before: one that begins too early, or runs twice, changes the result."""
    source = """
    kernel void add(global const uint *restrict x, global uint *restrict y, const int step)
    {
        const int i = get_global_id(0), size = get_global_size(0);
        y[i] = x[i] + 3 * x[(i + step) % size];
    }
    """
    size, count = 96, 60
    values = [Buffer(4 * size) for _ in range(count + 1)]
    parts = [
        Launch(source, "add", (*values[at : at + 2], np.int32(at * 7 + 1)), (size,), (1,), "", "")
        for at in range(count)
    ]
    profile = replace(PROFILE, max_parameter_bytes=4096)
    # The counters are for the number of work-groups of the profile; a device may run fewer of them at once.
    for groups in (1, 2, 5):
        (merged,) = merge(*parts, profile=replace(profile, compute_units=groups))
        runner = Runner(device, merged)
        for seed in range(30):
            expected = np.random.default_rng(seed).integers(0, 2**32, size, np.uint32)
            runner.write(values[0], expected)
            runner.run(groups)
            for at in range(count):
                expected = expected + np.uint32(3) * np.roll(expected, -(at * 7 + 1))
            np.testing.assert_array_equal(runner.read(values[-1], np.zeros(size, np.uint32)), expected)


def small_model() -> Model:
    x = Parameter(Type.f32, X.shape)
    best = ops.TopK(x, np.int64(3), 1, "max", "value", Type.i64, name="best")
    halves = ops.Divide(best.output(1), np.int64(2), name="halves")
    sums = ops.Gather(ops.CumSum(x, np.int64(1)), halves, np.int64(1), 0, name="taken")
    return Model([ops.Tanh(best.output(0)), sums, halves, ops.Softmax(x, 1), ops.Transpose(x, np.int64([1, 0]))], [x])


@pytest.mark.parametrize("is_profiled", [False, True])
def test_a_model_of_small_operations(device, bound_programs, is_profiled):
    compiled = hetero.Core().compile_model(small_model(), device, {"PERF_COUNT": is_profiled})
    request = compiled.create_infer_request()
    values, sums, halves, *_ = request.infer(X).to_tuple()
    order = np.argsort(-X, axis=1, kind="stable")[:, :3]
    np.testing.assert_allclose(values, np.tanh(np.take_along_axis(X, order, 1)), rtol=1e-5)
    np.testing.assert_array_equal(halves, order // 2)
    np.testing.assert_allclose(sums, np.cumsum(X, 1)[:, order // 2], rtol=1e-4, atol=1e-5)
    (program,) = (bound.program for bound in bound_programs(request))
    is_cpu = program.profile.family is Family.PROCESSOR
    assert (len(program.commands) < len(program.launches)) == (is_cpu and not is_profiled)
    if is_profiled:
        kernels = [info.exec_type for info in request.profiling_info]
        assert all(launch.kernel in kernels for launch in program.launches)
