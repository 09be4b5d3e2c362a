"""Remote tensors in the plugin's and in the user's buffers, and two models that share one."""

from collections.abc import Iterator

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from hetero_opencl.device.launch import SLACK
from hetero_opencl.device.transfers import copy_region

import hetero
from hetero import Constant, Core, Model, Parameter, RemoteTensor, Type, ops
from hetero.plugin import Region
from hetero.system.errors import DeviceError, PropertyError, TensorError

CORE = Core()
RANDOM = np.random.default_rng(4)
X = RANDOM.standard_normal([5, 7]).astype(np.float32)


@pytest.fixture
def handle(device) -> cl.Device:
    return CORE.get_default_context(device).get_params()["OCL_CONTEXT"].devices[0]


@pytest.fixture
def queue(handle) -> Iterator[cl.CommandQueue]:
    """A user's queue in a user's context."""
    context = cl.Context([handle])  # referenced here: Intel's queues do not keep it alive
    yield cl.CommandQueue(context)


@pytest.fixture
def full_name(device) -> str:
    """The name of the device with its index, such as GPU.0."""
    return CORE.get_default_context(device).get_device_name()


@pytest.fixture
def copies(monkeypatch) -> list:
    """The list of all copies that OpenCL is asked to do from now on."""
    made = []
    enqueue = cl.enqueue_copy
    monkeypatch.setattr(cl, "enqueue_copy", lambda *args, **kwargs: made.append(args) or enqueue(*args, **kwargs))
    return made


def buffer_of(queue, array, more=SLACK) -> cl.Buffer:
    """Return a buffer that holds an array, followed by ``more`` bytes with the value 7."""
    content = np.full(array.nbytes + more, 7, np.uint8)
    content[: array.nbytes] = array.reshape(-1).view(np.uint8)
    return cl.Buffer(queue.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=content)


def content_of(queue, buffer, like) -> np.ndarray:
    found = np.empty_like(like)
    cl.enqueue_copy(queue, found, buffer)
    return found


def model(operation, *shapes, kind=Type.f32) -> Model:
    parameters = [Parameter(kind, hetero.PartialShape(shape)) for shape in shapes]
    return Model(operation(*parameters), parameters)


def compiled_for(queue, operation=ops.Relu, *shapes):
    context = CORE.create_context("GPU", {"OCL_QUEUE": queue})
    return context, CORE.compile_model(model(operation, *(shapes or [X.shape])), context)


def test_the_output_of_one_model_is_the_input_of_the_next_without_a_copy(device, copies, bound_programs):
    first = CORE.compile_model(model(lambda x: ops.MatMul(x, X.T, False, False), X.shape), device)
    context = first.get_context()
    second = CORE.compile_model(model(lambda x: ops.Softmax(x, 1), (5, 5)), context)
    shared = context.create_tensor(Type.f32, [5, 5])
    one, two = first.create_infer_request(), second.create_infer_request()
    result = context.create_tensor(Type.f32, [5, 5])
    source = context.create_tensor(Type.f32, X.shape)
    one.set_input_tensor(source)
    one.set_output_tensor(shared)
    two.set_input_tensor(shared)
    two.set_output_tensor(result)
    for x in (X, -2 * X):
        source.copy_from(x)
        del copies[:]
        one.infer()
        two.infer()
        assert copies == []
        products = np.exp(x @ X.T - (x @ X.T).max(1, keepdims=True))
        expected = products / products.sum(1, keepdims=True)
        np.testing.assert_allclose(_host(result), expected, rtol=1e-4, atol=1e-6)
    (writer,), (reader,) = bound_programs(one), bound_programs(two)
    written, read = writer.memory(writer.program.outputs[0]), reader.memory(reader.program.inputs[0])
    assert written == read == shared.get_params()["MEM_HANDLE"]


def _host(tensor: RemoteTensor) -> np.ndarray:
    array = np.empty(tensor.shape, tensor.element_type.to_dtype())
    tensor.copy_to(array)
    return array


