"""Shared tensors: host tensors that kernels use in place."""

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl.execute import bound_program

from hetero import Core, Model, Parameter, PartialShape, RemoteTensor, Tensor, Type, ops
from hetero.plugin import SharedTensor
from hetero.system.errors import TensorError
from tests.devices import GPUS

CORE = Core()
X = np.random.default_rng(6).standard_normal([5, 7]).astype(np.float32)


@pytest.fixture
def context(device):
    """The context of a device that shares memory with the host, as PoCL's does."""
    devices = [device, *GPUS]
    return next(c for c in map(CORE.get_default_context, devices) if c.device.shares_host_memory)


@pytest.fixture
def copies(monkeypatch) -> list:
    """The list of all copies that OpenCL is asked to do from now on."""
    made = []
    enqueue = cl.enqueue_copy
    monkeypatch.setattr(cl, "enqueue_copy", lambda *args, **kwargs: made.append(args) or enqueue(*args, **kwargs))
    return made


def shared(context, array) -> SharedTensor:
    tensor = context.create_host_tensor(Type(array.dtype), array.shape)
    assert isinstance(tensor, SharedTensor) and not isinstance(tensor, RemoteTensor)
    tensor.data[:] = array
    return tensor


def request_for(context, shape=X.shape):
    x = Parameter(Type.f32, PartialShape(shape))
    return CORE.compile_model(Model(ops.Softmax(ops.Relu(x), 1), [x]), context).create_infer_request()


def softmax_of_relu(x) -> np.ndarray:
    powers = np.exp(np.maximum(x, 0).astype(np.float64))
    return powers / powers.sum(1, keepdims=True)


def test_kernels_use_them_without_copies(context, copies):
    request = request_for(context)
    input_tensor, output_tensor = shared(context, X), shared(context, np.zeros_like(X))
    request.set_input_tensor(input_tensor)
    request.set_output_tensor(output_tensor)
    seen = output_tensor.data
    for x in (X, -X):
        input_tensor.data[:] = x
        request.infer()
        np.testing.assert_allclose(seen, softmax_of_relu(x), rtol=1e-5)
    assert not copies


def test_bound_tensors_take_no_memory_of_the_arena(context, bound_programs):
    x = Parameter(Type.f32, X.shape)
    request = CORE.compile_model(Model(ops.Relu(x), [x]), context).create_infer_request()
    input_tensor, output_tensor = shared(context, X), context.create_tensor(Type.f32, X.shape)
    request.set_input_tensor(input_tensor)
    request.set_output_tensor(output_tensor)
    request.infer()
    (bound,) = bound_programs(request)
    assert not bound.memory_plan.arenas and len(bound.program.memory_plan().slots) == 2
    request.set_input_tensor(Tensor(-X))
    request.infer()
    plan = bound.memory_plan
    assert list(plan.slots) == bound.program.inputs and plan.byte_size == bound.arena.byte_size
    found = np.empty_like(X)
    output_tensor.copy_to(found)
    np.testing.assert_array_equal(found, np.maximum(-X, 0))


def test_input_and_output_in_the_same(context):
    request = request_for(context)
    tensor = shared(context, X)
    request.set_input_tensor(tensor)
    request.set_output_tensor(tensor)
    request.infer()
    np.testing.assert_allclose(tensor.data, softmax_of_relu(X), rtol=1e-5)


def test_they_grow_with_the_shapes_that_come(context, copies):
    request = request_for(context, [-1, 7])
    input_tensor, output_tensor = shared(context, X[:1]), shared(context, X[:0])
    request.set_input_tensor(input_tensor)
    request.set_output_tensor(output_tensor)
    for rows in (1, 5, 2):
        input_tensor.shape = (rows, 7)
        input_tensor.data[:] = X[:rows]
        request.infer()
        np.testing.assert_allclose(output_tensor.data, softmax_of_relu(X[:rows]), rtol=1e-5)
    assert not copies


def test_results_of_any_shape_are_written_where_they_stay(context, monkeypatch, bound_programs):
    """Kernels write large results to memory that the tensor keeps, whatever shapes and tensors come in between."""
    monkeypatch.setattr(bound_program, "_LARGE", 3 * X[0].nbytes)
    request = request_for(context, [-1, 7])
    for rows in (4, 5, 3, 5, 5, 1, 1, 4, 2, 3):
        result = request.infer([X[:rows]], share_outputs=True)[0]
        np.testing.assert_allclose(result, softmax_of_relu(X[:rows]), rtol=1e-5)
        assert request.get_output_tensor().shape == (rows, 7)
        if rows == 2:
            assert not bound_programs(request)[0]._large
    mine = np.zeros((5, 7), np.float32)
    request.set_output_tensor(Tensor(mine, shared_memory=True))
    for rows in (5, 4):
        request.infer([X[:rows]])
        np.testing.assert_allclose(mine.reshape(-1)[: 7 * rows].reshape(rows, 7), softmax_of_relu(X[:rows]), rtol=1e-5)


def test_to_other_contexts_they_are_host_tensors(context):
    other = CORE.create_context("GPU", {"OCL_CONTEXT": cl.Context([context.device.handle])})
    request = request_for(other)
    input_tensor, output_tensor = shared(context, X), shared(context, np.zeros_like(X))
    assert context.holds(input_tensor) and not other.holds(input_tensor)
    request.set_input_tensor(input_tensor)
    request.set_output_tensor(output_tensor)
    request.infer()
    np.testing.assert_allclose(output_tensor.data, softmax_of_relu(X), rtol=1e-5)
    region = Tensor(input_tensor, [1, 0], [3, 7])
    np.testing.assert_array_equal(region.data, X[1:3])


def test_shapes_beyond_the_memory_are_refused(context):
    with pytest.raises(TensorError, match=r"a tensor of f32\[100, 7\] does not fit into 140 bytes of GPU"):
        SharedTensor(shared(context, X).memory, Type.f32, [100, 7])
    with pytest.raises(TensorError, match="the host does not see the memory of GPU"):
        remote = context.create_tensor(Type.f32, [2])
        SharedTensor(remote.memory, Type.f32, [2]).data  # noqa: B018
    assert not isinstance(context.create_host_tensor(Type.string, [2]), SharedTensor)


def test_an_output_that_is_an_input_grows_with_it(device):
    """Both have room for more than their first shapes, so that they stay in the same memory."""
    x = Parameter(Type.i64, [-1])
    request = CORE.compile_model(Model([ops.Unsqueeze(x, np.int64([0]))], [x]), device).create_infer_request()
    context = CORE.get_default_context(device)
    tensors = [context.create_host_tensor(Type.i64, shape) for shape in ([5], [1, 5])]
    request.set_input_tensor(tensors[0])
    request.set_output_tensor(tensors[1])
    for count in (5, 6, 7, 4, 8):
        tensors[0].set_shape([count])
        tensors[0].data[:] = np.arange(count) + 10 * count
        tensors[1].data[:] = -1
        request.infer()
        assert request.get_output_tensor().data.tolist() == [[*range(10 * count, 11 * count)]]
