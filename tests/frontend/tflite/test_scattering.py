"""Scatter, segment reductions and slice updates against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, WITHOUT_FALLBACK, operator_test
from tests.frontend.tflite.models import constant, given, made, one

TWICE = np.array([[1], [3], [1]], np.int32)


def segments(kind, data, numbers, count):
    return one(f"UNSORTED_SEGMENT_{kind}", data, numbers, count)


CASES = {
    "SCATTER_ND": lambda: one("SCATTER_ND", given(TWICE), given((3, 2)), constant([4, 2]), outputs=[made(np.float32)]),
    "SCATTER_ND of bool": lambda: one(
        "SCATTER_ND", constant(TWICE), given((3,), bool), constant([4]), outputs=[made(bool)]
    ),
    "SCATTER_ND beyond the range": lambda: one(
        "SCATTER_ND", constant(TWICE), given([100, 1, 100], np.int8), constant([4]), outputs=[made(np.int8)]
    ),
    "SCATTER_ND, computed": lambda: one(
        "SCATTER_ND",
        given([[0, 1]], np.int32),
        given((1,), np.int64),
        given([2, 2], np.int32),
        outputs=[made(np.int64)],
    ),
    "SPARSE_TO_DENSE": lambda: one(
        "SPARSE_TO_DENSE",
        given([1, 3], np.int32),
        constant([5]),
        given((2,)),
        constant(0.5),
        outputs=[made(np.float32)],
    ),
    "SPARSE_TO_DENSE of one for all": lambda: one(
        "SPARSE_TO_DENSE",
        given([[1, 0], [3, 1]], np.int64),
        constant([5, 2], np.int64),
        given(7, np.int64),
        constant(1, np.int64),
        outputs=[made(np.int64)],
    ),
    "SPARSE_TO_DENSE of a single place": lambda: one(
        "SPARSE_TO_DENSE",
        given(3, np.int32),
        constant([5]),
        given((), np.int8),
        constant(1, np.int8),
        outputs=[made(np.int8)],
    ),
    **{
        f"UNSORTED_SEGMENT_{kind}": lambda kind=kind: segments(kind, given((4, 2)), constant([0, 3, 3, 0]), constant(5))
        for kind in ("SUM", "PROD", "MAX", "MIN")
    },
    **{
        f"UNSORTED_SEGMENT_{kind} with rows of none": lambda kind=kind: segments(
            kind, given((4,), np.int32), given([0, -1, 3, 0], np.int32), constant([5])
        )
        for kind in ("SUM", "PROD", "MAX", "MIN")
    },
    "DYNAMIC_UPDATE_SLICE": lambda: one("DYNAMIC_UPDATE_SLICE", given((4, 2)), given((2, 2)), given([1, 0], np.int64)),
    "DYNAMIC_UPDATE_SLICE beyond the ends": lambda: one(
        "DYNAMIC_UPDATE_SLICE", given((4, 2), np.int32), given((2, 1), np.int32), given([9, -1], np.int32)
    ),
    "DYNAMIC_UPDATE_SLICE at a known place": lambda: one(
        "DYNAMIC_UPDATE_SLICE", given((4, 3)), given((2, 1)), constant([1, 1])
    ),
}


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK, steps=0)


@pytest.mark.parametrize("device", WITHOUT_FALLBACK)
def test_segment_sum(device):
    # LiteRT has no kernel for it.
    numbers = constant([0, 0, 2, 3])
    model = one(
        "SEGMENT_SUM", given(np.float32([[1, 2], [3, 4], [5, 6], [7, 8]])), numbers, outputs=[made(None, (4, 2))]
    )
    (found,) = CORE.compile_model(model.content, device)(model.inputs).values()
    assert found.tolist() == [[4, 6], [0, 0], [5, 6], [7, 8]]
