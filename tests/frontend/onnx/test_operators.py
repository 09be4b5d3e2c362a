"""Every translated operator, in each version that differs, against ONNX Runtime."""

from typing import NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, make_model, run_onnxruntime, run_reference


class Known(NamedTuple):
    """An input that is an initializer."""

    array: np.ndarray


class Case(NamedTuple):
    op_type: str
    inputs: tuple
    attributes: dict
    opset: int
    outputs: int

    def __str__(self):
        attributes = ",".join(f"{name}={value}" for name, value in self.attributes.items() if name != "value")
        kinds = ",".join(f"{i.dtype.kind}" for i in self.inputs if isinstance(i, np.ndarray))
        return f"{self.op_type}-{self.opset}({kinds};{attributes})"


def case(op_type, *inputs, opset=13, outputs=1, **attributes):
    return Case(op_type, inputs, attributes, opset, outputs)


def normal(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def positive(*shape):
    return np.abs(normal(*shape)) + np.float32(0.5)


def ints(*values, dtype=np.int64):
    return Known(np.array(values, dtype))


def scalar(value, dtype=np.float32):
    return Known(np.array(value, dtype))


X = normal(2, 3, 4)
Y = normal(3, 1)
UNIT = np.tanh(X)
TRUTH = np.array([[True, False], [False, True]])
OTHER_TRUTH = np.array([True, True])
WHOLE = np.array([[-7, 7, -6], [5, -5, 0]], np.int32)
DIVISORS = np.array([[3, -3, 4], [-2, 5, 7]], np.int32)
HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.3], np.float32)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
IMAGE = normal(2, 4, 9, 8)
LINE = normal(1, 2, 11)
VOLUME = normal(1, 2, 5, 6, 4)
F4, F2 = Known(normal(6, 4, 3, 3)), Known(normal(6, 2, 3, 2))
VECTOR3, VECTOR4 = Known(normal(3)), Known(positive(4))

UNARY = [
    *[
        case(op, X)
        for op in ("Abs", "Atan", "Cos", "Erf", "Exp", "Neg", "Relu", "Sigmoid", "Sign", "Sin", "Tan", "Tanh")
    ],
    *[case(op, X) for op in ("Ceil", "Floor", "Softplus", "Softsign", "HardSigmoid", "Reciprocal", "Identity")],
    *[case(op, X) for op in ("Sinh", "Cosh", "Elu", "Selu", "LeakyRelu", "Celu", "ThresholdedRelu", "Shrink")],
    *[case(op, UNIT) for op in ("Acos", "Asin")],
    *[case(op, positive(3, 4)) for op in ("Log", "Sqrt")],
    case("Abs", WHOLE),
    case("Not", TRUTH),
    case("Round", HALVES),
    case("IsNaN", SPECIAL),
    case("IsInf", SPECIAL),
    case("IsInf", SPECIAL, detect_negative=0),
    case("IsInf", SPECIAL, detect_positive=0),
    case("IsInf", SPECIAL, detect_positive=0, detect_negative=0),
    case("HardSwish", X, opset=14),
    case("Mish", X, opset=18),
    case("Gelu", X, opset=20),
    case("Gelu", X, opset=20, approximate="tanh"),
    case("Elu", X, alpha=0.3),
    case("Selu", X, alpha=1.2, gamma=0.7),
    case("LeakyRelu", X, alpha=0.2),
    case("Celu", X, alpha=2.0),
    case("HardSigmoid", X, alpha=0.3, beta=0.4),
    case("ThresholdedRelu", X, alpha=0.4),
    case("Shrink", X, lambd=0.3, bias=0.1),
    case("Clip", X, opset=6, min=-0.5, max=0.4),
    case("Clip", X, opset=6, max=0.4),
    case("Clip", X, scalar(-0.5), scalar(0.4)),
    case("Clip", X, scalar(-0.5)),
    case("Clip", X, None, scalar(0.4)),
    case("Clip", X, np.array(-0.5, np.float32), scalar(0.4)),
    case("Clip", WHOLE, scalar(-5, np.int32), scalar(6, np.int32)),
    case("Cast", X * 9, to=TensorProto.INT32),
    case("Cast", X, to=TensorProto.BOOL),
    case("Cast", WHOLE, to=TensorProto.FLOAT16),
    case("CastLike", WHOLE, normal(1), opset=15),
    case("Dropout", X, opset=7),
    case("Dropout", X),
    case("Dropout", X, outputs=2),
]

