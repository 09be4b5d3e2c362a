"""Gather, non-zero indices, unique, top-k and lookups against LiteRT."""

import ml_dtypes
import numpy as np

from tests.frontend.tflite.agreement import WITHOUT_FALLBACK, operator_test
from tests.frontend.tflite.models import constant, feed, model_of, out

EQUAL_ONES = [[1, 5, 5, 2], [7, 1, 0, 7]]


def top(array, count, kind=np.int32):
    return model_of("TOPK_V2", feed(array), count, outputs=[out(array.dtype), out(kind)])


def table(rows, kind):
    keys, wanted = constant([1, 2, 5]), feed(np.array([5, 1, 9, 2, -7], np.int32))
    return model_of("HASHTABLE_LOOKUP", wanted, keys, constant(rows), outputs=[out(kind), out(np.uint8)])


CASES = {
    "GATHER": lambda: model_of("GATHER", feed((4, 3)), constant([2, 0]), axis=0),
    "GATHER along an axis": lambda: model_of(
        "GATHER", feed((2, 4), np.int64), feed([[1, 3], [0, 0]], np.int64), axis=-1
    ),
    "GATHER of one": lambda: model_of("GATHER", feed((2, 4)), constant(3), axis=1),
    "GATHER by i16": lambda: model_of("GATHER", feed((4,), bool), constant([3, 1], np.int16)),
    "GATHER in batches": lambda: model_of(
        "GATHER", feed((2, 4, 3)), feed([[1, 3], [0, 0]], np.int32), axis=1, batch_dims=1
    ),
    "GATHER where the batch may change": lambda: model_of(
        "GATHER", feed((2, 4), signature=(-1, 4)), constant([1, 3]), axis=1
    ),
    "GATHER, quantized": lambda: model_of(
        "GATHER", feed((4,), scale=0.5), constant([1, 3]), outputs=[out(np.int8, scale=0.5)]
    ),
    "GATHER of packed integers": lambda: model_of(
        "GATHER",
        constant(np.arange(-8, 8).reshape(4, 4).astype(ml_dtypes.int4), scale=0.5),
        feed([1, 3], np.int32),
        outputs=[out(np.int8, scale=0.5)],
    ),
    "GATHER_ND": lambda: model_of("GATHER_ND", feed((2, 3, 4)), constant([[0, 2], [1, 1]])),
    "GATHER_ND of elements": lambda: model_of("GATHER_ND", feed((2, 3), np.int8), feed([[[0, 2]], [[1, 1]]], np.int64)),
    "WHERE": lambda: model_of("WHERE", feed([[True, False], [True, True]], bool), outputs=[out(np.int64)]),
    "WHERE of numbers": lambda: model_of("WHERE", feed([0.0, 2.0, 0.0, -1.0]), outputs=[out(np.int64)]),
    "UNIQUE": lambda: model_of(
        "UNIQUE", feed([3.0, 1.0, 3.0, 2.0]), outputs=[out(np.float32), out(np.int32)], idx_out_type="INT32"
    ),
    "UNIQUE by i64": lambda: model_of(
        "UNIQUE", feed([3, 1, 3, 2], np.int64), outputs=[out(np.int64), out(np.int64)], idx_out_type="INT64"
    ),
    "TOPK_V2": lambda: top(np.float32(EQUAL_ONES), constant(3)),
    "TOPK_V2 of i8": lambda: top(np.int8(EQUAL_ONES), constant(3)),
    "TOPK_V2 by i16": lambda: top(np.int16(EQUAL_ONES), constant(2, np.int16), np.int16),
    "TOPK_V2, computed": lambda: top(np.int64(EQUAL_ONES), feed(2, np.int32)),
    "BUCKETIZE": lambda: model_of(
        "BUCKETIZE", feed([[-5.0, 0.0], [0.5, 100]]), outputs=[out(np.int32)], boundaries=[0.0, 1.0, 10.0]
    ),
    "BUCKETIZE of i64": lambda: model_of(
        "BUCKETIZE", feed([-5, 0, 1, 2, 10], np.int64), outputs=[out(np.int32)], boundaries=[0.0, 1.5, 10.0]
    ),
    "HASHTABLE_LOOKUP": lambda: table(np.arange(3, dtype=np.int32) + 1, np.int32),
    "HASHTABLE_LOOKUP of rows": lambda: table(np.arange(12, dtype=np.float32).reshape(3, 2, 2) + 1, np.float32),
}


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK, steps=0)
