"""Reductions, cumulative sums, sorting, searching and counting."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, booleans, fixed, integers, reals

_REDUCTIONS = ["Max", "Mean", "Min", "Prod", "Sum", "EuclideanNorm"]
_REPEATED = np.array([4, 1, 4, 2, 1, 7], np.int32)

CASES = [
    *(
        Case(name, [reals(2, 3, 4), fixed(axes)], {"keep_dims": keep})
        for name in _REDUCTIONS
        for axes, keep in (([1], False), ([0, 2], True), (-1, False), ([0, 1, 2], False))
    ),
    *(Case(name, [integers(2, 3), fixed([1])]) for name in _REDUCTIONS if name != "Mean"),
    *(Case(name, [reals(2, 3), fixed(np.zeros(0))]) for name in ("Sum", "Max")),
    *(
        Case(name, [booleans(2, 3), fixed(axes)], {"keep_dims": keep})
        for name in ("All", "Any")
        for axes, keep in (([1], False), ([0, 1], True), (0, False))
    ),
    *(
        Case(name, [reals(2, 3, 4), fixed(axis)], {"output_type": kind})
        for name in ("ArgMax", "ArgMin")
        for axis, kind in ((0, "tf.int64"), (-1, "tf.int32"), (1, "tf.int64"))
    ),
    Case("ArgMax", [_REPEATED, fixed(0)]),
    *(
        Case(name, [reals(2, 3, 4), fixed(axis)], {"exclusive": exclusive, "reverse": reverse})
        for name in ("Cumsum", "Cumprod")
        for axis, exclusive, reverse in ((0, False, False), (-1, True, False), (1, False, True), (2, True, True))
    ),
    Case("Cumsum", [integers(5), fixed(0)]),
    Case("L2Loss", [reals(2, 3)]),
    Case("L2Loss", [reals(4)]),
    *(Case("TopKV2", [value, fixed(k)]) for value, k in ((reals(2, 5), 3), (reals(6), 1), (_REPEATED, 4))),
    Case("TopKV2", [reals(2, 3, 4), np.int32(2)], {"sorted": True}),
    *(
        Case(name, [_REPEATED], {"out_idx": kind})
        for name in ("Unique", "UniqueWithCounts")
        for kind in ("tf.int32", "tf.int64")
    ),
    Case("Unique", [np.array([1.5, 0.5, 1.5], np.float32)]),
    Case("UniqueV2", [_REPEATED, fixed(np.zeros(0), np.int64)]),
    Case("UniqueV2", [np.array([[1, 2], [3, 4], [1, 2]], np.int32), fixed([0], np.int64)]),
    Case("UniqueWithCountsV2", [np.array([[1, 2, 1], [3, 4, 3]], np.int32), fixed([1], np.int64)]),
    Case("Where", [booleans(3, 4)]),
    Case("Where", [reals(2, 2, 2)]),
    Case("Where", [np.array([0, 1, 0, 2], np.int32)]),
    Case("ListDiff", [_REPEATED, np.array([4, 7], np.int32)]),
    Case("ListDiff", [_REPEATED, np.array([9, 1], np.int32)], {"out_idx": "tf.int64"}),
    Case("Bucketize", [reals(2, 3)], {"boundaries": [-1.0, 0.0, 1.0]}),
    Case("Bucketize", [integers(6, low=0, high=10)], {"boundaries": [2.0, 5.0]}),
    *(
        Case(
            name,
            [np.array([[0, 3, 9, 9, 10], [1, 2, 3, 4, 5]], kind), np.array([[2, 9, 11], [0, 2, 6]], kind)],
            {"out_type": out},
        )
        for name in ("LowerBound", "UpperBound")
        for kind, out in ((np.int32, "tf.int32"), (np.float32, "tf.int64"))
    ),
    Case("InvertPermutation", [np.array([3, 4, 0, 2, 1], np.int32)]),
    Case("InvertPermutation", [np.array([1, 0], np.int64)]),
    Case("Bincount", [np.array([1, 3, 3, 9], np.int32), fixed(5), fixed(np.zeros(0), np.int32)]),
    Case("Bincount", [np.array([[1, 3], [3, 0]], np.int32), fixed(4), reals(2, 2)]),
    Case("DenseBincount", [np.array([1, 3, 3, 9], np.int32), fixed(5), fixed(np.zeros(0), np.float32)]),
    Case("DenseBincount", [np.array([[1, 3], [3, 3]], np.int32), fixed(5), fixed(np.zeros(0), np.float32)]),
    Case("DenseBincount", [np.array([[1, 3], [3, 3]], np.int32), fixed(5), reals(2, 2)]),
    Case(
        "DenseBincount",
        [np.array([[1, 7], [3, 3]], np.int64), fixed(5, np.int64), fixed(np.zeros(0), np.int64)],
        {"binary_output": True},
    ),
    Case("InTopKV2", [reals(3, 5), integers(3, low=0, high=5), fixed(2)]),
    Case("InTopK", [reals(3, 5), integers(3, low=0, high=5)], {"k": 2}),
    *(Case(name, [reals(2, 3)]) for name in ("Softmax", "LogSoftmax")),
    *(Case(name, [reals(4)]) for name in ("Softmax", "LogSoftmax")),
    *(Case(name, [reals(2, 2, 3)]) for name in ("Softmax", "LogSoftmax")),
    Case("LRN", [reals(1, 2, 2, 8)]),
    Case("LRN", [reals(1, 2, 2, 8)], {"depth_radius": 2, "bias": 2.0, "alpha": 0.5, "beta": 0.75}),
    Case("NthElement", [reals(3, 5), fixed(2)]),
    Case("NthElement", [reals(5), np.int32(1)], {"reverse": True}),
    *(
        Case("CumulativeLogsumexp", [reals(2, 5), fixed(1)], {"exclusive": exclusive, "reverse": reverse})
        for exclusive in (False, True)
        for reverse in (False, True)
    ),
    Case("SoftmaxCrossEntropyWithLogits", [reals(3, 4), np.eye(3, 4, dtype=np.float32)]),
    Case("SparseSoftmaxCrossEntropyWithLogits", [reals(3, 4), np.array([1, 0, 3], np.int32)]),
    Case("HistogramFixedWidth", [reals(3, 20), fixed([-1, 1], np.float32), fixed(8)]),
    Case("HistogramFixedWidth", [integers(20), fixed([-3, 3]), fixed(3)], {"dtype": "tf.int64"}, is_static=True),
    *(
        Case("CumulativeLogsumexp", [values, fixed(0)], {"reverse": reverse})
        for values in (np.array([-1000, 0, 1000], np.float32), np.array([-np.inf, np.inf, 1], np.float32))
        for reverse in (False, True)
    ),
]