BINARY = [
    *[case(op, X, Y) for op in ("Add", "Sub", "Mul", "Div", "PRelu")],
    *[case(op, X, Y, opset=7) for op in ("Add", "PRelu")],
    *[case(op, WHOLE, DIVISORS) for op in ("Add", "Sub", "Mul", "Div", "Mod")],
    *[case(op, X, np.round(X) + Y * 0) for op in ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")],
    *[case(op, WHOLE, np.abs(WHOLE)) for op in ("Equal", "GreaterOrEqual", "LessOrEqual")],
    *[case(op, TRUTH, OTHER_TRUTH) for op in ("And", "Or", "Xor", "Equal")],
    *[case(op, *values) for op in ("Max", "Min", "Sum", "Mean") for values in ([X], [X, Y], [X, Y, normal(4)])],
    case("Mod", WHOLE, DIVISORS, fmod=1),
    case("Mod", X, Y, fmod=1),
    case("Pow", positive(2, 3), normal(3)),
    case("Pow", X, ints(2)),
    case("Pow", WHOLE, scalar(2.0)),
    case("Pow", WHOLE, ints(2, dtype=np.int32)),
    case("PRelu", X, Known(np.float32([0.1, 0.2, 0.3, 0.4]))),
    case("Where", np.array([[True], [False], [True]]), X, Y),
    case("MatMul", X, normal(4, 5)),
    case("MatMul", normal(5, 1, 3, 4), normal(2, 4, 3)),
    case("MatMul", normal(4), normal(4, 3)),
    case("MatMul", X, normal(4)),
    case("Gemm", normal(3, 4), normal(4, 5)),
    case("Gemm", normal(4, 3), normal(5, 4), normal(5), transA=1, transB=1),
    case("Gemm", normal(3, 4), normal(4, 5), normal(3, 1), alpha=0.5, beta=2.0),
    case("Gemm", normal(3, 4), Known(normal(5, 4)), Known(normal(5)), opset=9, transB=1),
]

REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
    "ReduceSumSquare",
)  # fmt: skip
REDUCTION = [
    *[case(op, X, opset=11, axes=[0, -1]) for op in REDUCTIONS],
    *[case(op, X, opset=11, axes=[1], keepdims=0) for op in REDUCTIONS],
    *[case(op, X, opset=11) for op in REDUCTIONS],
    *[case(op, X, ints(0, -1), opset=18, keepdims=0) for op in REDUCTIONS],
    *[case(op, X, opset=18) for op in REDUCTIONS],
    case("ReduceLogSum", positive(2, 3), opset=11, axes=[1]),
    case("ReduceLogSum", positive(2, 3), ints(1), opset=18),
    case("ReduceSum", X, ints(1)),
    *[case(op, X, ints(), opset=18, noop_with_empty_axes=1) for op in REDUCTIONS],
    case("ReduceLogSum", positive(2, 3), ints(), opset=18, noop_with_empty_axes=1),
    case("ReduceSum", X, ints(), noop_with_empty_axes=1),
    case("ReduceSum", X, ints(), noop_with_empty_axes=0),
    case("ReduceSum", X, noop_with_empty_axes=1, opset=18),
    case("ReduceMax", WHOLE, opset=13, axes=[1]),
    case("ReduceLogSumExp", X * 200, opset=13, axes=[1]),
    case("GlobalAveragePool", IMAGE),
    case("GlobalMaxPool", IMAGE),
    case("GlobalMaxPool", LINE),
]

SOFTMAX = [
    *[case(op, X, opset=11, axis=axis) for op in ("Softmax", "LogSoftmax") for axis in (0, 1, -1)],
    *[case(op, X, axis=axis) for op in ("Softmax", "LogSoftmax") for axis in (0, 1, -1)],
    case("Softmax", X, opset=9),
    case("Softmax", X),
    case("Softmax", normal(1, 5, 1, 1), opset=9),
    case("Softmax", normal(3, 5), opset=7),
]

