"""Quantized operators of the domain com.microsoft, against ONNX Runtime."""

import numpy as np
import pytest
from onnx import helper

from hetero.frontend.onnx import OnnxFrontEnd
from tests.frontend.onnx.compare import run_onnxruntime, run_reference
from tests.frontend.onnx.test_operators import Known, model_of, normal
from tests.frontend.onnx.test_quantization import A8, B8, I8, IMAGE, U8, X, case, codes, single, weights

A, B = codes(U8, 3, 4, 5), codes(U8, 4, 1)
SIGNED, OTHER = codes(I8, 3, 4, 5), codes(I8, 5)
COLUMNS = np.abs(normal(6)) / 9


def y(dtype=U8, scale=0.9, zero=5):
    return single(scale), np.array(zero, dtype)


def x(values, scale=0.1, zero=7):
    return values, *y(values.dtype, scale, zero)


def pool(op_type, image=IMAGE, **attributes):
    return case(op_type, *x(image), *y(image.dtype, 0.05), **attributes)


# The result is counted in steps of the output; the number is by how many steps ONNX Runtime may differ: it computes
# some in another order or by tables, so that what lies half way between two codes may be rounded to the other.
CASES = [
    *[(0, case("QuantizeLinear", X, single(0.1), zero)) for zero in (U8(3), I8(3))],
    (0, case("QuantizeLinear", X, COLUMNS[:3], codes(U8, 3), axis=1)),
    (0, case("DequantizeLinear", SIGNED, single(0.1), I8(3))),
    (0, case("DequantizeLinear", SIGNED, COLUMNS[:4], codes(I8, 4), axis=1)),
    *[(1, case(op, *x(a), *x(b, 0.02, 3), *y(a.dtype, scale)))
      for op, scale in (("QLinearAdd", 0.2), ("QLinearMul", 0.3)) for a, b in ((A, B), (SIGNED, OTHER))],
    *[(0, case(op, *x(a, 0.05), *y(a.dtype, 0.01), **more))
      for op, more in (("QLinearLeakyRelu", {}), ("QLinearLeakyRelu", dict(alpha=0.3)), ("QLinearSigmoid", {}))
      for a in (A, SIGNED)],
    *[(1, case("QLinearSoftmax", *x(a, 0.05), *y(a.dtype, 1 / 256, 0), axis=axis, opset=13, standard=version))
      for a in (A, SIGNED) for axis, version in ((-1, 13), (1, 13), (1, 12), (2, 12))],
    *[(1, pool("QLinearGlobalAveragePool", image, channels_last=last)) for image in (IMAGE, IMAGE.astype(I8))
      for last in (0, 1)],
    *[(1, pool("QLinearAveragePool", kernel_shape=[3, 2], **more))
      for more in ({}, dict(strides=[2, 2], pads=[1, 0, 1, 1]), dict(pads=[1, 1, 1, 1], count_include_pad=1),
                   dict(auto_pad="SAME_UPPER"), dict(channels_last=1, strides=[2, 1]))],
    (0, case("QLinearConcat", *y(), *x(A), *x(codes(U8, 3, 2, 5), 0.3, 100), axis=1)),
    (0, case("QLinearWhere", np.array([True, False, True, True, False]), *x(A), *x(A[:1], 0.2, 3), *y())),
    *[(1, case("QGemm", *x(A8), *x(B8.T if turned else B8, 0.02, 0), None, *y(), transB=turned)) for turned in (0, 1)],
    (1, case("QGemm", *x(A8.T), *x(B8, 0.02, 0), codes(np.int32, 6) // 10**6, *y(), transA=1, alpha=0.3)),
    (0, case("QGemm", *x(A8), B8, COLUMNS, codes(I8, 6))),
    (0, case("QGemm", *x(A8), B8.T.copy(), COLUMNS, codes(I8, 6), None, *y(), transB=1)),
    (0, case("MatMulIntegerToFloat", A8, B8, single(0.1), COLUMNS, U8(4), codes(I8, 6), normal(6))),
    (0, case("MatMulIntegerToFloat", codes(U8, 2, 3, 70), B8, single(0.1), single(0.2))),
    (0, case("DynamicQuantizeMatMul", normal(5, 70), B8, single(0.1))),
    (0, case("DynamicQuantizeMatMul", normal(2, 5, 70), B8, COLUMNS, codes(I8, 6), normal(6))),
    (0, case("QLinearConv", *x(np.moveaxis(IMAGE, 1, 3).copy()), Known(weights(I8, 3, 4, 3, 3)), Known(single(0.01)),
             Known(np.array(0, I8)), *y(), channels_last=1, pads=[1, 1, 1, 1])),
]  # fmt: skip


def microsoft_model(item, dynamic):
    attributes = dict(item.attributes)
    if "standard" in attributes:
        attributes["opset"] = attributes.pop("standard")
    proto, inputs = model_of(item._replace(attributes=attributes | {"domain": "com.microsoft"}), dynamic)
    proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return proto, inputs


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("steps", "item"), CASES, ids=str)
def test_like_onnxruntime(steps, item, dynamic):
    proto, inputs = microsoft_model(item, dynamic)
    found = run_reference(OnnxFrontEnd().convert(proto.SerializeToString()), inputs)
    for name, wanted in run_onnxruntime(proto, inputs).items():
        assert (found[name].dtype, found[name].shape) == (wanted.dtype, wanted.shape)
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(found[name], wanted, rtol=1e-5, atol=1e-5)
            continue
        difference = np.abs(found[name].astype(np.int64) - wanted)
        assert difference.max() <= steps and (difference > 0).mean() <= 0.2


@pytest.mark.parametrize("options", [{"axes": [1]}, {"axes": [0, 2], "keepdims": 0}, {}], ids=str)
@pytest.mark.parametrize("values", [A, SIGNED], ids=["u8", "i8"])
def test_mean(values, options):
    # ONNX Runtime has no kernel for it on CPUs: the formula is that of its documentation.
    item = case("QLinearReduceMean", *x(values, 0.25), *y(values.dtype, 0.125), **options)
    proto, inputs = microsoft_model(item, dynamic=False)
    found = run_reference(OnnxFrontEnd().convert(proto.SerializeToString()), inputs)["y0"]
    axes = tuple(options.get("axes", range(3)))
    mean = 0.25 * (values.astype(np.float64) - 7).mean(axes, keepdims=bool(options.get("keepdims", 1)))
    limits = np.iinfo(values.dtype)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, np.clip(np.rint(mean / 0.125) + 5, limits.min, limits.max))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("more", ["", "scales by column", "states", "lengths", "peepholes"])
