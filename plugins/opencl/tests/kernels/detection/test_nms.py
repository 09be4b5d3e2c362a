"""NonMaxSuppression: the cases of tests/ops and more, compared with the reference."""

import numpy as np
import pytest

import hetero
from hetero import ops
from hetero.graph import Parameter
from tests.ops.detection import test_nms
from tests.ops.detection.test_nms import LIMIT, OVERLAP, SCORE, SHARED, corners, distinct, number
from tests.ops.oracle import Data


@pytest.mark.parametrize("case", test_nms.RESULTS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_results(reference_agrees, case):
    name, opset, *arguments = case
    reference_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("opset", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("score", [0.95, 2])
def test_few_or_none_are_kept(reference_agrees, opset, score):
    reference_agrees("non_max_suppression", *SHARED, LIMIT, OVERLAP, number(score), opset=opset)


@pytest.mark.parametrize("in_order", [True, False])
def test_equal_scores(reference_agrees, in_order):
    scores = Data(np.random.default_rng(0).integers(0, 4, (2, 3, 40)).astype(np.float32) / 4)
    arguments = (SHARED[0], scores, number(9, np.int64), number(0.4), SCORE)
    for opset, *sigma in ((4,), (9,), (9, number(0.5))):
        attributes = {"box_encoding": "corner", "sort_result_descending": in_order}
        reference_agrees("non_max_suppression", *arguments, *sigma, **attributes, opset=opset)


@pytest.mark.parametrize("sigma", [0, 0.5])
def test_thresholds_from_inputs(reference_agrees, sigma):
    thresholds = [Data(np.array(value, np.float32)) for value in (0.3, 0.2, sigma)]
    reference_agrees("non_max_suppression", *SHARED, LIMIT, *thresholds, opset=9)


def test_nan_and_infinity(reference_agrees):
    boxes, scores = corners(1, 20).array, distinct(1, 2, 20).array
    scores[0, :, ::3] = np.nan
    scores[0, 0, 1] = np.inf
    reference_agrees("non_max_suppression", Data(boxes), Data(scores), LIMIT, OVERLAP, SCORE, opset=9)


def test_no_boxes(reference_agrees):
    for boxes, batches in ((0, 1), (5, 0)):
        inputs = (Data(np.zeros((batches, boxes, 4), np.float32)), Data(np.zeros((batches, 2, boxes), np.float32)))
        reference_agrees("non_max_suppression", *inputs, LIMIT, OVERLAP, SCORE, opset=9)


def test_readers_of_the_kept_boxes(run):
    """The number of kept boxes is a dimension of later shapes."""
    boxes, scores = (Parameter(hetero.Type.f32, data.array.shape) for data in SHARED)
    kept = ops.NonMaxSuppression(boxes, scores, LIMIT, OVERLAP, SCORE, sort_result_descending=False)
    (found,) = run([ops.Transpose(kept.output(0), np.array([1, 0]))], [boxes, scores], [d.array for d in SHARED])
    node = ops.NonMaxSuppression(boxes, scores, LIMIT, OVERLAP, SCORE, sort_result_descending=False)
    expected = hetero.reference.evaluate(node, [SHARED[0].array, SHARED[1].array, LIMIT, OVERLAP, SCORE, number(0)])
    np.testing.assert_array_equal(found, expected[0].T)