MOVEMENT = [
    case("Reshape", X, ints(0, -1)),
    case("Reshape", X, ints(4, 6)),
    case("Reshape", normal(0, 3), ints(0, 3), opset=14, allowzero=1),
    case("Flatten", X),
    *[case("Flatten", X, axis=axis) for axis in (0, 2, 3, -1)],
    case("Transpose", X),
    case("Transpose", X, perm=[1, 0, 2]),
    case("Squeeze", normal(1, 3, 1), opset=11, axes=[0, -1]),
    case("Squeeze", normal(1, 3, 1), ints(0)),
    case("Unsqueeze", X, opset=11, axes=[0, 3]),
    case("Unsqueeze", X, ints(0, -1)),
    case("Concat", X, normal(2, 1, 4), axis=1),
    case("Concat", X, X, X, axis=-1),
    case("Expand", Y, ints(2, 1, 4)),
    case("Tile", X, ints(1, 2, 3)),
    case("Split", X, opset=11, axis=2, outputs=2),
    case("Split", X, opset=11, axis=1, split=[1, 2], outputs=2),
    case("Split", X, ints(1, 3), axis=-1, outputs=2),
    case("Split", X, axis=-1, outputs=2),
    case("Split", normal(7), opset=18, num_outputs=3, outputs=3),
    case("Pad", X, opset=2, pads=[0, 1, 2, 1, 0, 0], value=1.5),
    case("Pad", X, opset=2, pads=[0, 1, 2, 1, 0, 0], mode="reflect"),
    case("Pad", X, ints(0, 1, 2, 1, 0, 0)),
    case("Pad", X, ints(0, 1, 2, 1, 0, 0), scalar(0.5)),
    case("Pad", X, np.array([0, 1, 2, 1, 0, 0])),
    case("Pad", X, ints(0, 1, 2, 1, 0, 0), mode="edge"),
    case("Pad", X, ints(1, 2), None, ints(-1), opset=18),
    case("Pad", X, np.array([1, 2]), None, ints(-1), opset=18),
    case("Pad", X, np.array([1, 0, 2, 0]), scalar(0.5), np.array([-1, 0]), opset=18),
    case("Pad", X, ints(0, -1, 0, 0, 0, 1)),
    case("DepthToSpace", normal(1, 8, 2, 3), blocksize=2),
    case("DepthToSpace", normal(1, 8, 2, 3), blocksize=2, mode="CRD"),
    case("SpaceToDepth", normal(1, 2, 4, 6), blocksize=2),
    case("Slice", X, opset=9, starts=[1, 0], ends=[3, 100], axes=[1, 2]),
    case("Slice", X, opset=9, starts=[0, 1], ends=[1, -1]),
    case("Slice", X, ints(1), ints(3)),
    case("Slice", X, ints(-1, 3), ints(-100, 0), ints(1, 2), ints(-1, -2)),
    case("Slice", X, ints(1, dtype=np.int32), ints(2**31 - 1, dtype=np.int32), ints(-1, dtype=np.int32)),
    case("Slice", X, np.array([1]), np.array([2]), ints(2)),
    case("Gather", X, ints(2, 0, -1), axis=1),
    case("Gather", X, scalar(1, np.int64)),
    case("Shape", X),
    case("Shape", X, opset=15, start=1),
    case("Shape", X, opset=15, start=-2, end=-1),
    case("Size", X),
    case("ConstantOfShape", np.array([2, 3])),
    case("ConstantOfShape", np.array([2, 3]), value=numpy_helper.from_array(np.array([7]))),
    case("Range", np.array(1), np.array(10), np.array(3)),
    case("Range", scalar(5.0), scalar(0.0), scalar(-1.5)),
    case("Constant", value=numpy_helper.from_array(X)),
    case("Constant", value=numpy_helper.from_array(np.float32(3))),
    case("Constant", value_int=3),
    case("Constant", value_ints=[3, 4]),
    case("Constant", value_float=2.5),
    case("Constant", value_floats=[2.5, 1.0]),
]

