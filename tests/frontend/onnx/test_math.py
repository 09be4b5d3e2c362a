"""Losses, dropout, and operators of operator sets that ONNX Runtime does not support, against their formulas."""

import math

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, make_model, run_onnxruntime, run_reference

rng = np.random.default_rng(8)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def translated(op_type, *inputs, opset, outputs=1, **attributes):
    """The outputs of one node in a model of the operator set, and the ONNX model."""
    names = [f"x{index}" for index in range(len(inputs))]
    results = [f"y{index}" for index in range(outputs)]
    node = helper.make_node(op_type, names, results, **attributes)
    model = make_model([node], dict(zip(names, inputs)), results, opset=opset)
    found = run_reference(OnnxFrontEnd().convert(model.SerializeToString()), dict(zip(names, inputs)))
    return [found[name] for name in results], model


def feed(inputs):
    return {f"x{index}": array for index, array in enumerate(inputs)}


SCORES, CLASSES = normal(4, 5, 3), rng.integers(0, 5, (4, 3))
WEIGHTS = np.abs(normal(5))


@pytest.mark.parametrize("opset", [12, 13])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("ignored", [{}, {"ignore_index": 2}])
@pytest.mark.parametrize("weights", [[], [WEIGHTS]], ids=["alike", "weighted"])
@pytest.mark.parametrize("op_type", ["SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"])
def test_losses(op_type, weights, ignored, reduction, opset):
    inputs = [SCORES, CLASSES, *weights]
    found, model = translated(op_type, *inputs, opset=opset, reduction=reduction, **ignored)
    assert_close({"y0": found[0]}, run_onnxruntime(model, feed(inputs)))


@pytest.mark.parametrize("ignored", [-1, 255])
def test_ignore_index_may_be_out_of_range(ignored):
    classes = np.array([0, ignored, 2], np.int64)
    scores = normal(3, 4)
    found, _ = translated("NegativeLogLikelihoodLoss", scores, classes, opset=13, ignore_index=ignored)
    assert found[0] == pytest.approx(-(scores[0, 0] + scores[2, 2]) / 2)


def test_log_probabilities_as_output():
    inputs = [SCORES, CLASSES]
    found, model = translated("SoftmaxCrossEntropyLoss", *inputs, opset=13, outputs=2)
    assert_close(dict(zip(("y0", "y1"), found)), run_onnxruntime(model, feed(inputs)))


def test_an_unknown_reduction():
    with pytest.raises(FrontendError, match="reduction must be none, sum or mean, but is product"):
        translated("NegativeLogLikelihoodLoss", SCORES, CLASSES, opset=13, reduction="product")


@pytest.mark.parametrize("opset", [12, 13, 22])
def test_dropout_in_training(opset):
    value, training = np.ones((50, 80), np.float32), np.array(True)
    inputs = [value, np.array(0.25, np.float32), training]
    (result, mask), _ = translated("Dropout", *inputs, opset=opset, outputs=2, seed=3)
    assert mask.dtype == np.bool_
    assert 0.72 < mask.mean() < 0.78
    np.testing.assert_allclose(result, np.where(mask, value / 0.75, 0), rtol=1e-6)
    inputs[2] = np.array(False)
    (result, mask), _ = translated("Dropout", *inputs, opset=opset, outputs=2, seed=3)
    assert (result == value).all() and mask.all()


@pytest.mark.parametrize(("opset", "kind"), [(1, np.float32), (6, np.float32), (7, np.float32), (10, np.bool_)])
def test_masks_of_old_dropout(opset, kind):
    value = normal(2, 3)
    (result, mask), _ = translated("Dropout", value, opset=opset, outputs=2)
    np.testing.assert_array_equal(result, value)
    assert mask.dtype == kind and mask.all() and mask.shape == (2, 3)


X = normal(2, 3, 4)
A, B = np.abs(normal(3)) + 1, np.abs(normal(3, 4)) + 1
ALONG_1 = {"axis": 1, "broadcast": 1}
PLACE = np.abs(normal(3, 4)) + 1


def normalized(x, scale, bias, mean, variance):
    return (x - mean) / np.sqrt(variance + np.float32(1e-5)) * scale + bias


