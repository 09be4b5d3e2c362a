"""Tensors and element types."""

import ml_dtypes
import numpy as np
import openvino
import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime_c

from hetero import Constant, Core, Model, Parameter, Tensor, Type, ops
from hetero.system.errors import TensorError

# Types that OpenVINO does not have.
OTHERS = {Type.i2, Type.f6e2m3, Type.f6e3m2, Type.f8e4m3fnuz, Type.f8e5m2fnuz}


@pytest.mark.parametrize("name", [t.value for t in Type if t not in (Type.dynamic, Type.string, *OTHERS)])
def test_types_have_the_properties_of_openvinos(name):
    ours, theirs = Type(name), getattr(openvino.Type, name)
    assert (ours.bitwidth, ours.size) == (theirs.bitwidth, theirs.size)
    assert (ours.is_real(), ours.is_signed()) == (theirs.is_real(), theirs.is_signed())
    assert Type(ours.to_dtype()) is ours
    assert ours.to_dtype().itemsize == theirs.to_dtype().itemsize
    if ours.to_dtype().isbuiltin == 1:  # openvino uses other dtypes for types that numpy lacks
        assert ours.to_dtype() == theirs.to_dtype()


def test_all_types_of_openvino_exist():
    theirs = {name for name in vars(openvino.Type) if isinstance(getattr(openvino.Type, name), openvino.Type)}
    assert theirs == {t.value for t in Type if t not in OTHERS}


@pytest.mark.parametrize("kind", [t for t in Type if t is not Type.dynamic], ids=str)
def test_every_type_has_tensors(kind):
    assert Type(kind.to_dtype()) is kind
    tensor = Tensor(kind, [2, 3])
    assert (tensor.element_type, tensor.shape) == (kind, (2, 3))
    assert Constant(tensor.array).get_element_type() is kind
    assert kind.is_real() + kind.is_integer() <= 1


def test_types_from_dtypes():
    assert Type(np.float32) is Type.f32 and Type(np.dtype("bool")) is Type.boolean
    assert Type(ml_dtypes.bfloat16) is Type.bf16 and Type(np.array(["text"]).dtype) is Type.string
    with pytest.raises(ValueError):
        Type(np.complex64)


def test_a_tensor_copies_unless_shared():
    array = np.arange(3)
    copied, shared = Tensor(array), Tensor(array, shared_memory=True)
    array[0] = 7
    assert copied.data[0] == 0 and shared.data[0] == 7


def test_shape_may_change():
    tensor = Tensor(Type.f32, [2, 3])
    assert (tensor.shape, tensor.size, tensor.byte_size, tensor.strides) == ((2, 3), 6, 24, (12, 4))
    tensor.shape = [4, 5]
    assert tensor.data.shape == (4, 5)
    shared = Tensor(np.zeros(6, np.float32), shared_memory=True)
    shared.set_shape([2, 2])
    with pytest.raises(TensorError, match=r"a tensor over shared memory of 6 elements cannot take the shape \[7\]"):
        shared.set_shape([7])


def test_take_writes_to_shared_memory():
    memory = np.zeros(3, np.float32)
    shared, own = Tensor(memory, shared_memory=True), Tensor(Type.f32, [3])
    array = np.float32([1, 2, 3])
    shared.take(array)
    own.take(array)
    np.testing.assert_array_equal(memory, array)
    assert own.data is array


def test_copies_between_tensors():
    source, target = Tensor(np.float32([[1, 2]])), Tensor(Type.f32, [0])
    source.copy_to(target)
    np.testing.assert_array_equal(target.data, [[1, 2]])
    target.copy_from(np.float32([9]))
    np.testing.assert_array_equal(target.data, [9])


def test_a_type_needs_a_shape():
    with pytest.raises(TypeError, match="needs a shape"):
        Tensor(Type.f32)


def test_regions_are_like_openvinos():
    """Shape, strides, contents and shared memory, also for a region of a region."""
    array = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    ours, theirs = Tensor(array.copy()), openvino.Tensor(array.copy())
    for begin, end in (([0, 1, 2], [3, 4, 4]), ([1, 0, 0], [3, 2, 1])):
        ours, theirs = Tensor(ours, begin, end), openvino.Tensor(theirs, begin, end)
        assert ours.shape == tuple(theirs.shape) and ours.strides == tuple(theirs.strides)
        assert (ours.size, ours.byte_size, ours.element_type) == (theirs.size, theirs.byte_size, Type.f32)
        assert ours.is_continuous() == theirs.is_continuous()
        np.testing.assert_array_equal(ours.data, theirs.data)
    whole = np.zeros([2, 2], np.int32)
    Tensor(Tensor(whole, shared_memory=True), begin=[0, 1], end=[2, 2]).data[:] = 7
    np.testing.assert_array_equal(whole, [[0, 7], [0, 7]])


@pytest.mark.parametrize(
    "begin, end", [([1], [3]), ([1, 1], [4, 3]), ([2, 1], [1, 3]), ([-1, 0], [1, 1]), ([0, 0, 0], [1, 1, 1])]
)
def test_a_region_outside_is_refused(begin, end):
    with pytest.raises(
        TensorError, match=r"there is no region from \[.*\] to \[.*\] in a tensor of the shape \[3, 4\]"
    ):
        Tensor(Tensor(Type.f32, [3, 4]), begin, end)