CONVOLUTION = [
    case("Conv", IMAGE, F4),
    case("Conv", IMAGE, F4, Known(normal(6)), strides=[2, 1], pads=[1, 0, 2, 1], dilations=[1, 2]),
    case("Conv", IMAGE, F2, group=2),
    case("Conv", IMAGE, Known(normal(4, 1, 3, 3)), Known(normal(4)), group=4, pads=[1, 1, 1, 1]),
    case("Conv", IMAGE, Known(normal(8, 1, 3, 3)), group=4),
    case("Conv", IMAGE, F4, auto_pad="VALID"),
    *[case("Conv", IMAGE, F4, auto_pad=pad, strides=[2, 3]) for pad in ("SAME_UPPER", "SAME_LOWER")],
    case("Conv", LINE, Known(normal(3, 2, 4)), Known(normal(3)), pads=[1, 2]),
    case("Conv", VOLUME, Known(normal(3, 2, 2, 3, 1))),
    case("ConvTranspose", IMAGE, Known(normal(4, 3, 3, 2))),
    case("ConvTranspose", IMAGE, Known(normal(4, 3, 3, 2)), Known(normal(3)), strides=[2, 2], pads=[1, 0, 0, 1]),
    case("ConvTranspose", IMAGE, Known(normal(4, 3, 3, 2)), strides=[3, 2], output_padding=[1, 0], dilations=[1, 2]),
    case("ConvTranspose", IMAGE, Known(normal(4, 3, 3, 2)), group=2, strides=[2, 2]),
    *[
        case("ConvTranspose", IMAGE, Known(normal(4, 3, 3, 3)), auto_pad=pad, strides=[2, 2])
        for pad in ("SAME_UPPER", "SAME_LOWER", "VALID")
    ],
    case("ConvTranspose", LINE, Known(normal(2, 3, 4)), strides=[3]),
]