DEPTHS = normal(1, 4, 2, 3)
REDUCED = [
    ("ReduceL1", B.sum(1)), ("ReduceL2", np.sqrt((B * B).sum(1))), ("ReduceLogSum", np.log(B.sum(1))),
    ("ReduceLogSumExp", np.log(np.exp(B).sum(1))), ("ReduceMean", B.mean(1)), ("ReduceSumSquare", (B * B).sum(1)),
]  # fmt: skip
OLD = [
    ("Add", 1, [X, A], ALONG_1, X + A[:, None]), ("Sub", 6, [X, A], ALONG_1, X - A[:, None]),
    ("Mul", 1, [X, B], {"broadcast": 1}, X * B), ("Div", 6, [X, A], ALONG_1, X / A[:, None]),
    ("Div", 6, [np.int32([-7, 7]), np.int32([2, -2])], {}, np.int32([-3, -3])),
    ("Pow", 1, [B, np.float32(2)], {"broadcast": 1}, B**2), ("Less", 1, [X, A], ALONG_1, A[:, None] > X),
    ("Greater", 1, [X, B], {"broadcast": 1}, X > B), ("Equal", 1, [np.int32([1, 2]), np.int32([1, 3])], {},
                                                       np.array([True, False])),
    ("And", 1, [X > 0, A > 2], ALONG_1, (X > 0) & (A > 2)[:, None]), ("Or", 1, [X > 0, X > 1], {}, X > 0),
    ("Xor", 1, [X > 0, X > 1], {}, (X > 0) & (X <= 1)),
    ("Sum", 1, [X, X, X], {}, 3 * X), ("Mean", 6, [X, 3 * X], {}, 2 * X), ("Max", 1, [X, -X], {}, np.abs(X)),
    ("Min", 6, [X, -X], {}, -np.abs(X)), ("Max", 6, [X], {}, X),
    ("Abs", 1, [X], {"consumed_inputs": [0]}, np.abs(X)), ("Elu", 1, [X], {}, np.where(X > 0, X, np.expm1(X))),
    ("Selu", 1, [X], {}, np.float32(1.0507) * np.where(X > 0, X, np.float32(1.6732) * np.expm1(X))),
    ("LeakyRelu", 1, [X], {"alpha": 0.5}, np.where(X > 0, X, X / 2)),
    ("HardSigmoid", 1, [X], {}, np.clip(0.2 * X + 0.5, 0, 1).astype(np.float32)),
    ("PRelu", 6, [X, A], {}, np.where(X > 0, X, X * A[:, None])), ("PRelu", 1, [X, A[:1]], {},
                                                                      np.where(X > 0, X, X * A[0])),
    ("PRelu", 7, [X, B], {}, np.where(X > 0, X, X * B)),
    ("PRelu", 7, [X, B[0]], {}, np.where(X > 0, X, X * B[0])),
    ("PRelu", 7, [X[0], B[0]], {}, np.where(X[0] > 0, X[0], X[0] * B[0])),
    ("PRelu", 7, [X[0], B[0, :1]], {}, np.where(X[0] > 0, X[0], X[0] * B[0, 0])),
    ("Clip", 1, [X * math.inf], {"min": -1.0}, np.where(X > 0, np.float32(math.inf), np.float32(-1))),
    ("Clip", 6, [X], {"max": 0.5}, np.minimum(X, np.float32(0.5))),
    ("Clip", 13, [X], {}, X),
    ("Concat", 1, [X, X], {}, np.concatenate([X, X], 1)), ("Pad", 1, [X], {"paddings": [0, 1, 0, 0, 0, 2]},
                                                            np.pad(X, [(0, 0), (1, 0), (0, 2)])),
    ("Pad", 2, [X], {"pads": [0, 1, 0, 0, 0, 2], "value": 7.0}, np.pad(X, [(0, 0), (1, 0), (0, 2)], constant_values=7)),
    ("Reshape", 1, [X], {"shape": [4, -1]}, X.reshape(4, -1)),
    ("Gemm", 1, [B, B, np.float32(2)], {"transB": 1, "broadcast": 1}, B @ B.T + 2),
    ("Gemm", 6, [B, B.T.copy(), A], {"alpha": 0.5, "broadcast": 1}, B @ B.T / 2 + A),
    ("InstanceNormalization", 1, [X, A, A], {},
     (X - X.mean(2, keepdims=True)) / np.sqrt(X.var(2, keepdims=True) + np.float32(1e-5)) * A[:, None] + A[:, None]),
    ("BatchNormalization", 1, [X, A, A, A, A], {"is_test": 1},
     normalized(X, *[A[:, None]] * 4)),
    ("BatchNormalization", 6, [X, PLACE, PLACE, PLACE, PLACE], {"spatial": 0, "is_test": 1},
     normalized(X, *[PLACE] * 4)),
    ("Upsample", 1, [X[None]], {"height_scale": 2.0, "width_scale": 1.0}, X[None].repeat(2, 2)),
    ("Upsample", 7, [X[None]], {"scales": [1.0, 1.0, 1.0, 3.0]}, X[None].repeat(3, 3)),
    ("Tile", 6, [A, np.int64([2])], {}, np.tile(A, 2)),
    ("AveragePool", 1, [X], {"kernel_shape": [2], "strides": [2]}, X.reshape(2, 3, 2, 2).mean(3)),
    *[("Softmax", opset, [X], {}, np.exp(X) / np.exp(X).sum((1, 2), keepdims=True)) for opset in (1, 11)],
    *[("LogSoftmax", opset, [X], {}, X - np.log(np.exp(X).sum((1, 2), keepdims=True))) for opset in (1, 11)],
    *[("Hardmax", opset, [X], {}, (X.max((1, 2), keepdims=True) == X).astype(np.float32)) for opset in (1, 11)],
    ("Cast", 1, [X * 9], {"to": "INT32"}, (X * 9).astype(np.int32)),
    ("DepthToSpace", 1, [DEPTHS], {"blocksize": 2},
     DEPTHS.reshape(1, 2, 2, 1, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 1, 4, 6)),
    ("MeanVarianceNormalization", 13, [X], {"axes": [0, 2]},
     (X - X.mean((0, 2), keepdims=True)) / X.std((0, 2), keepdims=True)),
    *[("Squeeze", opset, [X[:, :1]], {"axes": [1]}, X[:, 0]) for opset in (1, 11)],
    *[("Unsqueeze", opset, [X], {"axes": [0, 2]}, X[None, :, None]) for opset in (1, 11)],
    *[(name, opset, [B], {"axes": [1], "keepdims": 0}, wanted) for opset in (1, 11, 13) for name, wanted in REDUCED],
    ("ReduceSum", 1, [X], {}, X.sum(keepdims=True)), ("ReduceSum", 11, [X], {"axes": [-1]}, X.sum(2, keepdims=True)),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "opset", "inputs", "attributes", "expected"), OLD)
