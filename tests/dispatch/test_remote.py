"""HETERO with tensors in the memory of its devices."""

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, PartialShape, RemoteTensor, Tensor, Type, ops
from hetero.graph.rt_info import AFFINITY
from hetero.system.errors import DeviceError, NotSupportedError

CORE = Core()
X = np.float32([[1, -2, 3], [-4, 5, -6]])


def on(device, node):
    node.rt_info[AFFINITY] = device
    return node


def compiled_for(first, second, rows=2):
    """exp(relu(x)) + 1 and relu(x) as outputs; relu on one device, the rest on the other."""
    x = Parameter(Type.f32, PartialShape([rows, 3]), name="x")
    relu = on(first, ops.Relu(x))
    total = on(second, ops.Add(on(second, ops.Exp(relu)), np.float32(1)))
    return CORE.compile_model(Model([total, relu], [x]), "HETERO:TEMPLATE,GPU")


def host(tensor) -> np.ndarray:
    array = np.empty(tensor.shape, tensor.element_type.to_dtype())
    tensor.copy_to(array)
    return array


def step_tensors(request) -> set[int]:
    """Return the tensors bound to the requests of the steps."""
    requests = [step.request for step in request._request.request.bound.steps]
    return {id(tensor) for one in requests for tensor in (*one.input_tensors(), *one.output_tensors())}


@pytest.fixture(params=[("GPU", "TEMPLATE"), ("TEMPLATE", "GPU")], ids=" then ".join)
def pair(request) -> tuple[str, str]:
    return request.param


@pytest.mark.parametrize("memory", ["GPU", "TEMPLATE"])
def test_remote_tensors_are_bound_directly_if_the_steps_take_them(pair, memory):
    """Only the first device uses x, only the second uses the sum, and both use relu(x)."""
    compiled = compiled_for(*pair)
    context = CORE.get_default_context(memory)
    request = compiled.create_infer_request()
    tensors = [context.create_tensor(Type.f32, [2, 3]) for _ in range(3)]
    request.set_input_tensor(tensors[0])
    request.set_output_tensor(0, tensors[1])
    request.set_output_tensor(1, tensors[2])
    bound = [id(tensor) in step_tensors(request) for tensor in tensors]
    assert bound == [memory == pair[0], memory == pair[1], False]
    for x in (X, -X):
        tensors[0].copy_from(x)
        request.infer()
        relu = np.maximum(x, 0)
        np.testing.assert_allclose(host(tensors[1]), np.exp(relu) + 1, rtol=1e-6)
        np.testing.assert_array_equal(host(tensors[2]), relu)
    assert all(found is tensor for found, tensor in zip(request.output_tensors, tensors[1:]))
    own = Tensor(Type.f32, [2, 3])
    request.set_input_tensor(Tensor(X))
    request.set_output_tensor(0, own)
    request.set_output_tensor(1, RemoteTensor(tensors[0], [0, 0], [2, 3]))
    request.infer()
    np.testing.assert_allclose(own.data, np.exp(np.maximum(X, 0)) + 1, rtol=1e-6)
    np.testing.assert_array_equal(host(tensors[0]), np.maximum(X, 0))


def test_a_context_that_no_device_has(pair):
    request = compiled_for(*pair).create_infer_request()
    context = CORE.create_context("GPU")
    given, taken = (context.create_tensor(Type.f32, [2, 3]) for _ in range(2))
    given.copy_from(X)
    request.set_output_tensor(1, taken)
    request.infer([given])
    np.testing.assert_array_equal(host(taken), np.maximum(X, 0))


def test_dynamic_shapes(pair):
    request = compiled_for(*pair, rows=-1).create_infer_request()
    contexts = [CORE.get_default_context(device) for device in pair]
    for turn, rows in enumerate((3, 1, 4)):
        x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) - 2
        context = contexts[turn % 2]
        given, taken = context.create_tensor(Type.f32, x.shape), context.create_tensor(Type.f32, [0, 3])
        given.copy_from(x)
        request.set_output_tensor(0, taken)
        request.infer([given])
        np.testing.assert_allclose(host(taken), np.exp(np.maximum(x, 0)) + 1, rtol=1e-6)


def test_outputs_that_no_step_writes(pair):
    """An input and a constant are outputs, and one value is two outputs."""
    x = Parameter(Type.f32, [2, 3], name="x")
    relu = on(pair[0], ops.Relu(x))
    last = on(pair[1], ops.Exp(relu))
    outputs = [x, Constant(np.float32([7, 8])), last, last]
    request = CORE.compile_model(Model(outputs, [x]), "HETERO:TEMPLATE,GPU").create_infer_request()
    context = CORE.get_default_context(pair[0])
    tensors = [context.create_tensor(Type.f32, shape) for shape in ([2, 3], [2], [2, 3], [2, 3])]
    given = context.create_tensor(Type.f32, [2, 3])
    given.copy_from(X)
    for index, tensor in enumerate(tensors):
        request.set_output_tensor(index, tensor)
    request.infer([given])
    exp = np.exp(np.maximum(X, 0))
    for tensor, expected in zip(tensors, [X, np.float32([7, 8]), exp, exp]):
        np.testing.assert_allclose(host(tensor), expected, rtol=1e-6)


def test_different_devices_have_no_context_in_common(pair):
    compiled = compiled_for(*pair)
    for ask in (compiled.get_context, lambda: CORE.get_default_context(f"HETERO:{','.join(pair)}")):
        with pytest.raises(NotSupportedError, match=f"^{pair[0]} and {pair[1]} have no context in common: use tensors"):
            ask()
    with pytest.raises(NotSupportedError, match="HETERO has no memory of its own: create a context of one of its"):
        CORE.create_context("HETERO:GPU")
    with pytest.raises(DeviceError, match="is given no devices"):
        CORE.get_default_context("HETERO")


def test_the_context_of_the_only_device_in_use():
    compiled = compiled_for("GPU", "GPU")
    context = compiled.get_context()
    assert context == CORE.get_default_context("GPU") == CORE.get_default_context("HETERO:GPU")
    request = compiled.create_infer_request()
    tensor = context.create_tensor(Type.f32, [2, 3])
    request.set_input_tensor(tensor)
    tensor.copy_from(X)
    np.testing.assert_allclose(request.infer()[0], np.exp(np.maximum(X, 0)) + 1, rtol=1e-5)
    assert id(tensor) in step_tensors(request)
