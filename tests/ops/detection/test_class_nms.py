"""MatrixNms, MulticlassNms and NMSRotated, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.detection.test_nms import F32, I64, corners, distinct, number
from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes

BOXES, SCORES = corners(2, 40), distinct(2, 3, 40)
PIXELS = Data(BOXES.array * 50)
OF_CLASSES = (corners(3, 20), distinct(3, 20), Data(np.array([8, 0, 12], I64)))
MATRIX, MULTI, ROTATED = "matrix_nms", "multiclass_nms", "nms_rotated"


def turned(*shape):
    rng = np.random.default_rng(3)
    parts = [rng.uniform(0, 1, (*shape, 2)), rng.uniform(0.1, 0.5, (*shape, 2)), rng.uniform(-4, 4, (*shape, 1))]
    return Data(np.concatenate(parts, -1).astype(F32))


RESULTS = [
    (MATRIX, 8, BOXES, SCORES, {}),
    *[(MATRIX, 8, BOXES, SCORES, {"sort_result_type": kind, "sort_result_across_batch": across, "keep_top_k": 9})
      for kind, across in (("none", False), ("score", False), ("score", True), ("classid", True))],
    *[(name, 8, corners(2, 40, dtype=np.float16), distinct(2, 3, 40, dtype=np.float16), attributes)
      for name, attributes in ((MATRIX, {}), (MULTI, {"iou_threshold": 0.3}))],
    (MATRIX, 8, BOXES, SCORES, {"decay_function": "gaussian", "gaussian_sigma": 1.5, "post_threshold": 0.2}),
    (MATRIX, 8, PIXELS, SCORES, {"normalized": False, "nms_top_k": 7, "background_class": 1, "output_type": "i32"}),
    *[(MULTI, opset, BOXES, SCORES, {"iou_threshold": 0.3, "score_threshold": 0.4}) for opset in (8, 9)],
    *[(MULTI, 9, BOXES, SCORES, {"iou_threshold": 0.3, "sort_result_type": kind, "sort_result_across_batch": across,
                                 "keep_top_k": 12})
      for kind in ("none", "score", "classid") for across in (False, True)],
    (MULTI, 8, PIXELS, SCORES, {"iou_threshold": 0.2, "normalized": False, "nms_top_k": 9, "background_class": 0}),
    (MULTI, 9, BOXES, SCORES, {"iou_threshold": 0.8, "nms_eta": 0.6, "score_threshold": 0.01}),
    (MULTI, 9, BOXES, SCORES, {"iou_threshold": 0.3, "score_threshold": 2.0}),
    (MULTI, 9, *OF_CLASSES, {"iou_threshold": 0.3}),
    (MULTI, 9, *OF_CLASSES, {"iou_threshold": 0.3, "sort_result_type": "classid", "sort_result_across_batch": True}),
    (MULTI, 9, *OF_CLASSES, {"iou_threshold": 0.3, "sort_result_type": "score", "background_class": 2}),
    *[(ROTATED, 13, turned(2, 40), SCORES, number(30, I64), number(0.2), number(0.3),
       {"clockwise": way, "sort_result_descending": order}) for way in (True, False) for order in (True, False)],
    (ROTATED, 13, turned(1, 100), distinct(1, 1, 100), number(100, np.int32), number(0.4), number(0),
     {"output_type": "i32"}),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0]}-{case[1]}-{case[-1]}")
def test_results(case):
    name, opset, *arguments, attributes = case
    same_results(name, *arguments, opset=opset, **attributes)


def results(name, opset, *arguments, **attributes):
    arrays = [value.array for value in arguments if isinstance(value, Data)]
    return run(*in_hetero(name, opset, arguments, attributes), arrays)


def test_matrix_nms_sorts_each_batch_by_class():
    """As in both specifications; OpenVINO's CPU device sorts only across batches."""
    boxes, places, counts = results(MATRIX, 8, BOXES, SCORES, keep_top_k=9, sort_result_type="classid")
    best, best_places, _ = results(MATRIX, 8, BOXES, SCORES, keep_top_k=9)
    assert counts.tolist() == [9, 9]
    for batch in (slice(0, 9), slice(9, 18)):
        order = np.argsort(best[batch, 0], kind="stable")
        np.testing.assert_array_equal(boxes[batch], best[batch][order])
        np.testing.assert_array_equal(places[batch], best_places[batch][order])


@pytest.mark.parametrize("name", [MATRIX, MULTI])
def test_nothing_is_kept(name):
    """OpenVINO's CPU device fails in MatrixNms if no box is selected."""
    boxes, places, counts = results(name, 8, BOXES, SCORES, score_threshold=2.0, output_type="i32")
    assert (boxes.shape, places.shape, counts.tolist()) == ((0, 6), (0, 1), [0, 0])
    assert (boxes.dtype, places.dtype, counts.dtype) == (F32, np.int32, np.int32)


