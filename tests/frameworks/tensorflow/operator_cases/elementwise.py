"""Element-wise functions of one or more inputs."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, booleans, fixed, integers, reals

_SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5], np.float32)
_REAL = [
    "Asinh", "Atan", "Ceil", "Cos", "Cosh", "Elu", "Erf", "Erfc", "Exp", "Expm1", "Floor", "Mish", "Neg", "Relu",
    "Relu6", "Rint", "Round", "Selu", "Sigmoid", "Sin", "Sinh", "Softplus", "Softsign", "Square", "Tan", "Tanh",
    "Abs", "Sign", "LeakyRelu",
]  # fmt: skip
_POSITIVE = ["Log", "Log1p", "Rsqrt", "Sqrt", "Reciprocal", "Inv"]
_BINARY = [
    "Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "RealDiv", "Div", "FloorDiv",
    "DivNoNan", "MulNoNan", "Atan2",
]  # fmt: skip
_OF_INTEGERS = ["Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference"]
_DIVISIONS = ["Div", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod", "RealDiv"]
_COMPARISONS = ["Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"]

CASES = [
    *(Case(name, [reals(*shape)]) for name in _REAL if name != "Mish" for shape in ((2, 3), (), (1, 2, 2, 3))),
    *(Case(name, [reals(5, dtype=np.float16)], tolerance=2e-3) for name in ("Exp", "Tanh", "Relu", "Erf", "Elu")),
    *(Case(name, [integers(2, 3)]) for name in ("Abs", "Neg", "Sign", "Square", "Relu", "Round", "Relu6")),
    *(Case(name, [_SPECIAL]) for name in ("IsFinite", "IsInf", "IsNan", "Relu", "Floor", "Abs", "Sigmoid")),
    *(Case(name, [reals(2, 3, low=0.1)]) for name in _POSITIVE),
    Case("Log1p", [np.array([1e-6, -1e-6, -0.5, 3.0, 0.0], np.float32)], tolerance=1e-6),
    Case("Expm1", [np.array([1e-6, -1e-6, -5.0, 3.0, 20.0], np.float32)], tolerance=1e-6),
    *(Case(name, [reals(2, 3, low=-0.9, high=0.9)]) for name in ("Acos", "Asin", "Atanh")),
    Case("Acosh", [reals(2, 3, low=1, high=3)]),
    Case("Rint", [np.array([0.5, 1.5, -0.5, 2.5], np.float32)]),
    Case("LeakyRelu", [reals(2, 3)], {"alpha": 0.05}),
    Case("Invert", [integers(4)]),
    Case("Invert", [integers(4, low=0, high=255, dtype=np.uint8)]),
    Case("LogicalNot", [booleans(2, 3)]),
    Case("ToBool", [np.float32(2.0)]),
    Case("ToBool", [reals(0, 3)]),
    *(Case(name, [reals(2, 3), reals(3, low=0.5)]) for name in _BINARY),
    *(Case(name, [reals(2, 1, 4), reals(3, 1, low=0.5)]) for name in _BINARY),
    *(Case(name, [reals(2, 3), np.float32(1.5)]) for name in _BINARY),
    *(Case(name, [integers(2, 3), integers(3)]) for name in _OF_INTEGERS),
    *(Case(name, [integers(2, 3, dtype=np.int64), integers(1, 3, dtype=np.int64)]) for name in _OF_INTEGERS),
    *(Case(name, [integers(6), np.array([1, 2, 3, -1, -2, -3], np.int32)]) for name in _DIVISIONS if name != "RealDiv"),
    *(Case(name, [reals(2, 3), reals(3, low=0.5)]) for name in ("FloorMod", "Mod", "TruncateMod")),
    Case("Mod", [np.array([5, -5, 5, -5], np.int32), np.array([3, 3, -3, -3], np.int32)]),
    Case("Pow", [reals(2, 3, low=0.1), reals(3)]),
    Case("Pow", [integers(2, 3, low=1), integers(3, low=0, high=4)]),
    Case(
        "Atan2",
        [np.array([0.0, -0.0, 1, -1, 0.0, -0.0, 2], np.float32), np.array([1, 1, 0, 0, -1, -1, -3], np.float32)],
    ),
    Case("DivNoNan", [reals(4), np.array([0, 1, 0, 2], np.float32)]),
    Case("MulNoNan", [np.array([np.inf, np.nan, 2, 3], np.float32), np.array([0, 0, 0, 2], np.float32)]),
    Case("Xdivy", [np.array([0, 1, 2], np.float32), np.array([0, 2, 3], np.float32)]),
    Case("Xlogy", [np.array([0, 1, 2], np.float32), np.array([0, 2, 3], np.float32)]),
    Case("Xlog1py", [np.array([0, 1, 2], np.float32), np.array([-1, 2, 3], np.float32)]),
    *(Case(name, [integers(2, 3, low=0, high=2), integers(3, low=0, high=2)]) for name in _COMPARISONS),
    *(Case(name, [reals(2, 3), reals(2, 1)]) for name in _COMPARISONS),
    *(Case(name, [booleans(4), booleans(4)]) for name in ("Equal", "NotEqual", "LogicalAnd", "LogicalOr")),
    *(Case(name, [booleans(2, 3), booleans(3)]) for name in ("LogicalAnd", "LogicalOr")),
    Case("Equal", [np.array(["a", "b"]), np.array(["a", "c"])]),
    *(Case(name, [integers(4), integers(4)]) for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    *(
        Case(name, [integers(4, low=0, high=200, dtype=np.uint8), integers(4, low=0, high=200, dtype=np.uint8)])
        for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
    ),
    *(Case(name, [integers(4), integers(4, low=0, high=4)]) for name in ("LeftShift", "RightShift")),
    Case("AddN", [[reals(2, 3), reals(2, 3), reals(2, 3)]]),
    Case("AddN", [[integers(4)]]),
    Case("AccumulateNV2", [[reals(2, 3), reals(2, 3)]], {"shape": [2, 3]}),
    Case("ClipByValue", [reals(2, 3), fixed(-0.5, np.float32), fixed(0.5, np.float32)]),
    Case("ClipByValue", [reals(2, 3), reals(2, 3, low=-1, high=0), reals(2, 3, low=0, high=1)]),
    Case(
        "ApproximateEqual", [np.array([1, 2, 3], np.float32), np.array([1.05, 2, 3.2], np.float32)], {"tolerance": 0.1}
    ),
    Case("Select", [booleans(2, 3), reals(2, 3), reals(2, 3)]),
    Case("Select", [booleans(2), reals(2, 3, 2), reals(2, 3, 2)]),
    Case("Select", [np.bool_(True), reals(2, 3), reals(2, 3)]),
    Case("SelectV2", [booleans(2, 1), reals(2, 3), reals(3)]),
    Case("SelectV2", [booleans(3), integers(2, 3), integers(1)]),
    Case("SelectV2", [booleans(2), np.array(["a", "b"]), np.array(["c", "d"])]),
    Case("EnsureShape", [reals(2, 3)], {"shape": [None, 3]}),
    Case("CheckNumericsV2", [reals(2, 3)], {"message": "m"}),
    Case("CheckNumerics", [reals(2, 3)], {"message": "m"}),
    Case("Snapshot", [reals(2, 3)]),
]