POOLING = [
    case("MaxPool", IMAGE, kernel_shape=[3, 2]),
    case("MaxPool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 1]),
    case("MaxPool", IMAGE, kernel_shape=[2, 2], strides=[2, 2], outputs=2),
    case("MaxPool", IMAGE, kernel_shape=[2, 3], dilations=[2, 1]),
    case("MaxPool", IMAGE, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
    *[case("MaxPool", IMAGE, kernel_shape=[2, 3], strides=[1, 2], auto_pad=p) for p in ("SAME_UPPER", "SAME_LOWER")],
    case("MaxPool", LINE, kernel_shape=[3], strides=[2], opset=8),
    case("MaxPool", VOLUME, kernel_shape=[2, 2, 2]),
    case("AveragePool", IMAGE, kernel_shape=[3, 2]),
    *[
        case("AveragePool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=count)
        for count in (0, 1)
    ],
    case("AveragePool", IMAGE, kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER"),
    case("AveragePool", IMAGE, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
    case("AveragePool", LINE, kernel_shape=[3], opset=7),
]

NORMALIZATION = [
    case("BatchNormalization", IMAGE, *[VECTOR4] * 4, epsilon=1e-3),
    case("BatchNormalization", IMAGE, *[VECTOR4] * 4, opset=9),
    case("BatchNormalization", IMAGE, *[VECTOR4] * 4, opset=15),
    case("BatchNormalization", normal(2, 4), *[VECTOR4] * 4),
    case("InstanceNormalization", IMAGE, VECTOR4, VECTOR4),
    case("LayerNormalization", X, VECTOR4, VECTOR4, opset=17),
    case("LayerNormalization", X, Known(normal(3, 4)), opset=17, axis=1),
    case("MeanVarianceNormalization", IMAGE),
]

RESIZE = [
    case("Upsample", IMAGE, opset=7, scales=[1.0, 1.0, 2.0, 3.0]),
    case("Upsample", IMAGE, Known(np.float32([1, 1, 2, 2])), opset=9, mode="linear"),
    case("Resize", IMAGE, Known(np.float32([1, 1, 2, 0.5])), opset=10),
    *[
        case(
            "Resize",
            IMAGE,
            None,
            # Corners of lengths with a fraction are in test_resize.py.
            Known(np.float32([1, 1, 3 if coordinates == "align_corners" else 1.6, 2])),
            mode="nearest",
            nearest_mode=rounding,
            coordinate_transformation_mode=coordinates,
        )
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        for coordinates in ("half_pixel", "asymmetric", "align_corners")
    ],
    *[
        case("Resize", IMAGE, None, Known(np.float32([1, 1, s, 2])), mode=mode, coordinate_transformation_mode=c)
        for mode in ("linear", "cubic")
        for c, s in (("half_pixel", 1.5), ("pytorch_half_pixel", 1.5), ("asymmetric", 1.5), ("align_corners", 3))
    ],
    case("Resize", IMAGE, None, None, ints(2, 4, 5, 20), mode="linear"),
    case("Resize", IMAGE, None, None, ints(2, 4, 18, 16), mode="nearest"),
    case("Resize", IMAGE, None, None, np.array([2, 4, 18, 16]), mode="nearest"),
    case("Resize", IMAGE, None, Known(np.float32([2, 2])), opset=18, axes=[2, 3], mode="linear"),
]

CASES = [
    *UNARY, *BINARY, *REDUCTION, *SOFTMAX, *MOVEMENT, *CONVOLUTION, *POOLING, *NORMALIZATION, *RESIZE,
]  # fmt: skip


def model_of(case: Case, dynamic: bool):
    names = ["" if value is None else f"x{index}" for index, value in enumerate(case.inputs)]
    outputs = [f"y{index}" for index in range(case.outputs)]
    inputs = {name: value for name, value in zip(names, case.inputs) if isinstance(value, np.ndarray)}
    initializers = {name: value.array for name, value in zip(names, case.inputs) if isinstance(value, Known)}
    # Vectors of whole numbers say how to compute, and how many they are is always known.
    shapes = {n: [f"{n}_{axis}" for axis in range(a.ndim)] for n, a in inputs.items() if a.dtype != np.int64}
    node = helper.make_node(case.op_type, names, outputs, name="node", **case.attributes)
    model = make_model([node], inputs, outputs, initializers, case.opset, shapes if dynamic else None)
    return model, inputs


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_operator(case, dynamic):
    proto, inputs = model_of(case, dynamic)
    model = OnnxFrontEnd().convert(proto.SerializeToString())
    assert_close(run_reference(model, inputs), run_onnxruntime(proto, inputs))


# These need to know shapes, or ONNX Runtime does not run them when it does not.
STATIC_ONLY = [
    case("ConvTranspose", IMAGE, Known(normal(4, 3, 3, 3)), strides=[2, 2], output_shape=[18, 16]),
    case("ConvTranspose", IMAGE, Known(normal(4, 3, 3, 3)), strides=[2, 2], output_shape=[17, 15]),
]


@pytest.mark.parametrize("case", STATIC_ONLY, ids=str)
def test_operator_of_known_shape(case):
    test_operator(case, dynamic=False)
    with pytest.raises(FrontendError, match="known shape"):
        OnnxFrontEnd().convert(model_of(case, dynamic=True)[0])


# What is refused rather than translated into something else.
REFUSED = [
    (case("Resize", IMAGE, None, Known(np.float32([1, 1, 2])), mode="linear"), "3 scales for 4 axes"),
    (case("Cast", X, to=TensorProto.COMPLEX64), "the element type COMPLEX64 is not supported"),
    (case("Softmax", X, opset=11, axis=3), "axis 3"),
    (case("Conv", IMAGE, F4, pads=[1, 1]), "pads has 2 values instead of 4"),
    (case("Conv", IMAGE, F2, group=4), "cannot be split into 4 groups"),
]


@pytest.mark.parametrize(("case", "message"), REFUSED, ids=str)
def test_refused(case, message):
    with pytest.raises(FrontendError, match=message):
        OnnxFrontEnd().convert(model_of(case, dynamic=False)[0])


def test_swish():
    # ONNX Runtime does not have it yet: the formula is the specification's.
    proto, inputs = model_of(case("Swish", X, opset=24, alpha=0.5), dynamic=False)
    found = run_reference(OnnxFrontEnd().convert(proto), inputs)
    assert_close(found, {"y0": X / (1 + np.exp(-0.5 * X))})
