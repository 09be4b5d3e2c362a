"""STRIDED_SLICE and SLICE against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import WITHOUT_FALLBACK, operator_test
from tests.frontend.tflite.models import constant, given, made, one


def strided(data, begin, end, strides, **options):
    return one("STRIDED_SLICE", data, constant(begin), constant(end), constant(strides), **options)


CASES = {
    "STRIDED_SLICE": lambda: strided(given((4, 5)), [1, 0], [3, 5], [1, 2]),
    "STRIDED_SLICE from the end": lambda: strided(given((4, 5), np.int32), [-3, -4], [-1, 100], [1, 1]),
    "STRIDED_SLICE backwards": lambda: strided(given((4, 5)), [3, -1], [0, -6], [-1, -2]),
    "STRIDED_SLICE begin_mask": lambda: strided(given((4, 5)), [3, 2], [4, 4], [1, 1], begin_mask=1),
    "STRIDED_SLICE end_mask": lambda: strided(given((4, 5)), [3, 2], [4, 3], [1, 1], end_mask=2),
    "STRIDED_SLICE masks backwards": lambda: strided(given((4,)), [1], [2], [-1], begin_mask=1, end_mask=1),
    "STRIDED_SLICE shrink_axis_mask": lambda: strided(given((4, 5)), [2, 0], [3, 5], [1, 1], shrink_axis_mask=1),
    "STRIDED_SLICE shrink from the end": lambda: strided(given((4, 5)), [-1, 0], [0, 5], [1, 1], shrink_axis_mask=1),
    "STRIDED_SLICE to a scalar": lambda: strided(given((3,)), [1], [2], [1], shrink_axis_mask=1),
    "STRIDED_SLICE new_axis_mask": lambda: strided(given((4, 5)), [0, 1], [0, 3], [1, 1], new_axis_mask=1),
    "STRIDED_SLICE ellipsis_mask": lambda: strided(given((2, 3, 4)), [0, 1], [0, 3], [1, 1], ellipsis_mask=1),
    "STRIDED_SLICE ellipsis, new axis and shrunk": lambda: strided(
        given((2, 3, 4)), [0, 0, 1], [0, 0, 3], [1, 1, 1], ellipsis_mask=1, new_axis_mask=2, shrink_axis_mask=4
    ),
    "STRIDED_SLICE ellipsis in the middle": lambda: strided(
        given((2, 3, 4)), [1, 0, 1], [2, 0, 3], [1, 1, 1], ellipsis_mask=2
    ),
    "STRIDED_SLICE offset": lambda: strided(given((4, 5)), [1, 2], [2, 2], [1, 1], offset=True),
    "STRIDED_SLICE of fewer axes": lambda: strided(given((4, 5)), [1], [3], [1]),
    "STRIDED_SLICE of nothing": lambda: strided(given((4, 5)), [3, 0], [1, 5], [1, 1]),
    "STRIDED_SLICE where the batch may change": lambda: strided(
        given((4, 5), signature=(-1, 5)), [0, 1], [0, 3], [1, 1], begin_mask=1, end_mask=1
    ),
    "STRIDED_SLICE, computed": lambda: one(
        "STRIDED_SLICE", given((4, 5)), given([1, 2], np.int32), given([3, -1], np.int32), constant([1, 1])
    ),
    "STRIDED_SLICE of bool": lambda: strided(given((4,), bool), [1], [3], [1]),
    "STRIDED_SLICE, quantized": lambda: strided(
        given((4,), scale=0.5), [1], [3], [1], outputs=[made(np.int8, scale=0.5)]
    ),
    "SLICE": lambda: one("SLICE", given((4, 5)), constant([1, 2]), constant([2, 3])),
    "SLICE to the end": lambda: one("SLICE", given((4, 5), np.int64), constant([1, 2]), constant([-1, 2])),
    "SLICE by i64": lambda: one("SLICE", given((4,)), constant([1], np.int64), constant([-1], np.int64)),
    "SLICE, computed": lambda: one("SLICE", given((4, 5)), given([1, 2], np.int32), given([2, -1], np.int32)),
    "SLICE of a known size": lambda: one("SLICE", given((4, 5)), given([1, 2], np.int32), constant([2, 1])),
    "SLICE, quantized": lambda: one(
        "SLICE", given((4,), scale=0.5), constant([1]), constant([2]), outputs=[made(np.int8, scale=0.5)]
    ),
}


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK, steps=0)
