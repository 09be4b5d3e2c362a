"""Quantized operators against ONNX Runtime, or against ONNX's reference for types that ONNX Runtime lacks."""

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import FrontendError
from tests.frontend.onnx import test_operators
from tests.frontend.onnx.compare import run_onnxruntime, run_reference
from tests.frontend.onnx.test_operators import Known, model_of, normal

rng = np.random.default_rng(3)


def case(op_type, *inputs, **options):
    """A case with numpy's scalars as arrays."""
    return test_operators.case(
        op_type, *(i if i is None or isinstance(i, Known) else np.asarray(i) for i in inputs), **options
    )


def codes(dtype, *shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def weights(dtype, *shape):
    """Return codes for the second factor of products.

    ONNX Runtime adds pairs of products of u8 and i8 in 16 bits on processors without VNNI, which is exact for the 7
    bits that i8 has here.
    """
    return codes(dtype, *shape) // 2 if dtype is np.int8 else codes(dtype, *shape)


def single(*values):
    return np.float32(values if len(values) != 1 else values[0])


X = normal(2, 3, 4) * 5
TIES = np.arange(-6, 6, dtype=np.float32) / 2  # of a scale of 1 every second is half way between two codes
HUGE = single(-np.inf, -1e30, 1e30, np.inf, 3e9, -3e9)
U8, I8, U16, I16 = np.uint8, np.int8, np.uint16, np.int16
A8, B8 = codes(U8, 5, 70), weights(I8, 70, 6)
PAIRS = [(a, b) for a in (U8, I8) for b in (U8, I8) if (a, b) != (I8, U8)]
IMAGE = codes(U8, 2, 4, 7, 6)


def qlinear_matmul(a, b, y=U8, a_shape=(4, 30), b_shape=(30, 5), a_scale=0.02, b_scale=0.01):
    zero = np.array(3, a), np.array(100, b), np.array(4, y)
    return case("QLinearMatMul", codes(a, *a_shape), np.float32(a_scale), zero[0], weights(b, *b_shape),
                single(b_scale), zero[1], single(1.3), zero[2])  # fmt: skip


def qlinear_conv(x, w, bias=None, w_scale=0.01, w_zero=3, y=U8, **attributes):
    w_zero = np.asarray(w_zero, w.dtype)
    more = [] if bias is None else [Known(bias)]
    return case("QLinearConv", x, single(0.1), np.array(7, x.dtype), Known(w), Known(np.float32(w_scale)),
                Known(w_zero), single(0.9), np.array(5, y), *more, opset=10, **attributes)  # fmt: skip


CASES = [
    *[case("QuantizeLinear", data, single(scale), *zero, opset=10)
      for data, scale in ((X, 0.07), (TIES, 1), (HUGE, 0.5)) for zero in ([], [U8(100)], [I8(-3)])],
    *[case("QuantizeLinear", X, single(1e-4), dtype(zero), opset=21) for dtype, zero in ((U16, 30000), (I16, -9))],
    *[case("QuantizeLinear", X, np.abs(normal(X.shape[axis])) + single(0.1), codes(I8, X.shape[axis]), axis=axis)
      for axis in (0, 1, -1)],
    case("QuantizeLinear", X, np.abs(normal(3)) + single(0.1), opset=19),
    case("QuantizeLinear", X, single(0.5), opset=21, output_dtype=TensorProto.INT16),
    *[case("QuantizeLinear", normal(2, 5, 4) * 3, np.abs(normal(2, 3, 4)) + single(0.1), codes(I8, 2, 3, 4), opset=21,
           axis=1, block_size=2)],
    *[case("DequantizeLinear", codes(dtype, 3, 4), single(0.3), *zero, opset=21)
      for dtype in (U8, I8, U16, I16) for zero in ([], [dtype(7)])],
    case("DequantizeLinear", codes(np.int32, 3, 4), single(0.3), opset=10),
    *[case("DequantizeLinear", codes(I8, 2, 3, 4), normal(3), codes(I8, 3), axis=axis) for axis in (1, -2)],
    case("DequantizeLinear", codes(I8, 2, 3, 4), np.float16([0.1, 0.2, 3]), opset=19),
    case("DequantizeLinear", codes(U8, 2, 4, 6), normal(2, 4, 2), codes(U8, 2, 4, 2), opset=21, axis=-1, block_size=3),
    *[case("DynamicQuantizeLinear", data, opset=11, outputs=3)
      for data in (X, np.abs(X), -np.abs(X), np.zeros((2, 2), np.float32), TIES)],
    *[case("MatMulInteger", codes(a, 4, 300), weights(b, 300, 5), a(9), b(100), opset=10) for a, b in PAIRS],
    case("MatMulInteger", A8, B8, opset=10),
    case("MatMulInteger", codes(U8, 2, 3, 8), codes(U8, 2, 8, 5), opset=10),
    case("MatMulInteger", A8, B8, U8(3), codes(I8, 6), opset=10),
    case("MatMulInteger", np.full((1, 3000), 255, U8), np.full((3000, 1), 255, U8), opset=10),
    *[qlinear_matmul(a, b, y=a) for a, b in PAIRS],
    qlinear_matmul(U8, I8, a_shape=(2, 3, 30)),
    case("QLinearMatMul", A8, single(0.02), U8(3), B8, np.abs(normal(6)) / 9, codes(I8, 6), single(2), U8(8)),
    case("ConvInteger", IMAGE, codes(U8, 3, 4, 2, 3), opset=10),
    case("ConvInteger", IMAGE, codes(U8, 3, 4, 2, 3), U8(100), U8(4), opset=10, pads=[1, 0, 2, 1], strides=[2, 1]),
    qlinear_conv(IMAGE, codes(U8, 3, 4, 3, 3), pads=[1, 1, 1, 1]),
    qlinear_conv(IMAGE, weights(I8, 4, 2, 3, 2), codes(np.int32, 4) // 10**5, group=2, strides=[2, 2], w_zero=0),
    qlinear_conv(IMAGE, weights(I8, 4, 1, 3, 3), group=4, auto_pad="SAME_UPPER", w_zero=0),
    qlinear_conv(IMAGE, weights(I8, 3, 4, 1, 1), w_scale=[0.1, 0.02, 0.003], w_zero=[0, 0, 0]),
    qlinear_conv(codes(I8, 1, 3, 9), weights(I8, 2, 3, 4), y=I8, w_zero=0, dilations=[2]),
]  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("item", CASES, ids=str)
def test_like_onnxruntime(item, dynamic):
    proto, inputs = model_of(item, dynamic)
    same(OnnxFrontEnd().convert(proto.SerializeToString()), inputs, run_onnxruntime(proto, inputs))


def same(model, inputs, expected):
    found = run_reference(model, inputs)
    for name, wanted in expected.items():
        assert (found[name].dtype, found[name].shape) == (wanted.dtype, wanted.shape)
        if wanted.dtype.kind in "iu":
            np.testing.assert_array_equal(found[name], wanted)
        else:
            np.testing.assert_allclose(found[name].astype(np.float32), wanted.astype(np.float32), rtol=1e-6)


NARROW = [TensorProto.INT4, TensorProto.UINT4, TensorProto.INT2, TensorProto.UINT2, TensorProto.FLOAT8E4M3FN,
          TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ,
          TensorProto.FLOAT4E2M1, TensorProto.FLOAT6E2M3, TensorProto.FLOAT6E3M2]  # fmt: skip
BY_ONNX = [
    case("QuantizeLinear", np.int32([[-7, 200, 90000]]), single(3), U8(2)),
    *[case("QuantizeLinear", X * 4, single(0.9), opset=28, output_dtype=kind, saturate=saturate)
      for kind in NARROW for saturate in (1, 0)],
    *[case("QuantizeLinear", X * 4, single(*np.linspace(0.1, 4, 3)), opset=28, output_dtype=kind, axis=1)
      for kind in NARROW],
    case("QuantizeLinear", X, np.linspace(0.1, 4, 12, dtype=np.float32).reshape(2, 3, 2), opset=25, axis=2,
         block_size=2, output_dtype=TensorProto.INT4),
    case("QuantizeLinear", X.astype(np.float16), np.float16(0.3), I16(900), opset=23),
    case("QuantizeLinear", X, single(0.3), opset=23, precision=TensorProto.FLOAT16, output_dtype=TensorProto.INT8),
    *[case("DequantizeLinear", (X * 2).astype(dtype), single(0.3), opset=28)
      for dtype in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
                    ml_dtypes.float4_e2m1fn, ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn, ml_dtypes.int2)],
    case("DequantizeLinear", codes(U16, 3, 4), np.float16(0.3), U16(40000), opset=23),
    case("DequantizeLinear", codes(U8, 3, 4), single(0.3), U8(4), opset=23, output_dtype=TensorProto.FLOAT16),
    case("DequantizeLinear", codes(U8, 3, 4), np.array(0.25, ml_dtypes.float8_e8m0fnu), opset=24,
         output_dtype=TensorProto.BFLOAT16),
]  # fmt: skip


@pytest.mark.parametrize("item", BY_ONNX, ids=str)
def test_like_onnx(item):
    proto, inputs = model_of(item, dynamic=False)
    proto.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT  # onnx's reference wants some type there
    expected = dict(y0=ReferenceEvaluator(proto).run(None, inputs)[0])
    same(OnnxFrontEnd().convert(proto.SerializeToString()), inputs, expected)


REFUSED = [
    (case("QuantizeLinear", X, normal(4), axis=3), "axis 3 is out of range for rank 3"),
    (case("QuantizeLinear", X, single(1), U8(0), opset=21, output_dtype=TensorProto.INT8), "output_dtype is i8"),
    (case("QuantizeLinear", X, single(1), opset=21, output_dtype=TensorProto.COMPLEX64), "COMPLEX64 is not supported"),
    (case("MatMulInteger", A8, A8, opset=10), "cannot be multiplied"),
]


@pytest.mark.parametrize(("item", "message"), REFUSED, ids=str)
def test_refused(item, message):
    with pytest.raises(FrontendError, match=message):
        OnnxFrontEnd().convert(model_of(item, dynamic=False)[0])