def test_threshold_that_falls():
    """The threshold decreases with every selected box."""
    boxes = Data(np.float32([[[0, 0, 1, 1], [0, 0, 1, 0.7], [0, 0, 1, 0.45], [0, 0, 1, 0.15]]]))
    scores = Data(np.float32([[[0.9, 0.8, 0.7, 0.6]]]))
    kept = [results(MULTI, 9, boxes, scores, iou_threshold=0.8, nms_eta=eta)[1].ravel().tolist() for eta in (1, 0.5)]
    assert kept == [[0, 1, 2, 3], [0, 3]]


def unknown(*shape, dtype=F32):
    return Unknown(shape, dtype)


FIXED = unknown(2, 6, 4), unknown(2, 3, 6)
COUNTS = unknown(2, dtype=I64)
NUMBERS = number(2, I64), number(0.5), number(0.5)
SHAPES = [
    *[(name, 9, *FIXED, attributes) for name in (MATRIX, MULTI)
      for attributes in ({}, {"nms_top_k": 3, "keep_top_k": 5}, {"background_class": 1, "keep_top_k": 50})],
    (MATRIX, 8, unknown(2, 6, 4, dtype=np.float16), unknown(2, 3, 6, dtype=np.float16), {}),
    (MATRIX, 8, unknown(-1, 6, 4), unknown(-1, 3, 6), {"nms_top_k": 3}),
    (MULTI, 8, unknown(-1, 6, 4), unknown(-1, 3, 6), {"nms_top_k": 3}),
    (MULTI, 9, Unknown("[...]"), Unknown("[...]"), {}),
    (MULTI, 9, unknown(2, 6, 4), unknown(2, 6), COUNTS, {}),
    (MULTI, 9, unknown(2, 6, 4), unknown(2, 6), unknown(-1, dtype=I64), {}),
    (ROTATED, 13, unknown(2, 6, 5), unknown(2, 3, 6), *NUMBERS, {}),
    (ROTATED, 13, unknown(2, 6, 5, dtype=np.float64), unknown(2, 3, 6), *NUMBERS, {}),
    (ROTATED, 13, unknown(2, -1, 5), unknown(-1, -1, 6), *NUMBERS, {"output_type": "i32"}),
]  # fmt: skip


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments, attributes = case
    same_shapes(name, *arguments, opset=opset, **attributes)


REFUSED = [
    *[(name, 9, *FIXED, attributes) for name in (MATRIX, MULTI)
      for attributes in ({"nms_top_k": -2}, {"keep_top_k": -2}, {"background_class": -2}, {"output_type": "i16"},
                         {"sort_result_type": "x"})],
    *[(name, 9, unknown(2, 6, 5), unknown(2, 3, 6), {}) for name in (MATRIX, MULTI)],
    *[(name, 9, unknown(2, 6, 4), unknown(2, 3, 6, dtype=np.float16), {}) for name in (MATRIX, MULTI)],
    (MULTI, 9, *FIXED, {"nms_eta": 2.0}),
    (MULTI, 9, *FIXED, COUNTS, {}),
    (MULTI, 9, unknown(2, 6, 4), unknown(2, 6), {}),
    (MULTI, 9, unknown(2, 6, 4), unknown(2, 6), unknown(2), {}),
    (MULTI, 9, unknown(2, 6, 4), unknown(3, 6), COUNTS, {}),
    (MULTI, 9, unknown(2, 6, 4), unknown(2, 6), unknown(2, 1, dtype=I64), {}),
    (ROTATED, 13, unknown(2, 6, 4), unknown(2, 3, 6), *NUMBERS, {}),
    (ROTATED, 13, unknown(2, 6, 5), unknown(2, 3, 6), *[number(0.5)] * 3, {}),
    (ROTATED, 13, unknown(2, 6, 5), unknown(2, 3, 6), *[number(1, I64)] * 3, {}),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    name, opset, *arguments, attributes = case
    both_refuse(name, *arguments, opset=opset, **attributes)


@pytest.mark.parametrize("shape", [(0, 3, 6), (2, 0, 6), (2, 3, 0)], ids=str)
def test_without_boxes(shape):
    batches, _, count = shape
    boxes, scores = Data(np.zeros((batches, count, 4), F32)), Data(np.zeros(shape, F32))
    for name in (MATRIX, MULTI):
        kept, places, counts = results(name, 9, boxes, scores, score_threshold=0.5)
        assert (kept.shape, places.shape, counts.tolist()) == ((0, 6), (0, 1), [0] * batches)
    turned_boxes = Data(np.zeros((batches, count, 5), F32))
    assert [array.shape for array in results(ROTATED, 13, turned_boxes, scores, *NUMBERS)] == [(0, 3), (0, 3), (1,)]
