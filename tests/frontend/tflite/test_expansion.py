"""Padding, tiling, broadcasting and operators on shapes against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import WITHOUT_FALLBACK, operator_test
from tests.frontend.tflite.models import constant, given, made, one

CASES = {
    "PAD": lambda: one("PAD", given((2, 3)), constant([[1, 0], [2, 3]])),
    "PAD by i64": lambda: one("PAD", given((2, 3), np.int32), constant([[1, 0], [2, 3]], np.int64)),
    "PAD, computed": lambda: one("PAD", given((2, 3)), given([[1, 0], [2, 3]], np.int32)),
    "PAD where the batch may change": lambda: one("PAD", given((2, 3), signature=(-1, 3)), constant([[0, 0], [1, 1]])),
    "PAD, quantized": lambda: one(
        "PAD",
        given((2, 3), scale=0.5, zero_point=-7),
        constant([[1, 0], [2, 3]]),
        outputs=[made(np.int8, scale=0.5, zero_point=-7)],
    ),
    "PADV2": lambda: one("PADV2", given((2, 3)), constant([[1, 0], [2, 3]]), constant(1.5)),
    "PADV2 by a vector of one": lambda: one(
        "PADV2", given((2,), np.int64), constant([[1, 2]]), constant([5], np.int64)
    ),
    "PADV2, quantized": lambda: one(
        "PADV2",
        given((2,), scale=0.5, zero_point=-7),
        constant([[1, 2]]),
        constant(9, np.int8, scale=0.5, zero_point=-7),
        outputs=[made(np.int8, scale=0.5, zero_point=-7)],
    ),
    "MIRROR_PAD": lambda: one("MIRROR_PAD", given((2, 4)), constant([[1, 0], [2, 3]]), mode="REFLECT"),
    "MIRROR_PAD with the ends": lambda: one("MIRROR_PAD", given((2, 4)), constant([[1, 2], [4, 3]]), mode="SYMMETRIC"),
    "MIRROR_PAD, quantized": lambda: one(
        "MIRROR_PAD", given((4,), scale=0.5), constant([[3, 3]]), outputs=[made(np.int8, scale=0.5)], mode="REFLECT"
    ),
    "TILE": lambda: one("TILE", given((2, 3)), constant([2, 3])),
    "TILE by i64": lambda: one("TILE", given((2, 3), bool), constant([1, 0], np.int64)),
    "TILE, computed": lambda: one("TILE", given((2, 3)), given([2, 1], np.int32)),
    "BROADCAST_TO": lambda: one("BROADCAST_TO", given((3, 1)), constant([2, 3, 4]), version=2),
    "BROADCAST_TO, computed": lambda: one("BROADCAST_TO", given((1,), np.int32), given([2, 3], np.int64), version=2),
    "FILL": lambda: one("FILL", constant([2, 3]), given(()), outputs=[made(np.float32)]),
    "FILL, computed": lambda: one("FILL", given([2, 3], np.int64), constant(5), outputs=[made(np.int32)]),
    "FILL to a scalar": lambda: one("FILL", constant(np.zeros(0, np.int32)), given((), bool), outputs=[made(bool)]),
    "ZEROS_LIKE": lambda: one("ZEROS_LIKE", given((2, 3), signature=(-1, 3))),
    "ZEROS_LIKE of i64": lambda: one("ZEROS_LIKE", given((2, 3), np.int64)),
    "SHAPE": lambda: one("SHAPE", given((2, 3), signature=(-1, 3)), outputs=[made(np.int32)], out_type="INT32"),
    "SHAPE in i64": lambda: one("SHAPE", given((2, 3)), outputs=[made(np.int64)], out_type="INT64"),
    "RANK": lambda: one("RANK", given((2, 3, 1)), outputs=[made(np.int32)]),
    "RANGE": lambda: one("RANGE", constant(1), constant(9), given(3, np.int32)),
    "RANGE backwards": lambda: one("RANGE", constant(9), given(1, np.int32), constant(-2)),
    "RANGE of i64": lambda: one("RANGE", given(1, np.int64), constant(4, np.int64), constant(1, np.int64)),
    "RANGE of f32": lambda: one("RANGE", given(0.5, np.float32), constant(2.0), constant(0.3)),
    "BROADCAST_ARGS": lambda: one("BROADCAST_ARGS", given([3, 1], np.int32), given([2, 1, 0], np.int32)),
    "BROADCAST_ARGS of i64": lambda: one("BROADCAST_ARGS", given([3, 1], np.int64), constant([1, 4], np.int64)),
    "ONE_HOT": lambda: one(
        "ONE_HOT", given([[0, 2], [-1, 5]], np.int32), constant(3), constant(2.0), constant(-1.0),
        outputs=[made(np.float32)], axis=-1,
    ),
    "ONE_HOT along an axis": lambda: one(
        "ONE_HOT", given([0, 2], np.int64), given([3], np.int32), constant([True]), constant([False]),
        outputs=[made(bool)], axis=0,
    ),
    "MATRIX_DIAG": lambda: one("MATRIX_DIAG", given((2, 3), signature=(-1, 3))),
    "MATRIX_DIAG, quantized": lambda: one(
        "MATRIX_DIAG", given((3,), scale=0.5, zero_point=3), outputs=[made(np.int8, scale=0.5, zero_point=3)]
    ),
    "MATRIX_SET_DIAG": lambda: one("MATRIX_SET_DIAG", given((2, 3, 2)), given((2, 2))),
    "MATRIX_SET_DIAG of more columns": lambda: one("MATRIX_SET_DIAG", given((2, 3), np.int64), given((2,), np.int64)),
}  # fmt: skip


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK, steps=0)