@pytest.mark.parametrize("form", ["buffer", "handle", "array", "part of an array", "part of a buffer"])
def test_memory_of_the_user(queue, form, copies):
    context, compiled = compiled_for(queue)
    memory = {}
    for name, content in (("in", X), ("out", np.zeros_like(X))):
        if form == "part of an array":
            memory[name] = cl.array.to_device(queue, np.concatenate([content, content, content]))[5:10]
        elif form == "array":
            memory[name] = cl.array.to_device(queue, content)
        elif form == "part of a buffer":
            whole = buffer_of(queue, np.concatenate([np.zeros(1024, np.float32), content.reshape(-1)]))
            memory[name] = whole.get_sub_region(4096, X.nbytes + SLACK)
        else:
            memory[name] = buffer_of(queue, content)
    handles = {name: value.int_ptr if form == "handle" else value for name, value in memory.items()}
    tensors = {
        name: context.create_tensor(Type.f32, X.shape, {"SHARED_MEM_TYPE": "OCL_BUFFER", "MEM_HANDLE": value})
        for name, value in handles.items()
    }
    request = compiled.create_infer_request()
    request.set_input_tensor(tensors["in"])
    request.set_output_tensor(tensors["out"])
    del copies[:]
    request.infer()
    assert len(copies) == {"array": 1, "part of an array": 2}.get(form, 0)
    out = memory["out"]
    found = out.get() if isinstance(out, cl.array.Array) else content_of(queue, out, X)
    np.testing.assert_array_equal(found, np.maximum(X, 0))
    parameters = tensors["in"].get_params()
    assert parameters["OCL_CONTEXT"] == queue.context and parameters["SHARED_MEM_TYPE"] == "OCL_BUFFER"
    RemoteTensor.type_check(tensors["in"], {"CONTEXT_TYPE": ["OCL"], "MEM_HANDLE": []})
    with pytest.raises(TensorError, match="cannot grow"):
        tensors["in"].set_shape([1000, 1000])


