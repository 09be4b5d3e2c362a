"""Operators that nearly every model has: shapes, slices, joins, convolutions, pooling and conversions."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, booleans, fixed, integers, reals

_ONES = [1, 1, 1, 1]

CASES = [
    *(
        Case("Reshape", [reals(2, 6), shape])
        for shape in (fixed([3, 4]), fixed([-1]), np.array([4, -1], np.int32), fixed([2, -1, 3], np.int64))
    ),
    *(Case("Transpose", [reals(2, 3, 4), order]) for order in (fixed([2, 0, 1]), np.array([1, 0, 2], np.int32))),
    *(Case("ExpandDims", [reals(2, 3), fixed(axis)]) for axis in (0, -1, 1)),
    *(Case("Squeeze", [reals(1, 3, 1)], {"axis": axes}, is_static=not axes) for axes in ([], [0], [-1, 0])),
    *(Case("ConcatV2", [[reals(2, 3), reals(2, 2)], fixed(axis)]) for axis in (1, -1)),
    Case("Concat", [fixed(0), [reals(2, 3), reals(1, 3)]]),
    *(Case("Pack", [[reals(2, 3), reals(2, 3)]], {"axis": axis}) for axis in (0, 2, -1)),
    Case("Slice", [reals(3, 4), fixed([1, 0]), fixed([-1, 2])]),
    Case("Slice", [reals(3, 4), np.array([1, 1], np.int32), fixed([2, 2])]),
    *(
        Case("StridedSlice", [reals(4, 5, 3), fixed([1, 0, 2]), fixed([3, 5, 0]), fixed([1, 2, -1])], masks)
        for masks in (
            {},
            {"begin_mask": 1, "end_mask": 2},
            {"shrink_axis_mask": 1},
            {"new_axis_mask": 2},
            {"end_mask": 4},
        )
    ),
    Case("StridedSlice", [reals(4, 5, 3), fixed([0, 1]), fixed([0, 2]), fixed([1, 1])], {"ellipsis_mask": 1}),
    Case("Pad", [reals(2, 3), fixed([[1, 0], [2, 1]])]),
    Case("Pad", [integers(2, 3), np.array([[1, 0], [2, 1]], np.int64)]),
    *(
        Case("Cast", [value], {"DstT": kind})
        for value in (reals(2, 3), integers(2, 3), booleans(4))
        for kind in ("tf.int64", "tf.float16", "tf.bool", "tf.uint8", "tf.int32", "tf.float64")
        # The conversion of negative numbers to unsigned integers is not defined.
        if not (kind == "tf.uint8" and value.dtype.kind == "f")
    ),
    *(
        Case(
            "MatMul",
            [reals(3, 4) if not a else reals(4, 3), reals(4, 2) if not b else reals(2, 4)],
            {"transpose_a": a, "transpose_b": b},
        )
        for a in (False, True)
        for b in (False, True)
    ),
    Case("BiasAdd", [reals(2, 3, 4), reals(4)]),
    *(
        Case(
            "Conv2D",
            [reals(1, 7, 8, 3), fixed(reals(3, 2, 3, 4), np.float32)],
            {"strides": [1, stride, stride, 1], "padding": padding, "dilations": [1, rate, rate, 1]},
        )
        for stride, padding, rate in ((1, "SAME", 1), (2, "VALID", 1), (1, "VALID", 2), (2, "SAME", 1))
    ),
    Case(
        "Conv2D",
        [reals(1, 7, 8, 3), reals(3, 2, 3, 4)],
        {"strides": _ONES, "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]},
    ),
    Case(
        "DepthwiseConv2dNative",
        [reals(1, 7, 8, 3), fixed(reals(3, 2, 3, 2), np.float32)],
        {"strides": _ONES, "padding": "SAME"},
    ),
    Case(
        "Conv3D",
        [reals(1, 4, 5, 6, 2), fixed(reals(2, 3, 2, 2, 3), np.float32)],
        {"strides": [1, 1, 2, 1, 1], "padding": "SAME"},
    ),
    Case(
        "Conv2DBackpropInput",
        [fixed([1, 8, 8, 3]), fixed(reals(3, 3, 3, 4), np.float32), reals(1, 4, 4, 4)],
        {"strides": [1, 2, 2, 1], "padding": "SAME"},
    ),
    *(
        Case(name, [reals(1, 7, 8, 3)], {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": padding})
        for name in ("MaxPool", "AvgPool")
        for padding in ("SAME", "VALID")
    ),
    *(
        Case(name, [reals(1, 5, 6, 7, 2)], {"ksize": [1, 2, 2, 3, 1], "strides": [1, 2, 1, 1, 1], "padding": "SAME"})
        for name in ("MaxPool3D", "AvgPool3D")
    ),
    *(
        Case(
            name,
            [reals(2, 3, 4, 5), reals(5), reals(5), reals(5), reals(5, low=0.1)],
            {"is_training": False},
            outputs=[0],
        )
        for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
        if name != "FusedBatchNormV2"
    ),
    *(
        Case(
            "FusedBatchNormV3",
            [reals(2, 3, 4, 5), reals(5), reals(5), reals(5), reals(5, low=0.1)],
            {"is_training": True, "exponential_avg_factor": factor},
            outputs=[0, 1, 2],
        )
        for factor in (1.0, 0.25)
    ),
    Case("Slice", [reals(3, 4), np.array([1, 0], np.int32), np.array([-1, 2], np.int32)]),
    Case("Slice", [reals(), fixed(np.zeros(0)), fixed(np.zeros(0))]),
    Case("StridedSlice", [reals(4, 5), np.array([1, -2], np.int32), np.array([3, 5], np.int32), fixed([1, 1])]),
    *(Case("Empty", [fixed([2, 3])], {"dtype": kind, "init": True}) for kind in ("tf.float32", "tf.int8")),
    Case("Empty", [np.array([2, 0], np.int32)], {"dtype": "tf.string"}, is_random=True),
    *(
        Case("StridedSlice", [reals(length), fixed([begin]), fixed([end]), fixed([stride])], masks)
        for length, begin, end, stride, masks in (
            (1, -2, 0, -1, {"end_mask": 1}),
            (1, -2, -5, -1, {}),
            (3, -4, 0, -2, {"end_mask": 1}),
            (3, -3, -9, -1, {}),
            (3, 9, 0, -1, {"end_mask": 1}),
            (3, 0, 5, -1, {"begin_mask": 1}),
            (3, -9, 2, 1, {}),
        )
    ),
    Case("StridedSlice", [reals(2, 3, 4), fixed([0, -4]), fixed([2, 0]), fixed([1, -1])], {"end_mask": 2}),
    Case(
        "StridedSlice",
        [reals(2, 3, 4), fixed([0, 0, -5]), fixed([0, 0, 0]), fixed([1, 1, -1])],
        {"ellipsis_mask": 1, "new_axis_mask": 2, "end_mask": 4},
    ),
    Case("StridedSlice", [reals(3), np.array([-4], np.int32), np.array([-9], np.int32), fixed([-1])]),
    *(
        Case("Bitcast", [values], {"type": kind})
        for values, kind in (
            (reals(2, 3), "tf.uint8"),
            (reals(2, 3), "tf.int16"),
            (reals(2, 3, dtype=np.float64), "tf.uint32"),
            (integers(2, 4, dtype=np.uint8, low=0, high=200), "tf.int32"),
            (integers(3, 2, dtype=np.int16), "tf.int32"),
            (integers(3, 2), "tf.int64"),
            (integers(4, 2, high=2**30), "tf.float64"),
            (integers(3, 2, dtype=np.int64), "tf.int8"),
        )
    ),
]
