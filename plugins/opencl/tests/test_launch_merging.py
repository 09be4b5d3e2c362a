"""Launches that become one, in a model and from their texts."""

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl.device import present_devices
from hetero_opencl.launch_merging import merge_launches
from hetero_opencl.program import Buffer, Launch
from hetero_opencl.pyopencl_cache import make_kernel

import hetero
from hetero import Model, Parameter, Type, ops
from tests.devices import GPUS

PROFILE = present_devices().usable[0].profile
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


def launch(name: str, source: str = DOUBLE, size: int = 64, buffers: list[Buffer] | None = None) -> Launch:
    arguments = (*(buffers or [Buffer(4), Buffer(4)]), np.int32(size))
    return Launch(source, "multiply", arguments, (size,), (64,), name, "Node")


def names(*launches: Launch) -> list[list[str]]:
    """Return the names of the nodes of each launch after merging."""
    merged = merge_launches(launches, PROFILE)
    return [[part.node_name for part in one.parts or (one,)] for one in merged]


def test_small_launches_wait_for_others():
    big = launch("big", size=4096)
    small = [launch("a"), launch("b", TRIPLE), launch("c"), launch("d")]
    assert names(small[0], big, *small[1:]) == [["big"], ["a", "b", "c", "d"]]
    assert names(big, launch("a")) == [["big"], ["a"]]


def test_a_few_launches_are_merged_only_if_their_kernel_is_the_same():
    assert names(launch("a"), launch("b", TRIPLE), launch("c")) == [["a"], ["b"], ["c"]]
    assert names(launch("a"), launch("b")) == [["a", "b"]]


def test_a_launch_does_not_go_before_one_that_uses_its_buffers():
    x, whole = Buffer(4), Buffer(8)
    part = Buffer(4, whole=whole)
    first = launch("first", buffers=[x, part])
    assert names(first, launch("big", size=4096, buffers=[Buffer(4), x]), launch("b")) == [["first"], ["big"], ["b"]]
    assert names(first, launch("big", size=4096, buffers=[Buffer(4), whole])) == [["first"], ["big"]]


@pytest.mark.parametrize(
    "text", ["local float part[1];", "barrier(CLK_LOCAL_MEM_FENCE);", "const int own = get_local_id(0);"]
)
def test_kernels_that_depend_on_their_work_group_are_not_merged(text):
    source = DOUBLE.replace("const int i", text + " const int i")
    assert names(launch("a", source), launch("b", source)) == [["a"], ["b"]]


def test_merged_launches_are_limited():
    found = names(*(launch(str(index)) for index in range(40)))
    assert [name for group in found for name in group] == [str(index) for index in range(40)]
    assert [len(group) for group in found] == [16, 16, 8]


def test_arguments_are_limited():
    found = names(*(launch(str(index), buffers=[Buffer(4)] * 12) for index in range(20)))
    assert [len(group) for group in found] == [9, 9, 2]  # 1024 bytes are 9 times 104


def test_much_data_is_not_left_to_one_work_group():
    assert names(launch("a", buffers=[Buffer(2**17), Buffer(4)]), launch("b")) == [["a"], ["b"]]


def test_messages_name_the_first_and_the_last_operation():
    (merged,) = merge_launches([launch("a"), launch("b")], PROFILE)
    assert merged.operation == "Node 'a' to Node 'b'"
    (merged,) = merge_launches([launch("a"), launch("a")], PROFILE)
    assert merged.operation == "Node 'a'"


@pytest.mark.parametrize("source", [DOUBLE, DOUBLE.replace("kernel void", "__kernel void")])
def test_texts_with_equal_names(device, source):
    opencl = present_devices().usable[GPUS.index(device)]
    buffers = [Buffer(4 * 128) for _ in range(5)]
    kinds = [(source, 64), (TRIPLE, 128), (source, 64), (source, 64)]
    parts = [launch("", *kind, buffers[index : index + 2]) for index, kind in enumerate(kinds)]
    (merged,) = merge_launches(parts, PROFILE)
    memory = {buffer: opencl.allocate(buffer.byte_size) for buffer in buffers}
    queue = opencl.make_queue(profiled=False)
    cl.enqueue_copy(queue, memory[buffers[0]], np.arange(128, dtype=np.float32))
    kernel = make_kernel(opencl.compile([merged])[merged.source], merged.kernel)
    kernel.set_args(*(memory[one] if isinstance(one, Buffer) else one for one in merged.arguments))
    cl.enqueue_nd_range_kernel(queue, kernel, merged.global_size, merged.local_size)
    found = np.zeros(64, np.float32)
    cl.enqueue_copy(queue, found, memory[buffers[4]])
    np.testing.assert_array_equal(found, 24 * np.arange(64))


def small_model() -> Model:
    x = Parameter(Type.f32, X.shape)
    best = ops.TopK(x, np.int64(3), 1, "max", "value", Type.i64, name="best")
    halves = ops.Divide(best.output(1), np.int64(2), name="halves")
    sums = ops.Gather(ops.CumSum(x, np.int64(1)), halves, np.int64(1), 0, name="taken")
    return Model([ops.Tanh(best.output(0)), sums, halves], [x])


def test_a_model_of_small_operations(device, bound_programs):
    compiled = hetero.Core().compile_model(small_model(), device, {"PERF_COUNT": True})
    request = compiled.create_infer_request()
    values, sums, halves = request.infer(X).to_tuple()
    order = np.argsort(-X, axis=1, kind="stable")[:, :3]
    np.testing.assert_allclose(values, np.tanh(np.take_along_axis(X, order, 1)), rtol=1e-5)
    np.testing.assert_array_equal(halves, order // 2)
    np.testing.assert_allclose(sums, np.cumsum(X, 1)[:, order // 2], rtol=1e-4, atol=1e-5)
    (program,) = (bound.program for bound in bound_programs(request))
    assert len(program.commands) < len(program.launches)
    kernels = [info for info in request.profiling_info if info.exec_type in {one.kernel for one in program.launches}]
    assert len(kernels) == len(program.launches)
