"""Packing of sub-byte elements, compared with OpenVINO's constants and onnx."""

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, numpy_helper

from hetero import Type
from hetero.core.packing import pack, packed_size, unpack

rng = np.random.default_rng(2)
TYPES = [Type.u1, Type.u2, Type.u3, Type.u4, Type.u6, Type.i4, Type.nf4, Type.f4e2m1]


def codes(kind, count):
    return rng.integers(0, 1 << kind.bitwidth, count, np.uint8)


@pytest.mark.parametrize("count", [0, 1, 5, 8, 16, 19])
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_packed_as_openvino_packs(kind, count):
    elements = codes(kind, count)
    packed = pack(elements, kind)
    assert packed.size == packed_size(count, kind)
    # Converting OpenVINO's constant to i32 shows the elements that it reads from the bytes.
    if kind in (Type.u1, Type.u2, Type.u3, Type.u4, Type.u6, Type.i4) and count:
        tensor = openvino.Tensor(packed, openvino.Shape([count]), getattr(openvino.Type, kind.value))
        constant = openvino.opset13.constant(tensor)
        found = openvino.opset13.convert(constant, "i32")
        output = openvino.Tensor(openvino.Type.i32, openvino.Shape([count]))
        assert found.evaluate([output], [tensor])
        expected = elements.astype(np.int32)
        if kind is Type.i4:
            expected = (expected ^ 8) - 8
        np.testing.assert_array_equal(output.data, expected)


@pytest.mark.parametrize("count", [0, 1, 5, 8, 19])
@pytest.mark.parametrize("kind", [*TYPES, Type.i2, Type.f6e2m3, Type.f6e3m2], ids=str)
def test_pack_is_the_inverse_of_unpack(kind, count):
    array = unpack(pack(codes(kind, count), kind), kind, (count,))
    assert array.dtype == kind.to_dtype()
    np.testing.assert_array_equal(unpack(pack(array, kind), kind, (count,)), array)


@pytest.mark.parametrize(
    ("kind", "number"),
    [(Type.i4, TensorProto.INT4), (Type.u4, TensorProto.UINT4), (Type.i2, TensorProto.INT2),
     (Type.u2, TensorProto.UINT2), (Type.f4e2m1, TensorProto.FLOAT4E2M1),
     (Type.f6e2m3, TensorProto.FLOAT6E2M3), (Type.f6e3m2, TensorProto.FLOAT6E3M2)],
    ids=str,
)  # fmt: skip
def test_packed_as_onnx_packs(kind, number):
    content = rng.integers(0, 256, packed_size(7, kind), np.uint8)
    tensor = onnx.TensorProto(data_type=number, dims=[7], raw_data=content.tobytes())
    expected = numpy_helper.to_array(tensor)
    found = unpack(content, kind, (7,))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


def test_wrong_number_of_bytes():
    with pytest.raises(ValueError, match="5 elements of u4 take 3 bytes, not 2"):
        unpack(np.zeros(2, np.uint8), Type.u4, (5,))