def test_old_versions(op_type, opset, inputs, attributes, expected):
    found, _ = translated(op_type, *map(np.asarray, inputs), opset=opset, **attributes)
    assert found[0].dtype == expected.dtype
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", [1, 6, 7, 9])
def test_old_batch_normalization_in_training(opset):
    inputs = [X, A, A, np.zeros(3, np.float32), np.ones(3, np.float32)]
    attributes = {"momentum": 0.75} | ({"is_test": 0} if opset < 7 else {})
    found, _ = translated("BatchNormalization", *inputs, opset=opset, outputs=5, **attributes)
    mean, variance = X.mean((0, 2)), X.var((0, 2))
    expected = [
        normalized(X, *(v[:, None] for v in (A, A, mean, variance))), mean / 4, 0.75 + variance / 4, mean, variance,
    ]  # fmt: skip
    for array, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("training", [0, 1])
def test_statistics_of_a_wider_type_than_the_data(training):
    data = X.astype(np.float16)
    mean, variance = np.float32([0, 1, 2]), np.float32([1, 2, 1e5])  # f16 cannot hold the last one
    inputs = [data, A.astype(np.float16), A.astype(np.float16), mean, variance]
    (found, *_), _ = translated("BatchNormalization", *inputs, opset=15, outputs=3 if training else 1,
                                training_mode=training)  # fmt: skip
    wide = data.astype(np.float32)
    used = (wide.mean((0, 2)), wide.var((0, 2))) if training else (mean, variance)
    expected = normalized(wide, *(v.astype(np.float32)[:, None] for v in (*inputs[1:3], *used)))
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, expected, rtol=5e-3, atol=5e-3)


NOTHING = np.zeros((2, 0, 3), np.float32)


