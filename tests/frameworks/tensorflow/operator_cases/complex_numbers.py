"""Operators of complex numbers."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, booleans, complexes, fixed, reals

CASES = [
    *(Case(name, [complexes(2, 3), complexes(3)]) for name in ("AddV2", "Sub", "Mul", "RealDiv")),
    *(
        Case(name, [complexes(2, 3)])
        for name in ("Conj", "ComplexAbs", "Angle", "Real", "Imag", "Square", "Neg", "Exp")
    ),
    *(Case(name, [complexes(2, 3)]) for name in ("Rank", "Size", "Shape", "ZerosLike", "OnesLike", "Identity")),
    Case("ShapeN", [[complexes(2, 3), complexes(4)]]),
    Case("Complex", [reals(2, 3), reals(3)]),
    Case("Complex", [reals(2), np.float32(1)]),
    *(
        Case(name, [complexes(2, 3), fixed([-1])], {"keep_dims": keep})
        for name in ("Sum", "Mean")
        for keep in (True, False)
    ),
    Case("Sum", [complexes(2, 3), fixed([0, 1])]),
    Case("GatherV2", [complexes(3, 4), fixed([2, 0]), fixed(-1)]),
    Case("GatherNd", [complexes(3, 4), np.array([[0, 1], [2, 3]], np.int32)]),
    Case("ConjugateTranspose", [complexes(2, 3), fixed([1, 0])]),
    Case("Transpose", [complexes(2, 3, 4), fixed([2, 0, 1])]),
    Case("Reshape", [complexes(2, 3), fixed([3, -1])]),
    Case("ExpandDims", [complexes(2, 3), fixed(-1)]),
    Case("ExpandDims", [complexes(2, 3), fixed(0)]),
    Case("Squeeze", [complexes(2, 1, 3)], {"axis": [-2]}),
    Case("Squeeze", [complexes(2, 1, 3)], is_static=True),
    Case("ConcatV2", [[complexes(2, 3), complexes(2, 1)], fixed(-1)]),
    Case("Pack", [[complexes(2, 3), complexes(2, 3)]], {"axis": -1}),
    Case("Unpack", [complexes(2, 3)], {"num": 3, "axis": -1}),
    Case("Split", [fixed(-1), complexes(2, 4)], {"num_split": 2}),
    Case("Slice", [complexes(3, 4), fixed([1, 0]), fixed([2, -1])]),
    Case("StridedSlice", [complexes(3, 4), fixed([1, 0]), fixed([3, 4]), fixed([1, 2])]),
    Case(
        "StridedSlice",
        [complexes(3, 4), fixed([0, 1]), fixed([0, 2]), fixed([1, 1])],
        {"ellipsis_mask": 1, "shrink_axis_mask": 2},
    ),
    Case("Tile", [complexes(2, 3), fixed([1, 2])]),
    Case("BroadcastTo", [complexes(3), fixed([2, 3])]),
    Case("Roll", [complexes(2, 5), fixed(2), fixed(-1)]),
    Case("ReverseV2", [complexes(2, 5), fixed([-1])]),
    Case("BatchMatMulV2", [complexes(2, 3, 4), complexes(2, 4, 2)]),
    Case("BatchMatMulV2", [complexes(2, 4, 3), complexes(2, 2, 4)], {"adj_x": True, "adj_y": True}),
    Case("Cast", [complexes(2, 3)], {"DstT": "tf.float32"}),
    Case("Cast", [reals(2, 3)], {"DstT": "tf.complex64"}),
    Case("Fill", [fixed([2]), np.complex64(2 + 1j)]),
    Case("MatMul", [complexes(2, 3), complexes(2, 4)], {"transpose_a": True}),
    Case("Pad", [complexes(2, 3), fixed([[1, 0], [2, 1]])]),
    Case("PadV2", [complexes(3), fixed([[1, 1]]), fixed(1j, np.complex64)]),
    Case("MirrorPad", [complexes(3), fixed([[1, 1]])], {"mode": "REFLECT"}),
    Case("Select", [booleans(2, 4), complexes(2, 4), complexes(2, 4)]),
    Case("Select", [booleans(2), complexes(2, 4), complexes(2, 4)]),
    Case("SelectV2", [booleans(4), complexes(2, 4), complexes(1)]),
    *(Case("Cast", [value], {"DstT": "tf.complex128"}) for value in (complexes(3), reals(3))),
]
