"""Scatter, segment reductions and slice updates against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, WITHOUT_FALLBACK, operator_test
from tests.frontend.tflite.models import constant, feed, model_of, out

TWICE = np.array([[1], [3], [1]], np.int32)


def segments(kind, data, numbers, count):
    return model_of(f"UNSORTED_SEGMENT_{kind}", data, numbers, count)


CASES = {
    "SCATTER_ND": lambda: model_of(
        "SCATTER_ND", feed(TWICE), feed((3, 2)), constant([4, 2]), outputs=[out(np.float32)]
    ),
    "SCATTER_ND of bool": lambda: model_of(
        "SCATTER_ND", constant(TWICE), feed((3,), bool), constant([4]), outputs=[out(bool)]
    ),
    "SCATTER_ND beyond the range": lambda: model_of(
        "SCATTER_ND", constant(TWICE), feed([100, 1, 100], np.int8), constant([4]), outputs=[out(np.int8)]
    ),
    "SCATTER_ND, computed": lambda: model_of(
        "SCATTER_ND",
        feed([[0, 1]], np.int32),
        feed((1,), np.int64),
        feed([2, 2], np.int32),
        outputs=[out(np.int64)],
    ),
    "SPARSE_TO_DENSE": lambda: model_of(
        "SPARSE_TO_DENSE",
        feed([1, 3], np.int32),
        constant([5]),
        feed((2,)),
        constant(0.5),
        outputs=[out(np.float32)],
    ),
    "SPARSE_TO_DENSE of one for all": lambda: model_of(
        "SPARSE_TO_DENSE",
        feed([[1, 0], [3, 1]], np.int64),
        constant([5, 2], np.int64),
        feed(7, np.int64),
        constant(1, np.int64),
        outputs=[out(np.int64)],
    ),
    "SPARSE_TO_DENSE of a single place": lambda: model_of(
        "SPARSE_TO_DENSE",
        feed(3, np.int32),
        constant([5]),
        feed((), np.int8),
        constant(1, np.int8),
        outputs=[out(np.int8)],
    ),
    **{
        f"UNSORTED_SEGMENT_{kind}": lambda kind=kind: segments(kind, feed((4, 2)), constant([0, 3, 3, 0]), constant(5))
        for kind in ("SUM", "PROD", "MAX", "MIN")
    },
    **{
        f"UNSORTED_SEGMENT_{kind} with rows of none": lambda kind=kind: segments(
            kind, feed((4,), np.int32), feed([0, -1, 3, 0], np.int32), constant([5])
        )
        for kind in ("SUM", "PROD", "MAX", "MIN")
    },
    "DYNAMIC_UPDATE_SLICE": lambda: model_of(
        "DYNAMIC_UPDATE_SLICE", feed((4, 2)), feed((2, 2)), feed([1, 0], np.int64)
    ),
    "DYNAMIC_UPDATE_SLICE beyond the ends": lambda: model_of(
        "DYNAMIC_UPDATE_SLICE", feed((4, 2), np.int32), feed((2, 1), np.int32), feed([9, -1], np.int32)
    ),
    "DYNAMIC_UPDATE_SLICE at a known place": lambda: model_of(
        "DYNAMIC_UPDATE_SLICE", feed((4, 3)), feed((2, 1)), constant([1, 1])
    ),
}


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK, steps=0)


@pytest.mark.parametrize("device", WITHOUT_FALLBACK)
def test_segment_sum(device):
    # LiteRT has no kernel for it.
    numbers = constant([0, 0, 2, 3])
    model = model_of(
        "SEGMENT_SUM", feed(np.float32([[1, 2], [3, 4], [5, 6], [7, 8]])), numbers, outputs=[out(None, (4, 2))]
    )
    (found,) = CORE.compile_model(model.content, device)(model.inputs).values()
    assert found.tolist() == [[4, 6], [0, 0], [5, 6], [7, 8]]
