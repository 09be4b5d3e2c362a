"""The same operators with other element types, and with empty tensors."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, booleans, fixed, integers, reals

_HALF = {"dtype": np.float16}
_FUNCTIONS = [
    "Abs", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "LeakyRelu", "Log1p", "LogSoftmax", "Neg", "Relu", "Relu6",
    "Rint", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Softmax", "Softplus", "Softsign", "Square", "Tanh",
]  # fmt: skip
_ARITHMETIC = ["AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "FloorDiv", "FloorMod"]
_COMPARISONS = ["Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"]
_INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int64]

CASES = [
    *(Case(name, [reals(2, 3, low=-0.9, dtype=np.float64)], tolerance=1e-7) for name in _FUNCTIONS),
    *(Case(name, [reals(2, 3, low=-0.9, dtype=np.float16)], tolerance=4e-3) for name in _FUNCTIONS if name != "Rint"),
    *(Case(name, [reals(0, 3)]) for name in _FUNCTIONS),
    *(
        Case(name, [reals(2, 3, dtype=kind), reals(3, low=0.5, dtype=kind)], tolerance=4e-3)
        for name in (*_ARITHMETIC, *_COMPARISONS, "RealDiv", "Pow")
        for kind in (np.float16, np.float64)
        if name != "Pow"
    ),
    *(
        Case(name, [integers(2, 3, low=1, dtype=kind), integers(3, low=1, dtype=kind)])
        for name in ("AddV2", "Mul", "Sub", "Maximum", "Minimum", *_COMPARISONS)
        for kind in _INTEGERS
        # The difference of unsigned numbers is not defined.
        if not (name == "Sub" and kind in (np.uint8, np.uint16))
    ),
    *(
        Case(name, [integers(2, 3, low=0, dtype=np.int64), integers(3, low=1, dtype=np.int64)])
        for name in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Pow", "SquaredDifference")
    ),
    *(Case(name, [reals(0, 3), reals(3)]) for name in _ARITHMETIC),
    *(
        Case(name, [integers(3, 4, low=0, high=4, dtype=kind), fixed([1])])
        for name in ("Sum", "Max", "Min", "Prod")
        for kind in (np.int8, np.uint8, np.int64)
    ),
    *(
        Case(name, [reals(3, 4, dtype=np.float64), fixed([1])], tolerance=1e-9)
        for name in ("Sum", "Max", "Min", "Mean")
    ),
    *(Case(name, [reals(3, 4, dtype=np.float16), fixed([0])], tolerance=4e-3) for name in ("Max", "Min", "Mean")),
    *(Case(name, [reals(0, 4), fixed([0])]) for name in ("Sum", "Prod", "Max", "Min", "Mean")),
    *(Case("ArgMax", [integers(3, 4, dtype=kind), fixed(1)]) for kind in (np.int64, np.uint8, np.int8)),
    Case("ArgMax", [booleans(3, 4), fixed(1)]),
    Case("ArgMin", [reals(3, 4, dtype=np.float16), fixed(0)]),
    Case("Cumsum", [integers(5, dtype=np.int64), fixed(0)]),
    Case("Cumsum", [reals(5, dtype=np.float64), fixed(0, np.int64)]),
    *(Case("TopKV2", [integers(2, 6, low=-9, high=9, dtype=kind), fixed(3)]) for kind in (np.int64, np.int8)),
    Case("TopKV2", [reals(2, 6, dtype=np.float64), fixed(0)]),
    *(
        Case("OneHot", [integers(3, low=0, high=3, dtype=np.int64), fixed(3), fixed(on, kind), fixed(0, kind)])
        for on, kind in ((1, np.bool_), (2, np.int64), (1, np.float16))
    ),
    *(
        Case("GatherV2", [value, integers(2, low=0, high=3, dtype=np.int64), fixed(0)])
        for value in (booleans(3, 2), integers(3, dtype=np.uint8), reals(3, dtype=np.float16))
    ),
    Case("GatherV2", [reals(3, 2), fixed(np.zeros(0)), fixed(0)]),
    Case("Where", [np.zeros((2, 3), np.bool_)]),
    Case("Unique", [np.zeros(0, np.int32)], is_static=True),
    Case("TensorScatterUpdate", [booleans(4), np.array([[1], [3]], np.int32), booleans(2)]),
    Case("TensorScatterAdd", [reals(4, 2), np.zeros((0, 1), np.int32), reals(0, 2)]),
    Case("ScatterNd", [np.array([[1], [1]], np.int32), integers(2, dtype=np.int64), fixed([3])]),
    Case("NonMaxSuppressionV3", [reals(0, 4), reals(0), fixed(3), fixed(0.5, np.float32), fixed(0.5, np.float32)]),
    Case("SelectV2", [booleans(3), integers(3, dtype=np.int64), integers(3, dtype=np.int64)]),
    Case("SelectV2", [booleans(3), booleans(3), booleans(3)]),
    Case("Range", [fixed(0, np.int64), np.int64(4), fixed(1, np.int64)]),
    Case("LinSpace", [np.float64(0), np.float64(1), fixed(5, np.int64)]),
    Case("BatchMatMulV2", [reals(2, 3, 4, dtype=np.float64), reals(2, 4, 2, dtype=np.float64)]),
    Case("BatchMatMulV2", [reals(2, 3, 4, dtype=np.float16), reals(2, 4, 2, dtype=np.float16)], tolerance=1e-2),
    Case("MatrixBandPart", [integers(3, 4, dtype=np.int64), fixed(0), fixed(1)]),
    Case("MatrixDiag", [booleans(3)]),
    Case("Roll", [integers(5, dtype=np.uint8), fixed(2), fixed(0)]),
    Case("Tile", [booleans(2, 1), fixed([1, 3])]),
    Case("AddN", [[reals(3, dtype=np.float64), reals(3, dtype=np.float64)]]),
    Case("SpaceToDepth", [integers(1, 4, 4, 1, dtype=np.uint8)], {"block_size": 2}),
    Case("Bucketize", [reals(4, dtype=np.float64)], {"boundaries": [0.0, 1.0]}),
    Case("UnsortedSegmentSum", [integers(4, dtype=np.int64), integers(4, low=0, high=3), fixed(3)]),
    Case("LRN", [reals(1, 2, 2, 4, dtype=np.float16)], {"depth_radius": 1}, tolerance=1e-2),
    Case("RFFT", [reals(2, 8, dtype=np.float64), fixed([8])], {"Tcomplex": "tf.complex128"}),
    Case("ResizeNearestNeighbor", [reals(1, 3, 3, 1, dtype=np.float16), fixed([5, 6])]),
    Case(
        "CropAndResize",
        [
            integers(1, 4, 4, 2, low=0, high=255, dtype=np.uint8),
            np.array([[0, 0, 0.7, 1]], np.float32),
            np.zeros(1, np.int32),
            fixed([3, 3]),
        ],
        tolerance=1e-3,
    ),
]
