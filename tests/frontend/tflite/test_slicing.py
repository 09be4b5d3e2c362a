"""STRIDED_SLICE and SLICE against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import WITHOUT_FALLBACK, operator_test
from tests.frontend.tflite.models import constant, feed, model_of, out


def strided(data, begin, end, strides, **options):
    return model_of("STRIDED_SLICE", data, constant(begin), constant(end), constant(strides), **options)


CASES = {
    "STRIDED_SLICE": lambda: strided(feed((4, 5)), [1, 0], [3, 5], [1, 2]),
    "STRIDED_SLICE from the end": lambda: strided(feed((4, 5), np.int32), [-3, -4], [-1, 100], [1, 1]),
    "STRIDED_SLICE backwards": lambda: strided(feed((4, 5)), [3, -1], [0, -6], [-1, -2]),
    "STRIDED_SLICE begin_mask": lambda: strided(feed((4, 5)), [3, 2], [4, 4], [1, 1], begin_mask=1),
    "STRIDED_SLICE end_mask": lambda: strided(feed((4, 5)), [3, 2], [4, 3], [1, 1], end_mask=2),
    "STRIDED_SLICE masks backwards": lambda: strided(feed((4,)), [1], [2], [-1], begin_mask=1, end_mask=1),
    "STRIDED_SLICE shrink_axis_mask": lambda: strided(feed((4, 5)), [2, 0], [3, 5], [1, 1], shrink_axis_mask=1),
    "STRIDED_SLICE shrink from the end": lambda: strided(feed((4, 5)), [-1, 0], [0, 5], [1, 1], shrink_axis_mask=1),
    "STRIDED_SLICE to a scalar": lambda: strided(feed((3,)), [1], [2], [1], shrink_axis_mask=1),
    "STRIDED_SLICE new_axis_mask": lambda: strided(feed((4, 5)), [0, 1], [0, 3], [1, 1], new_axis_mask=1),
    "STRIDED_SLICE ellipsis_mask": lambda: strided(feed((2, 3, 4)), [0, 1], [0, 3], [1, 1], ellipsis_mask=1),
    "STRIDED_SLICE ellipsis, new axis and shrunk": lambda: strided(
        feed((2, 3, 4)), [0, 0, 1], [0, 0, 3], [1, 1, 1], ellipsis_mask=1, new_axis_mask=2, shrink_axis_mask=4
    ),
    "STRIDED_SLICE ellipsis in the middle": lambda: strided(
        feed((2, 3, 4)), [1, 0, 1], [2, 0, 3], [1, 1, 1], ellipsis_mask=2
    ),
    "STRIDED_SLICE offset": lambda: strided(feed((4, 5)), [1, 2], [2, 2], [1, 1], offset=True),
    "STRIDED_SLICE of fewer axes": lambda: strided(feed((4, 5)), [1], [3], [1]),
    "STRIDED_SLICE of nothing": lambda: strided(feed((4, 5)), [3, 0], [1, 5], [1, 1]),
    "STRIDED_SLICE where the batch may change": lambda: strided(
        feed((4, 5), signature=(-1, 5)), [0, 1], [0, 3], [1, 1], begin_mask=1, end_mask=1
    ),
    "STRIDED_SLICE, computed": lambda: model_of(
        "STRIDED_SLICE", feed((4, 5)), feed([1, 2], np.int32), feed([3, -1], np.int32), constant([1, 1])
    ),
    "STRIDED_SLICE of bool": lambda: strided(feed((4,), bool), [1], [3], [1]),
    "STRIDED_SLICE, quantized": lambda: strided(
        feed((4,), scale=0.5), [1], [3], [1], outputs=[out(np.int8, scale=0.5)]
    ),
    "SLICE": lambda: model_of("SLICE", feed((4, 5)), constant([1, 2]), constant([2, 3])),
    "SLICE to the end": lambda: model_of("SLICE", feed((4, 5), np.int64), constant([1, 2]), constant([-1, 2])),
    "SLICE by i64": lambda: model_of("SLICE", feed((4,)), constant([1], np.int64), constant([-1], np.int64)),
    "SLICE, computed": lambda: model_of("SLICE", feed((4, 5)), feed([1, 2], np.int32), feed([2, -1], np.int32)),
    "SLICE of a known size": lambda: model_of("SLICE", feed((4, 5)), feed([1, 2], np.int32), constant([2, 1])),
    "SLICE, quantized": lambda: model_of(
        "SLICE", feed((4,), scale=0.5), constant([1]), constant([2]), outputs=[out(np.int8, scale=0.5)]
    ),
}


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK, steps=0)
