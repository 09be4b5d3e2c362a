"""Padding, tiling, broadcasting and operators on shapes against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import WITHOUT_FALLBACK, operator_test
from tests.frontend.tflite.models import constant, feed, model_of, out

CASES = {
    "PAD": lambda: model_of("PAD", feed((2, 3)), constant([[1, 0], [2, 3]])),
    "PAD by i64": lambda: model_of("PAD", feed((2, 3), np.int32), constant([[1, 0], [2, 3]], np.int64)),
    "PAD, computed": lambda: model_of("PAD", feed((2, 3)), feed([[1, 0], [2, 3]], np.int32)),
    "PAD, dynamic batch": lambda: model_of("PAD", feed((2, 3), signature=(-1, 3)), constant([[0, 0], [1, 1]])),
    "PAD, quantized": lambda: model_of(
        "PAD",
        feed((2, 3), scale=0.5, zero_point=-7),
        constant([[1, 0], [2, 3]]),
        outputs=[out(np.int8, scale=0.5, zero_point=-7)],
    ),
    "PADV2": lambda: model_of("PADV2", feed((2, 3)), constant([[1, 0], [2, 3]]), constant(1.5)),
    "PADV2 by a vector of one": lambda: model_of(
        "PADV2", feed((2,), np.int64), constant([[1, 2]]), constant([5], np.int64)
    ),
    "PADV2, quantized": lambda: model_of(
        "PADV2",
        feed((2,), scale=0.5, zero_point=-7),
        constant([[1, 2]]),
        constant(9, np.int8, scale=0.5, zero_point=-7),
        outputs=[out(np.int8, scale=0.5, zero_point=-7)],
    ),
    "MIRROR_PAD": lambda: model_of("MIRROR_PAD", feed((2, 4)), constant([[1, 0], [2, 3]]), mode="REFLECT"),
    "MIRROR_PAD, symmetric": lambda: model_of("MIRROR_PAD", feed((2, 4)), constant([[1, 2], [4, 3]]), mode="SYMMETRIC"),
    "MIRROR_PAD, quantized": lambda: model_of(
        "MIRROR_PAD", feed((4,), scale=0.5), constant([[3, 3]]), outputs=[out(np.int8, scale=0.5)], mode="REFLECT"
    ),
    "TILE": lambda: model_of("TILE", feed((2, 3)), constant([2, 3])),
    "TILE by i64": lambda: model_of("TILE", feed((2, 3), bool), constant([1, 0], np.int64)),
    "TILE, computed": lambda: model_of("TILE", feed((2, 3)), feed([2, 1], np.int32)),
    "BROADCAST_TO": lambda: model_of("BROADCAST_TO", feed((3, 1)), constant([2, 3, 4]), version=2),
    "BROADCAST_TO, computed": lambda: model_of("BROADCAST_TO", feed((1,), np.int32), feed([2, 3], np.int64), version=2),
    "FILL": lambda: model_of("FILL", constant([2, 3]), feed(()), outputs=[out(np.float32)]),
    "FILL, computed": lambda: model_of("FILL", feed([2, 3], np.int64), constant(5), outputs=[out(np.int32)]),
    "FILL to a scalar": lambda: model_of("FILL", constant(np.zeros(0, np.int32)), feed((), bool), outputs=[out(bool)]),
    "ZEROS_LIKE": lambda: model_of("ZEROS_LIKE", feed((2, 3), signature=(-1, 3))),
    "ZEROS_LIKE of i64": lambda: model_of("ZEROS_LIKE", feed((2, 3), np.int64)),
    "SHAPE": lambda: model_of("SHAPE", feed((2, 3), signature=(-1, 3)), outputs=[out(np.int32)], out_type="INT32"),
    "SHAPE in i64": lambda: model_of("SHAPE", feed((2, 3)), outputs=[out(np.int64)], out_type="INT64"),
    "RANK": lambda: model_of("RANK", feed((2, 3, 1)), outputs=[out(np.int32)]),
    "RANGE": lambda: model_of("RANGE", constant(1), constant(9), feed(3, np.int32)),
    "RANGE backwards": lambda: model_of("RANGE", constant(9), feed(1, np.int32), constant(-2)),
    "RANGE of i64": lambda: model_of("RANGE", feed(1, np.int64), constant(4, np.int64), constant(1, np.int64)),
    "RANGE of f32": lambda: model_of("RANGE", feed(0.5, np.float32), constant(2.0), constant(0.3)),
    "BROADCAST_ARGS": lambda: model_of("BROADCAST_ARGS", feed([3, 1], np.int32), feed([2, 1, 0], np.int32)),
    "BROADCAST_ARGS of i64": lambda: model_of("BROADCAST_ARGS", feed([3, 1], np.int64), constant([1, 4], np.int64)),
    "ONE_HOT": lambda: model_of(
        "ONE_HOT", feed([[0, 2], [-1, 5]], np.int32), constant(3), constant(2.0), constant(-1.0),
        outputs=[out(np.float32)], axis=-1,
    ),
    "ONE_HOT along an axis": lambda: model_of(
        "ONE_HOT", feed([0, 2], np.int64), feed([3], np.int32), constant([True]), constant([False]),
        outputs=[out(bool)], axis=0,
    ),
    "MATRIX_DIAG": lambda: model_of("MATRIX_DIAG", feed((2, 3), signature=(-1, 3))),
    "MATRIX_DIAG, quantized": lambda: model_of(
        "MATRIX_DIAG", feed((3,), scale=0.5, zero_point=3), outputs=[out(np.int8, scale=0.5, zero_point=3)]
    ),
    "MATRIX_SET_DIAG": lambda: model_of("MATRIX_SET_DIAG", feed((2, 3, 2)), feed((2, 2))),
    "MATRIX_SET_DIAG, more columns": lambda: model_of("MATRIX_SET_DIAG", feed((2, 3), np.int64), feed((2,), np.int64)),
}  # fmt: skip


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK, steps=0)
