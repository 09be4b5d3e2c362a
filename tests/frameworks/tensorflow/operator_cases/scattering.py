"""Scattering, segments and sparse tensors."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, fixed, integers, reals

_SEGMENTS = ["SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"]
_UNSORTED = ["UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"]
_SPARSE_SEGMENTS = ["SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"]
_UPDATES = ["Update", "Add", "Sub", "Max", "Min"]
_INDICES = np.array([[0, 0], [0, 2], [2, 1]], np.int64)

CASES = [
    Case("ScatterNd", [np.array([[4], [1], [4]], np.int32), reals(3), fixed([6])]),
    Case("ScatterNd", [np.array([[0, 1], [1, 1]], np.int64), reals(2, 3), fixed([2, 2, 3], np.int64)]),
    Case("ScatterNd", [np.array([[0], [2]], np.int32), integers(2, 3), np.array([4, 3], np.int32)]),
    *(Case(f"TensorScatter{name}", [reals(4, 3), np.array([[1], [3]], np.int32), reals(2, 3)]) for name in _UPDATES),
    *(
        Case(f"TensorScatter{name}", [integers(3, 3), np.array([[1, 2], [0, 0]], np.int64), integers(2)])
        for name in _UPDATES
    ),
    *(Case(name, [reals(4, 2), np.array([0, 0, 2, 3], np.int32)]) for name in _SEGMENTS),
    *(Case(name, [reals(4), np.array([0, 1, 1, 1], np.int64)]) for name in _SEGMENTS),
    *(Case(name, [integers(4, 2), np.array([0, 0, 1, 1], np.int32)]) for name in ("SegmentSum", "SegmentMax")),
    *(Case(name, [reals(4, 2), np.array([2, 0, 2, 0], np.int32), fixed(4)]) for name in _UNSORTED),
    *(Case(name, [reals(4), np.array([2, -1, 2, 0], np.int64), fixed(3)]) for name in _UNSORTED),
    *(Case(name, [integers(2, 2), np.array([[2, 1], [1, 0]], np.int32), np.int32(3)]) for name in _UNSORTED),
    *(
        Case(name, [reals(5, 2), np.array([4, 0, 2], np.int32), np.array([0, 0, 1], np.int32)])
        for name in _SPARSE_SEGMENTS
    ),
    *(
        Case(name, [reals(5), np.array([4, 0, 2], np.int64), np.array([0, 2, 2], np.int64)])
        for name in _SPARSE_SEGMENTS
    ),
    *(
        Case(f"{name}WithNumSegments", [reals(5, 2), np.array([4, 0], np.int32), np.array([0, 1], np.int32), fixed(3)])
        for name in _SPARSE_SEGMENTS
    ),
    Case("SparseToDense", [np.array([1, 3], np.int32), fixed([5]), reals(2), fixed(0, np.float32)]),
    Case(
        "SparseToDense",
        [np.array([[0, 1], [1, 0]], np.int64), fixed([2, 2], np.int64), np.float32(3), fixed(-1, np.float32)],
    ),
    Case("SparseReshape", [_INDICES, fixed([3, 4], np.int64), fixed([2, 6], np.int64)]),
    Case("SparseReshape", [_INDICES, np.array([3, 4], np.int64), np.array([-1, 2], np.int64)]),
    Case("SparseFillEmptyRows", [_INDICES, reals(3), np.array([4, 3], np.int64), fixed(0.5, np.float32)]),
    Case("SparseFillEmptyRows", [_INDICES, integers(3), fixed([3, 3], np.int64), np.int32(7)]),
    Case("SparseTensorDenseMatMul", [_INDICES, reals(3), np.array([3, 4], np.int64), reals(4, 2)]),
    Case(
        "SparseTensorDenseMatMul",
        [_INDICES, reals(3), fixed([3, 4], np.int64), reals(2, 3)],
        {"adjoint_a": True, "adjoint_b": True},
    ),
    Case("RaggedTensorToSparse", [[np.array([0, 2, 2, 5], np.int64)], reals(5)]),
    Case("RaggedTensorToSparse", [[np.array([0, 2, 3], np.int64), np.array([0, 1, 1, 4], np.int64)], integers(4)]),
    *(
        Case(
            "RaggedTensorToTensor",
            [fixed(shape, np.int64), reals(5), fixed(9, np.float32), [np.array([0, 2, 2, 5], np.int64)]],
            {"row_partition_types": ["ROW_SPLITS"]},
        )
        for shape in (-1, [-1, -1], [4, 2])
    ),
    Case(
        "RaggedTensorToTensor",
        [
            fixed([-1, -1], np.int64),
            reals(4),
            fixed(0, np.float32),
            [fixed(3, np.int64), np.array([0, 0, 2, 2], np.int64)],
        ],
        {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]},
    ),
    Case(
        "RaggedTensorToTensor",
        [
            fixed([-1, -1, -1, 2], np.int64),
            reals(4, 2),
            fixed(0, np.float32),
            [np.array([0, 2, 3], np.int64), np.array([0, 1, 1, 4], np.int64)],
        ],
        {"row_partition_types": ["ROW_SPLITS", "ROW_SPLITS"]},
    ),
    Case("RaggedRange", [np.array([2, 5, 8], np.int32), np.array([3, 5, 12], np.int32), np.array([1, 1, 2], np.int32)]),
    Case(
        "RaggedRange",
        [fixed(0, np.float32), np.array([3, 0, 1.5], np.float32), fixed(0.5, np.float32)],
        {"Tsplits": "tf.int32"},
    ),
    Case("ScatterNdNonAliasingAdd", [reals(4, 3), np.array([[1], [1]], np.int32), reals(2, 3)]),
    Case("SparseReorder", [np.array([[2, 1], [0, 2], [0, 0]], np.int64), reals(3), np.array([3, 4], np.int64)]),
    Case("SparseReduceSum", [_INDICES, reals(3), np.array([3, 4], np.int64), fixed([1])]),
    Case("SparseReduceSum", [_INDICES, reals(3), fixed([3, 4], np.int64), fixed([0])], {"keep_dims": True}),
    *(
        Case("SparseTensorDenseAdd", [fixed(indices, kind), values, np.array([3, 4], kind), dense])
        for indices, kind in (([[0, 1], [2, 3], [0, 1]], np.int64), ([[1, 1], [0, 0], [2, 2]], np.int32))
        for values, dense in ((reals(3), reals(3, 4)), (integers(3), integers(3, 4)))
    ),
    *(
        Case("RaggedBincount", [splits, np.array([1, 3, 1, 0, 9], kind), fixed(5, kind), weights], attributes)
        for splits in (np.array([0, 3, 3, 5]),)
        for kind, weights, attributes in (
            (np.int32, fixed(np.zeros(0), np.float32), {}),
            (np.int64, reals(5), {}),
            (np.int64, fixed(np.zeros(0), np.int32), {"binary_output": True}),
        )
    ),
]
