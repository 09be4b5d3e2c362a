"""Tensors and element types."""

import ml_dtypes
import numpy as np
import openvino
import pytest

from hetero import Constant, Tensor, Type
from hetero.errors import TensorError

# Those that OpenVINO does not have
OTHERS = {Type.i2, Type.f6e2m3, Type.f6e3m2, Type.f8e4m3fnuz, Type.f8e5m2fnuz}


@pytest.mark.parametrize("name", [t.value for t in Type if t not in (Type.dynamic, Type.string, *OTHERS)])
def test_types_are_openvinos(name):
    ours, theirs = Type(name), getattr(openvino.Type, name)
    assert (ours.bitwidth, ours.size) == (theirs.bitwidth, theirs.size)
    assert (ours.is_real(), ours.is_signed()) == (theirs.is_real(), theirs.is_signed())
    assert Type(ours.to_dtype()) is ours
    assert ours.to_dtype().itemsize == theirs.to_dtype().itemsize
    if ours.to_dtype().isbuiltin == 1:  # openvino has no dtypes of its own for those that numpy lacks
        assert ours.to_dtype() == theirs.to_dtype()


def test_all_types_of_openvino_are_there():
    theirs = {name for name in vars(openvino.Type) if isinstance(getattr(openvino.Type, name), openvino.Type)}
    assert theirs == {t.value for t in Type if t not in OTHERS}


@pytest.mark.parametrize("kind", [t for t in Type if t is not Type.dynamic], ids=str)
def test_every_type_has_tensors(kind):
    assert Type(kind.to_dtype()) is kind
    tensor = Tensor(kind, [2, 3])
    assert (tensor.element_type, tensor.shape) == (kind, (2, 3))
    assert Constant(tensor.data).get_element_type() is kind
    assert kind.is_real() + kind.is_integral() <= 1


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


def test_take_keeps_what_is_shared():
    memory = np.zeros(3, np.float32)
    shared, own = Tensor(memory, shared_memory=True), Tensor(Type.f32, [3])
    made = np.float32([1, 2, 3])
    shared.take(made)
    own.take(made)
    np.testing.assert_array_equal(memory, made)
    assert own.data is made


def test_copies_between_tensors():
    source, target = Tensor(np.float32([[1, 2]])), Tensor(Type.f32, [0])
    source.copy_to(target)
    np.testing.assert_array_equal(target.data, [[1, 2]])
    target.copy_from(np.float32([9]))
    np.testing.assert_array_equal(target.data, [9])


def test_a_type_needs_a_shape():
    with pytest.raises(TensorError, match="needs a shape"):
        Tensor(Type.f32)