@pytest.mark.parametrize(
    ("op_type", "inputs", "expected"),
    [
        ("ReduceMax", [NOTHING], np.full((2, 1, 3), -np.inf, np.float32)),
        ("ReduceMin", [NOTHING], np.full((2, 1, 3), np.inf, np.float32)),
        ("ReduceMax", [NOTHING > 0], np.zeros((2, 1, 3), np.bool_)),
        ("ReduceMin", [NOTHING > 0], np.ones((2, 1, 3), np.bool_)),
        ("ReduceMax", [X[:, :1] > 0], X[:, :1] > 0),
        ("ReduceSum", [NOTHING], np.zeros((2, 1, 3), np.float32)),
        ("ReduceProd", [NOTHING], np.ones((2, 1, 3), np.float32)),
        ("ReduceLogSumExp", [NOTHING], np.full((2, 1, 3), -np.inf, np.float32)),
        ("ReduceLogSumExp", [np.full((1, 2, 1), -np.inf, np.float32)], np.full((1, 1, 1), -np.inf, np.float32)),
        ("ReduceLogSumExp", [np.full((1, 2, 1), 1e4, np.float32)], np.full((1, 1, 1), 1e4 + math.log(2), np.float32)),
    ],
)
def test_reductions_of_empty_and_boolean_values(op_type, inputs, expected):
    (found,), model = translated(op_type, *inputs, np.int64([1]), opset=20)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected)
    # The same if the lengths are known at run time only.
    for value in model.graph.input:
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            dimension.dim_param = f"{value.name} {axis}"
    inputs = [*inputs, np.int64([1])]
    found = run_reference(OnnxFrontEnd().convert(model.SerializeToString()), feed(inputs))["y0"]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("pads", [[1, 2, 0, 1], [5, 0, 0, 7], [-1, 0, 0, -1]], ids=str)
def test_pad_mode_wrap(pads):
    value = normal(3, 4)
    inputs = [value, np.array(pads, np.int64)]
    (found,), model = translated("Pad", *inputs, opset=19, mode="wrap")
    np.testing.assert_array_equal(found, run_onnxruntime(model, feed(inputs))["y0"])


@pytest.mark.parametrize("bounds", [(2, -1), (-1, 2)])
def test_clip_of_known_bounds(bounds):
    value = normal(5)
    low, high = (onnx.numpy_helper.from_array(np.float32(b), n) for b, n in zip(bounds, ("low", "high")))
    model = make_model([helper.make_node("Clip", ["x", "low", "high"], ["y"])], {"x": value}, opset=13)
    model.graph.initializer.extend([low, high])
    found = run_reference(OnnxFrontEnd().convert(model.SerializeToString()), {"x": value})
    np.testing.assert_array_equal(found["y"], ReferenceEvaluator(model).run(None, {"x": value})[0])


def reference(model, inputs):
    return ReferenceEvaluator(model).run(None, feed(inputs))[0]


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("size", [(1, 3, 4, 5), (2, 3, 4, 5), (2, 1, 3, 4, 5), (1, 1, 1, 4, 5)], ids=str)
def test_affine_grid(size, align):
    dimensions = len(size) - 2
    inputs = [normal(size[0], dimensions, dimensions + 1), np.array(size, np.int64)]
    (found,), model = translated("AffineGrid", *inputs, opset=20, align_corners=align)
    np.testing.assert_allclose(found, reference(model, inputs), rtol=1e-5, atol=1e-6)


def test_affine_grid_of_unknown_dimensions():
    model = make_model([helper.make_node("AffineGrid", ["x0", "x1"], ["y"])], feed([X, np.int64([1, 1, 2, 2])]),
                       opset=20, shapes={"x0": ("n", "d", "e")})  # fmt: skip
    with pytest.raises(FrontendError, match="the number of spatial dimensions, must be known"):
        OnnxFrontEnd().convert(model.SerializeToString())


@pytest.mark.parametrize("shape", [(5, 5), (10, 9), (6, 12), (9, 2)], ids=str)
@pytest.mark.parametrize("axes", [{"axes": [0, 2]}, {"axes": [-1, 0]}], ids=str)
def test_center_crop_pad(shape, axes):
    inputs = [normal(8, 3, 7), np.array(shape, np.int64)]
    (found,), model = translated("CenterCropPad", *inputs, opset=18, **axes)
    np.testing.assert_array_equal(found, reference(model, inputs))


def test_center_crop_pad_of_all_axes():
    inputs = [normal(4, 3), np.array([2, 6], np.int64)]
    (found,), model = translated("CenterCropPad", *inputs, opset=18)
    np.testing.assert_array_equal(found, reference(model, inputs))


def test_swiglu():
    (found,), _ = translated("SwiGLU", X, 2 * X, opset=28, alpha=1.5)
    np.testing.assert_allclose(found, X / (1 + np.exp(-1.5 * X)) * 2 * X, rtol=1e-5)