KERNEL = RANDOM.standard_normal([3, 2, 3, 3]).astype(np.float32)
OPERATIONS = {
    "elementwise": (lambda x: ops.Exp(ops.Relu(x)), (3, 5)),
    "softmax": (lambda x: ops.Softmax(x, 1), (3, 37)),
    "matmul": (lambda x: ops.MatMul(x, X, False, False), (3, 5)),
    "convolution": (lambda x: ops.Convolution(x, Constant(KERNEL), [1, 1], [1, 1], [1, 1], [1, 1]), (1, 2, 5, 7)),
    "pooling": (lambda x: ops.AvgPool(x, [2, 2], [1, 1], [0, 0], [2, 2], True), (1, 3, 5, 7)),
    "transpose": (lambda x: ops.Transpose(x, np.int64([1, 0])), (7, 9)),
    "reduction": (lambda x: ops.ReduceMean(x, np.int64([0]), False), (7, 9)),
    "concat": (lambda x: ops.Concat([x, ops.Tanh(x)], 1), (3, 5)),
    "several": (lambda x: ops.Softmax(ops.MatMul(ops.Tanh(x), ops.Exp(x), False, True), 1), (7, 11)),
    "reshape": (lambda x: ops.Reshape(x, np.int64([-1]), False), (7, 11)),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("more", [0, 4, SLACK])
def test_buffers_with_little_space_at_the_end(queue, name, more):
    """Bytes past the last element are neither written nor matter; if there are too few, inputs are copied."""
    operation, shape = OPERATIONS[name]
    context, compiled = compiled_for(queue, operation, shape)
    x = RANDOM.standard_normal(shape).astype(np.float32)
    expected = CORE.compile_model(model(operation, shape), "TEMPLATE")(x)[0]
    input_buffer, output_buffer = buffer_of(queue, x, more), buffer_of(queue, np.zeros_like(expected), more)
    request = compiled.create_infer_request()
    request.set_input_tensor(context.create_tensor(Type.f32, shape, {"MEM_HANDLE": input_buffer}))
    request.set_output_tensor(context.create_tensor(Type.f32, expected.shape, {"MEM_HANDLE": output_buffer}))
    for _ in range(2):
        request.infer()
        found = np.empty(expected.nbytes + more, np.uint8)
        cl.enqueue_copy(queue, found, output_buffer)
        numbers = found[: expected.nbytes].view(np.float32).reshape(expected.shape)
        np.testing.assert_allclose(numbers, expected, rtol=1e-4, atol=1e-5)
        assert (found[expected.nbytes :] == 7).all()
    np.testing.assert_array_equal(content_of(queue, input_buffer, x), x)


def test_a_buffer_without_slack_is_copied_on_the_device_once(queue, copies):
    context, compiled = compiled_for(queue)
    tight, wide = (context.create_tensor(Type.f32, X.shape, {"MEM_HANDLE": buffer_of(queue, X, n)}) for n in (0, SLACK))
    request = compiled.create_infer_request()
    # An output that no kernel reads needs no slack.
    for input_tensor, output_tensor, count in ((tight, wide, 1), (wide, tight, 0)):
        request.set_input_tensor(input_tensor)
        request.set_output_tensor(output_tensor)
        del copies[:]
        request.infer()
        assert len(copies) == count


@pytest.mark.parametrize("more, count", [(0, 1), (SLACK, 0)])
def test_an_output_that_kernels_read_again_needs_slack_too(queue, copies, more, count):
    context = CORE.create_context("GPU", {"OCL_QUEUE": queue})
    x = Parameter(Type.f32, X.shape)
    y = ops.Softmax(x, 1)
    z = ops.Softmax(y, 0)
    request = CORE.compile_model(Model([y, z], [x]), context).create_infer_request()
    tensors = [context.create_tensor(Type.f32, X.shape, {"MEM_HANDLE": buffer_of(queue, X, n)}) for n in (more, 0)]
    for index, tensor in enumerate(tensors):
        request.set_output_tensor(index, tensor)
    request.set_input_tensor(context.create_tensor(Type.f32, X.shape, {"MEM_HANDLE": buffer_of(queue, X)}))
    del copies[:]
    request.infer()
    assert len(copies) == count
    expected = CORE.compile_model(Model([y, z], [x]), "TEMPLATE")(X).to_tuple()
    for tensor, wanted in zip(tensors, expected):
        np.testing.assert_allclose(_host(tensor), wanted, rtol=1e-5)


def test_commands_keep_the_order_of_the_users_queue(queue):
    """Commands enqueued by the user run before the inference, without waiting for them."""
    context, compiled = compiled_for(queue)
    assert context.get_params()["OCL_QUEUE"] == queue
    x, y = cl.array.to_device(queue, X), cl.array.zeros(queue, 64 + X.size, np.float32)
    source = "kernel void add_one(global float *x) { x[get_global_id(0)] += 1; }"
    add_one = cl.Program(queue.context, source).build().add_one
    room = cl.array.zeros(queue, X.size + SLACK, np.float32)
    cl.enqueue_copy(queue, room.data, x.data, byte_count=X.nbytes)
    request = compiled.create_infer_request()
    request.set_input_tensor(context.create_tensor(Type.f32, X.shape, {"MEM_HANDLE": room}))
    request.set_output_tensor(context.create_tensor(Type.f32, X.shape, {"MEM_HANDLE": y}))
    for turn in range(1, 4):
        add_one(queue, [X.size], None, room.data)
        request.infer()
        np.testing.assert_allclose(y.get()[: X.size].reshape(X.shape), np.maximum(X + turn, 0), rtol=1e-6)


def test_profiling_in_a_queue_without_profiling(queue):
    context = CORE.create_context("GPU", {"OCL_QUEUE": queue})
    compiled = CORE.compile_model(model(ops.Relu, X.shape), context, {"PERF_COUNT": True})
    request = compiled.create_infer_request()
    np.testing.assert_array_equal(request.infer([X])[0], np.maximum(X, 0))
    assert {info.node_type for info in request.get_profiling_info()} == {"Stage"}


def test_host_and_remote_tensors_in_turn(device):
    """Buffers that were bound to remote tensors go back to their slots in the arena."""
    operation = OPERATIONS["several"][0]
    compiled = CORE.compile_model(model(operation, (7, 11)), device)
    context, request = compiled.get_context(), compiled.create_infer_request()
    reference = CORE.compile_model(model(operation, (7, 11)), "TEMPLATE")
    tensors = [(context.create_tensor(Type.f32, [7, 11]), context.create_tensor(Type.f32, [7, 7])) for _ in range(2)]
    for turn in range(8):
        x = RANDOM.standard_normal([7, 11]).astype(np.float32)
        input_tensor = tensors[turn % 2][0] if turn & 2 else hetero.Tensor(Type.f32, [7, 11])
        output_tensor = tensors[turn % 2][1] if turn & 1 else hetero.Tensor(Type.f32, [7, 7])
        input_tensor.copy_from(x)
        request.set_input_tensor(input_tensor)
        request.set_output_tensor(output_tensor)
        request.infer()
        found = np.empty([7, 7], np.float32)
        output_tensor.copy_to(found)
        np.testing.assert_allclose(found, reference(x)[0], rtol=1e-4, atol=1e-6)


def test_a_tensor_that_grew_is_bound_again(device):
    compiled = CORE.compile_model(model(ops.Relu, (2, -1)), device)
    context, request = compiled.get_context(), compiled.create_infer_request()
    input_tensor, output_tensor = context.create_tensor(Type.f32, [2, 2]), context.create_tensor(Type.f32, [2, 2])
    request.set_input_tensor(input_tensor)
    request.set_output_tensor(output_tensor)
    for count in (2, 300, 5, 700):
        x = RANDOM.standard_normal([2, count]).astype(np.float32)
        input_tensor.copy_from(x)
        request.infer()
        np.testing.assert_array_equal(_host(output_tensor), np.maximum(x, 0))


def test_memory_that_is_too_small_for_an_output_leaves_the_request_usable(queue):
    context, compiled = compiled_for(queue, ops.Relu, (-1, 7))
    request = compiled.create_infer_request()
    small = context.create_tensor(Type.f32, [5, 7], {"MEM_HANDLE": buffer_of(queue, X, 0)})
    request.set_output_tensor(small)
    with pytest.raises(TensorError, match="cannot grow to 280 bytes"):
        request.infer([np.concatenate([X, X])])
    request.infer([X])
    np.testing.assert_array_equal(_host(small), np.maximum(X, 0))


def test_bad_memory(queue, device, full_name):
    context = CORE.create_context("GPU", {"OCL_CONTEXT": queue.context})
    default = CORE.get_default_context(device)
    buffer, array = buffer_of(queue, X, 0), cl.array.to_device(queue, X)
    for where, kind, shape, handle, problem in (
        (default, Type.f32, X.shape, buffer, "the buffer belongs to another OpenCL context"),
        (default, Type.f32, X.shape, array, "the buffer belongs to another OpenCL context"),
        (context, Type.f32, [6, 7], buffer, r"a tensor of f32\[6, 7\] does not fit into 140 bytes"),
        (context, Type.f32, [6, 7], array, r"a tensor of f32\[6, 7\] does not fit into 140 bytes"),
        (context, Type.i32, X.shape, array, "a remote tensor of i32 cannot be in a pyopencl array of float32"),
        (context, Type.f32, [5, 3], array[:, :3], "needs a contiguous pyopencl array"),
    ):
        with pytest.raises(TensorError, match=problem):
            where.create_tensor(kind, shape, {"MEM_HANDLE": handle})
    handles = [("MEM_HANDLE", X), ("MEM_HANDLE", 0), ("MEM_HANDLE", True)]
    for key, value in (*handles, ("SHARED_MEM_TYPE", "USM_HOST_BUFFER")):
        with pytest.raises(PropertyError, match=f"property {key} of a remote tensor of {full_name} cannot be"):
            context.create_tensor(Type.f32, X.shape, {key: value})


def test_bad_contexts(queue, handle):
    others = cl.Context([handle])
    other = cl.CommandQueue(others)
    disordered = cl.CommandQueue(queue.context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    for params, problem in (
        ({"CONTEXT_TYPE": "VA"}, "property CONTEXT_TYPE of a context of GPU cannot be 'VA': it takes OCL"),
        ({"OCL_CONTEXT": "mine"}, "cannot be 'mine': it takes a pyopencl.Context or its handle"),
        ({"OCL_QUEUE": queue.context}, "it takes a pyopencl.CommandQueue or its handle"),
        ({"OCL_QUEUE": other, "OCL_CONTEXT": queue.context}, "OCL_QUEUE belongs to another OpenCL context"),
        ({"OCL_QUEUE": disordered}, "executes commands out of order"),
    ):
        with pytest.raises(PropertyError, match=problem):
            CORE.create_context("GPU", params)
    strange = CORE.get_default_context("TEMPLATE")
    with pytest.raises(DeviceError, match="GPU cannot compile for a context of TEMPLATE"):
        CORE.get_plugin("GPU").compile_model(model(ops.Relu, X.shape), {}, strange)


def test_contexts_of_handles_are_the_users(queue, full_name, caplog):
    by_handle = CORE.create_context("GPU", {"OCL_CONTEXT": queue.context.int_ptr})
    by_queue = CORE.create_context(full_name, {"OCL_QUEUE": queue.int_ptr, "CONTEXT_TYPE": "OCL"})
    assert by_handle == by_queue and hash(by_handle) == hash(by_queue)
    assert by_handle.get_device_name() == full_name and by_queue.get_params()["OCL_CONTEXT"] == queue.context
    tensor = by_handle.create_tensor(Type.f32, X.shape)
    tensor.copy_from(X)
    compiled = CORE.compile_model(model(ops.Relu, X.shape), by_queue)
    np.testing.assert_array_equal(compiled([tensor])[0], np.maximum(X, 0))
    assert not caplog.records


@pytest.mark.parametrize("seed", range(80))
def test_copies_of_regions(queue, seed):
    """Between buffers, and to and from the host, for regions of up to five axes, which memory has in any order."""
    random = np.random.default_rng(seed)
    rank, kind = int(random.integers(0, 6)), random.choice([np.uint8, np.float16, np.float64])
    shape = random.integers(1, 4, rank)
    wholes, parts, regions, orders = [], [], [], []
    for _ in range(2):
        begin, more = random.integers(0, 3, rank), random.integers(0, 3, rank)
        order = random.permutation(rank) if seed % 2 else np.arange(rank)
        memory = random.integers(0, 100, (begin + shape + more)[order]).astype(kind)
        orders.append(np.argsort(order).tolist())
        wholes.append(memory.transpose(orders[-1]))
        parts.append(tuple(slice(int(b), int(b + n)) for b, n in zip(begin, shape)))
        regions.append(Region(0, memory.dtype, wholes[-1].shape, wholes[-1].strides).part(parts[-1]))
    buffers = [buffer_of(queue, np.ascontiguousarray(array.base), 0) for array in wholes]

    def content(index):
        return content_of(queue, buffers[index], np.empty(wholes[index].base.shape, kind)).transpose(orders[index])

    copy_region(queue, buffers[0], regions[0], buffers[1], regions[1])
    expected = wholes[0].copy()
    expected[parts[0]] = wholes[1][parts[1]]
    np.testing.assert_array_equal(content(0), expected)
    dense = Region.whole(np.dtype(kind), [int(n) for n in shape])
    out = np.empty(shape, kind)
    copy_region(queue, out.reshape(-1).view(np.uint8), dense, buffers[1], regions[1])
    queue.finish()
    np.testing.assert_array_equal(out, wholes[1][parts[1]])
    copy_region(queue, buffers[1], regions[1], (out + 1).reshape(-1).view(np.uint8), dense)
    queue.finish()
    wholes[1][parts[1]] += 1
    np.testing.assert_array_equal(content(1), wholes[1])