def test_lstm(direction, more):
    """The hidden state is quantized in each step: without that, results differ by 0.01 and more."""
    count, hidden, steps = 2 if direction == "bidirectional" else 1, 8, 20
    by_column = more == "scales by column"
    scale = np.abs(normal(count, 4 * hidden) + 3) / 400 if by_column else np.full(count, 0.01, np.float32)
    parameters = [Known(scale.astype(np.float32)), Known(np.zeros(scale.shape, I8))] * 2
    matrices = [Known(weights(I8, count, size, 4 * hidden)) for size in (3, hidden)]
    states = [normal(count, 2, hidden) / 2 for _ in range(2)] if more == "states" else [None, None]
    lengths = np.array([13, 13], np.int32) if more == "lengths" else None
    peepholes = Known(normal(count, 3 * hidden) / 4) if more == "peepholes" else None
    item = case("DynamicQuantizeLSTM", normal(steps, 2, 3), *matrices, Known(normal(count, 8 * hidden) / 4), lengths,
                *states, peepholes, *parameters, outputs=3, hidden_size=hidden, direction=direction)  # fmt: skip
    proto, inputs = microsoft_model(item, dynamic=False)
    found = run_reference(OnnxFrontEnd().convert(proto.SerializeToString()), inputs)
    # On several threads ONNX Runtime quantizes parts of the batch by ranges of their own.
    for name, wanted in run_onnxruntime(proto, inputs, threads=1).items():
        assert found[name].shape == wanted.shape
        np.testing.assert_allclose(found[name], wanted, rtol=0, atol=1e-5)