@pytest.mark.parametrize("shape", [[1, 2], [2, 1], [2, 3], [4, 1], [2]])
def test_a_region_takes_the_shapes_that_openvinos_takes(shape):
    ours = Tensor(Tensor(np.arange(12).reshape(3, 4)), [1, 1], [3, 3])
    theirs = openvino.Tensor(openvino.Tensor(np.arange(12).reshape(3, 4)), [1, 1], [3, 3])
    try:
        theirs.shape = shape
    except RuntimeError:
        with pytest.raises(TensorError, match=r"a region of the shape \[2, 2\] cannot take the shape"):
            ours.shape = shape
    else:
        ours.shape = shape
        np.testing.assert_array_equal(ours.data, theirs.data)


def test_a_region_follows_its_tensor():
    whole = Tensor(Type.f32, [2, 3])
    region = Tensor(whole, [1, 0], [2, 3])
    whole.take(np.float32([[1, 2, 3], [4, 5, 6]]))
    np.testing.assert_array_equal(region.data, [[4, 5, 6]])
    whole.shape = [1, 3]
    with pytest.raises(TensorError, match=r"ends at \[2, 3\] lies outside its tensor, which is now \[1, 3\]"):
        region.data  # noqa: B018


def test_copies_of_regions():
    whole = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    target = Tensor(np.zeros([4, 4], np.float32))
    Tensor(whole, [0, 1], [2, 3]).copy_to(Tensor(target, [2, 2], [4, 4]))
    np.testing.assert_array_equal(target.data[2:, 2:], [[1, 2], [5, 6]])
    assert not target.data[:2].any() and not target.data[:, :2].any()
    array = np.zeros([3, 4], np.float32)
    whole.copy_to(array)
    np.testing.assert_array_equal(array, whole.data)
    with pytest.raises(TensorError, match=r"a tensor of \[3, 4\] cannot be copied to an array of \[2\]"):
        whole.copy_to(np.zeros(2, np.float32))


class Foreign:
    """An array of another library, which supports only DLPack."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (1, 0)) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._device


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16, np.int8, np.uint64, np.bool_])
def test_dlpack_in_both_directions(kind):
    array = np.array([[0, 1, 2], [3, 4, 0]], kind)
    shared, copied = Tensor(Foreign(array), True), Tensor(Foreign(array))
    assert shared.element_type is Type(kind) and shared.__dlpack_device__() == (1, 0)
    back = np.from_dlpack(Tensor(shared, [0, 1], [2, 3]))
    np.testing.assert_array_equal(back, array[:, 1:])
    shared.data[0, 1] = 0
    assert array[0, 1] == back[0, 0] == 0 and copied.data[0, 1] == 1


def test_dlpack_with_onnx_runtime():
    """Both directions share memory."""
    array = np.float32([[1, 2], [3, 4]])
    theirs = onnxruntime_c.OrtValue.ortvalue_from_numpy(array, onnxruntime_c.OrtDevice(0, 0, 0))
    ours = Tensor(theirs, shared_memory=True)
    assert ours.data.ctypes.data == theirs.data_ptr()
    np.testing.assert_array_equal(ours.data, array)
    ours = Tensor(array)
    again = onnxruntime_c.OrtValue.from_dlpack(ours.__dlpack__())
    assert again.data_ptr() == ours.data.ctypes.data and again.shape() == [2, 2]
    np.testing.assert_array_equal(again.numpy(), array)


@pytest.mark.parametrize("kind", [Type.bf16, Type.string, Type.i4, Type.f8e4m3], ids=str)
def test_types_that_dlpack_lacks(kind):
    with pytest.raises(TensorError, match=f"a tensor of {kind} cannot be exported by DLPack"):
        Tensor(kind, [2]).__dlpack__()


@pytest.mark.parametrize(
    "source", [Foreign(np.zeros(2, ml_dtypes.bfloat16)), Foreign(np.zeros(2), (2, 0))], ids=["type", "device"]
)
def test_unsupported_dlpack_sources(source):
    with pytest.raises(TensorError, match="cannot be made from Foreign by DLPack"):
        Tensor(source)


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU"])
def test_regions_and_dlpack_as_inputs_and_outputs(device):
    x = Parameter(Type.f32, [2, 2], name="x")
    request = Core().compile_model(Model(ops.Exp(x), [x], "exp"), device).create_infer_request()
    whole = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
    result = np.zeros([4, 3], np.float32)
    request.set_input_tensor(Tensor(Tensor(whole, True), [1, 1], [3, 3]))
    request.set_output_tensor(Tensor(Tensor(result, True), [0, 1], [2, 3]))
    for _ in range(2):
        request.infer()
        np.testing.assert_allclose(result[:2, 1:], np.exp(whole[1:, 1:3]), rtol=1e-6)
        assert not result[2:].any() and not result[:, 0].any()
        whole += 1
    array = np.float32([[1, 2], [3, 4]])
    np.testing.assert_allclose(request.infer([Foreign(array)])[0], np.exp(array), rtol=1e-6)
