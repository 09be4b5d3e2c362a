"""Each section of the page "Remote Tensor" of OpenVINO's guide to plugins, with the remote tensor of TEMPLATE.

https://docs.openvino.ai/2024/documentation/openvino-extensibility/openvino-plugin-library/remote-tensor.html
"""

import ctypes

import numpy as np
import openvino
import pytest
from hetero_template.remote import VectorTensor

from hetero import Core, Model, Parameter, RemoteTensor, Tensor, Type, ops
from hetero.system.errors import PropertyError, TensorError

CORE = Core()
CONTEXT = CORE.get_default_context("TEMPLATE")
X = np.float32([[1, -2, 3], [-4, 5, -6]])


def wrapped(array) -> VectorTensor:
    return CONTEXT.create_tensor(Type(array.dtype), array.shape, {"vector_data": array})


def test_type_check():
    tensor = CONTEXT.create_tensor(Type.f32, [2, 3])
    assert isinstance(tensor, VectorTensor)
    VectorTensor.type_check(tensor)
    VectorTensor.type_check(VectorTensor(tensor, [0, 1], [2, 2]))
    array = np.zeros(2, np.float32)
    VectorTensor.type_check(wrapped(array), {"vector_data": array})
    with pytest.raises(TensorError, match="in host memory"):
        VectorTensor.type_check(Tensor(X))
    with pytest.raises(TensorError, match=r"has vector_data \[0. 0.\], but \[0. 0.\] is wanted"):
        VectorTensor.type_check(wrapped(array), {"vector_data": array.copy()})
    with pytest.raises(TensorError, match="has no parameter FULL_DEVICE_NAME; it has "):
        VectorTensor.type_check(CORE.get_default_context("GPU").create_tensor(Type.f32, [2, 3]))


def test_get_data():
    tensor = CONTEXT.create_tensor(Type.f32, [2, 3])
    tensor.get_data(np.float32)[:] = X
    np.testing.assert_array_equal(tensor.get_data(), X)
    read = Tensor(Type.f32, [0])
    tensor.copy_to(read)
    np.testing.assert_array_equal(read.data, X)
    np.testing.assert_array_equal(VectorTensor(tensor, [0, 1], [2, 3]).get_data(), X[:, 1:])
    with pytest.raises(TensorError, match="the elements of a remote tensor of f32 cannot be taken as i32"):
        tensor.get_data(Type.i32)


def test_a_users_array_is_wrapped():
    """The device reads and writes the memory of the array, whichever values the user puts there."""
    x = Parameter(Type.f32, [2, 3], name="x")
    compiled = CORE.compile_model(Model(ops.Relu(x), [x]), "TEMPLATE")
    source, target = X.copy(), np.zeros_like(X)
    request = compiled.create_infer_request()
    request.set_input_tensor(wrapped(source))
    request.set_output_tensor(wrapped(target))
    for given in (X, -X):
        source[:] = given
        request.infer()
        np.testing.assert_array_equal(target, np.maximum(given, 0))


@pytest.mark.parametrize(
    ("kind", "shape", "array", "error", "problem"),
    [
        (Type.f32, [2, 3], X[:, ::-1], PropertyError, "vector_data .* takes a contiguous numpy array"),
        (Type.f32, [2, 3], np.broadcast_to(X[:1], [2, 3]), PropertyError, "that can be written"),
        (Type.f32, [2, 3], X.tolist(), PropertyError, "takes a contiguous numpy array"),
        (Type.i32, [2, 3], X, TensorError, "a remote tensor of i32 cannot be in an array of float32"),
        (Type.f32, [3, 3], X, TensorError, r"f32\[3, 3\] does not fit into 24 bytes of TEMPLATE"),
    ],
    ids=["not contiguous", "read-only", "list", "other type", "too small"],
)
def test_an_array_that_cannot_be_wrapped(kind, shape, array, error, problem):
    with pytest.raises(error, match=problem):
        CONTEXT.create_tensor(kind, shape, {"vector_data": array})


def test_get_element_type_and_get_shape():
    tensor = CONTEXT.create_tensor(Type.f16, [2, 3])
    assert (tensor.get_element_type(), tensor.get_shape()) == (Type.f16, (2, 3))
    assert (tensor.get_size(), tensor.get_byte_size()) == (6, 12)


@pytest.mark.parametrize("shape", [[2, 3], [4], [], [2, 0, 3], [2, 0], [0, 3], [5, 1, 1]])
def test_get_strides(shape):
    expected = openvino.Tensor(openvino.Type.f32, openvino.Shape(shape)).get_strides()
    assert list(CONTEXT.create_tensor(Type.f32, shape).get_strides()) == list(expected)


def test_get_strides_of_elements_smaller_than_a_byte():
    theirs = openvino.Tensor(openvino.Type.u4, openvino.Shape([2, 4]))
    ours = Tensor(Type.u4, [2, 4]), CONTEXT.create_tensor(Type.u4, [2, 4])
    for tensor in (theirs, *ours):
        with pytest.raises(RuntimeError, match="strides"):
            tensor.get_strides()


def test_set_shape():
    """As for OpenVINO's tensors, memory of the user is not reallocated."""
    array = X.copy()
    tensor, theirs = wrapped(array), openvino.Tensor(X.copy(), shared_memory=True)
    for shape in ([3, 2], [1, 2], [6], [2, 3]):
        for one in (tensor, theirs):
            one.set_shape(shape) if isinstance(one, RemoteTensor) else setattr(one, "shape", shape)
            assert (list(one.shape), list(one.get_strides())) == (shape, list(np.zeros(shape, np.float32).strides))
    assert tensor.get_params()["vector_data"] is array
    for change in (lambda: tensor.set_shape([3, 3]), lambda: setattr(theirs, "shape", [3, 3])):
        with pytest.raises(RuntimeError):
            change()
    with pytest.raises(TensorError, match="a tensor over 24 bytes of TEMPLATE cannot grow to 36 bytes"):
        tensor.copy_from(np.zeros([3, 3], np.float32))
    assert tensor.shape == (2, 3)
    own = CONTEXT.create_tensor(Type.f32, [2, 3])
    own.set_shape([3, 3])
    assert own.get_params()["vector_data"].nbytes == 36 and own.get_data().shape == (3, 3)


def test_get_properties():
    array = X.copy()
    params = wrapped(array).get_params()
    assert params["FULL_DEVICE_NAME"] == "TEMPLATE" and params["vector_data"] is array
    pointer = ctypes.cast(params["vector_data_ptr"], ctypes.POINTER(ctypes.c_float))
    np.testing.assert_array_equal(pointer[:6], X.reshape(-1))


def test_get_device_name():
    assert CONTEXT.create_tensor(Type.f32, [2]).get_device_name() == "TEMPLATE"
