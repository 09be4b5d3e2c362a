"""NonMaxSuppression, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes

I64, F32 = np.int64, np.float32


def number(value, dtype=F32):
    return np.array(value, dtype)


def corners(*shape, seed=0, dtype=F32):
    """Return boxes with ordered corners, about a quarter of the image wide."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(0, 0.8, (*shape, 2))
    return Data(np.concatenate([first, first + rng.uniform(0.1, 0.4, (*shape, 2))], -1).astype(dtype))


def flipped(*shape):
    """Return boxes as any two opposite corners."""
    return Data(np.random.default_rng(1).uniform(0, 1, (*shape, 4)).astype(F32))


def distinct(*shape, dtype=F32):
    """Return distinct scores in steps that f16 can represent."""
    count = int(np.prod(shape))
    return Data((np.random.default_rng(2).permutation(count).reshape(shape) / count).astype(dtype))


SHARED = (corners(2, 40), distinct(2, 3, 40))
LIMIT, OVERLAP, SCORE = number(5, I64), number(0.3), number(0.2)
RESULTS = [
    *[("non_max_suppression", opset, *SHARED, LIMIT, OVERLAP, SCORE) for opset in (4, 5, 9)],
    *[("non_max_suppression", opset, corners(1, 40), distinct(1, 3, 40), LIMIT, OVERLAP, SCORE) for opset in (1, 3)],
    ("non_max_suppression", 9, flipped(2, 40), SHARED[1], number(40, I64), number(0.2), number(0.1)),
    ("non_max_suppression", 9, *SHARED, number(9, I64), number(0.5), SCORE, number(0), "center", False, "i32"),
    ("non_max_suppression", 9, *SHARED, number(9, I64), number(0.2), number(0.1), number(0.4)),
    ("non_max_suppression", 9, *SHARED, number(40, I64), number(0.2), number(0.3), number(0.1), "corner", False),
    ("non_max_suppression", 5, *SHARED, number(9, I64), number(1), number(0.1), number(0.4)),
    ("non_max_suppression", 9, corners(1, 300), distinct(1, 2, 300), number(200, I64), number(0.4), number(0)),
    ("non_max_suppression", 9, corners(2, 40, dtype=np.float16), distinct(2, 3, 40, dtype=np.float16), LIMIT, OVERLAP),
    ("non_max_suppression", 9, *SHARED, number([5], np.int32), OVERLAP, number([2])),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


@pytest.mark.parametrize("opset", [1, 3, 4])
def test_rows_that_are_not_needed_hold_minus_one(opset):
    """OpenVINO infers the fixed number of rows, but its CPU device outputs only the selected ones."""
    kept = kept_boxes(opset, corners(1, 40), distinct(1, 3, 40), LIMIT, OVERLAP, number(0.95))[0]
    newest = kept_boxes(9, corners(1, 40), distinct(1, 3, 40), LIMIT, OVERLAP, number(0.95))[0]
    assert kept.shape == (15, 3)
    np.testing.assert_array_equal(kept[: len(newest)], newest)
    assert (kept[len(newest) :] == -1).all()


def test_boxes_that_do_not_overlap_are_kept_at_a_threshold_of_zero():
    """OpenVINO's CPU device drops a box whose IoU equals the threshold, unlike its specification and ONNX's."""
    apart = Data(np.float32([[[0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 4]]]))
    kept = kept_boxes(9, apart, Data(np.float32([[[0.5, 0.6, 0.4]]])), LIMIT, number(0))[0]
    assert kept.tolist() == [[0, 0, 1], [0, 0, 0]]


def test_soft_suppression_of_opset5_lets_go_what_overlaps_too_much():
    """As in the specification; OpenVINO's CPU device treats it as the newer version."""
    boxes = Data(np.float32([[[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 0, 1, 0.3]]]))
    scores, numbers = Data(np.float32([[[0.9, 0.8, 0.7]]])), (LIMIT, number(0.5), number(0), number(0.5))
    places, values, _ = kept_boxes(5, boxes, scores, *numbers)
    assert places[:, 2].tolist() == [0, 2]
    np.testing.assert_allclose(values[:, 2], [0.9, 0.7 * np.exp(-0.09)], rtol=1e-6)
    assert kept_boxes(9, boxes, scores, *numbers)[0][:, 2].tolist() == [0, 2, 1]


@pytest.mark.parametrize("limit", [(), (number(0, I64),), (number(-1, I64),)], ids=str)
def test_without_a_limit_nothing_is_kept(limit):
    """OpenVINO's CPU device does not set the number of boxes in this case."""
    places, values, count = kept_boxes(9, *SHARED, *limit)
    assert (places.shape, values.shape, count.tolist()) == ((0, 3), (0, 3), [0])


def kept_boxes(opset, *arguments):
    arrays = [value.array for value in arguments if isinstance(value, Data)]
    return run(*in_hetero("non_max_suppression", opset, arguments, {}), arrays)


def unknown(*shape, dtype=F32):
    return Unknown(shape, dtype)


NMS = "non_max_suppression"
SHAPES = [
    (NMS, 9, unknown(2, 6, 4), unknown(2, 3, 6), number(2, I64)),
    (NMS, 9, Unknown([2, 6, 4], np.float16), Unknown([2, 3, 6], np.float16), number(9, I64)),
    (NMS, 9, unknown(2, 6, 4), unknown(2, 3, 6), None, None, number(0.5)),
    (NMS, 5, unknown(2, 6, 4), unknown(2, -1, 6), number(2, I64)),
    (NMS, 4, unknown(2, 6, 4), unknown(2, 3, 6), number(2, I64)),
    (NMS, 4, unknown(2, 6, 4), unknown(2, -1, 6), number(2, I64)),
    (NMS, 3, unknown(2, 6, 4), unknown(2, 3, 6), number(2, I64)),
    (NMS, 1, unknown(2, 6, 4), unknown(2, 3, 6), number(2, I64)),
    (NMS, 1, unknown(2, 6, 4), unknown(2, 3, -1), number(2, I64)),
]  # fmt: skip


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


MORE_IS_KNOWN = [
    ((NMS, 9, unknown((1, 3), (5, 7), 4), unknown(-1, 3, -1), number(6, I64)), ["[..54,3]", "[..54,3]", "[1]"]),
    ((NMS, 9, unknown(2, 6, 4), unknown(2, 3, 6), Unknown([], I64)), ["[..36,3]", "[..36,3]", "[1]"]),
    ((NMS, 9, unknown(2, 6, 4), unknown(2, 3, 6), number(-1, I64)), ["[0,3]", "[0,3]", "[1]"]),
    ((NMS, 9, Unknown("[...]"), unknown(3, 3, 6), number(2, I64)), ["[..18,3]", "[..18,3]", "[1]"]),
    ((NMS, 4, unknown(2, 6, 4), unknown(2, 3, 6), Unknown([], I64)), ["[..36,3]"]),
]  # fmt: skip


@pytest.mark.parametrize("case", MORE_IS_KNOWN, ids=str)
def test_more_is_known(case):
    (name, opset, *arguments), expected = case
    same_shapes(name, *arguments, opset=opset, expected=expected)


REFUSED = [
    *[(NMS, opset, unknown(2, 6, 5), unknown(2, 3, 6)) for opset in (1, 3, 4, 5, 9)],
    (NMS, 9, unknown(2, 7, 4), unknown(2, 3, 6)),
    (NMS, 9, unknown(2, 6, 4), unknown(3, 3, 6)),
    (NMS, 9, unknown(2, 6), unknown(2, 3, 6)),
    (NMS, 9, unknown(2, 6, 4), unknown(2, 6)),
    (NMS, 9, unknown(2, 6, 4, dtype=np.int32), unknown(2, 3, 6)),
    (NMS, 9, unknown(2, 6, 4, dtype=np.float64), unknown(2, 3, 6, dtype=np.float64)),
    (NMS, 9, unknown(2, 6, 4), unknown(2, 3, 6), number([2, 3], I64)),
    (NMS, 9, unknown(2, 6, 4), unknown(2, 3, 6), LIMIT, number(1, I64)),
    (NMS, 9, unknown(2, 6, 4), unknown(2, 3, 6), LIMIT, OVERLAP, SCORE, SCORE, "corner", True, "i16"),
    (NMS, 9, unknown(2, 6, 4), unknown(2, 3, 6), LIMIT, OVERLAP, SCORE, SCORE, "round"),
    (NMS, 3, unknown(2, 6, 4), unknown(2, 3, 6), number([2], I64)),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)


@pytest.mark.parametrize("shape", [(0, 3, 6), (2, 0, 6), (2, 3, 0)], ids=str)
@pytest.mark.parametrize("sigma", [0, 0.5])
def test_without_boxes(shape, sigma):
    batches, _, count = shape
    boxes, scores = (Data(np.zeros(s, F32)) for s in ((batches, count, 4), shape))
    places, values, number_kept = kept_boxes(9, boxes, scores, LIMIT, OVERLAP, SCORE, number(sigma))
    assert (places.shape, values.shape, number_kept.tolist()) == ((0, 3), (0, 3), [0])
    assert kept_boxes(4, boxes, scores, LIMIT, OVERLAP, SCORE)[0].shape == (0, 3)


def test_boxes_of_nan_overlap_nothing():
    boxes = Data(np.float32([[[0, 0, 1, 1], [np.nan, 0, 1, 1], [0, 0, 1, 0.9]]]))
    kept = kept_boxes(9, boxes, Data(np.float32([[[0.5, 0.6, 0.4]]])), LIMIT, OVERLAP)[0]
    assert kept.tolist() == [[0, 0, 1], [0, 0, 0]]
