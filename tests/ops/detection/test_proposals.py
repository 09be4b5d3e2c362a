"""Proposal and GenerateProposals, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.detection.test_nms import F32, corners, distinct
from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes

PROPOSAL, GENERATE = "proposal", "generate_proposals"


def offsets(*shape):
    return Data((np.random.default_rng(7).standard_normal(shape) * 0.2).astype(F32))


def f32(*values):
    return np.array(values, F32)


def u32(value):
    return np.uint32(value)


USUAL = {
    "base_size": u32(16), "pre_nms_topn": u32(60), "post_nms_topn": u32(12), "nms_thresh": F32(0.4),
    "feat_stride": u32(16), "min_size": u32(2), "ratio": f32(0.5, 1, 2), "scale": f32(1.5, 3),
}  # fmt: skip
INPUTS = distinct(2, 12, 4, 5), offsets(2, 24, 4, 5)
# All rows are used, as OpenVINO's CPU device does not set the scores of unused rows.
IMAGE = f32(70, 90, 1.5)
CHANGED = [
    {},
    {"clip_before_nms": np.bool_(False), "clip_after_nms": np.bool_(True)},
    {"normalize": np.bool_(True), "box_size_scale": F32(2), "box_coordinate_scale": F32(3)},
    {"framework": np.str_("tensorflow")},
]
FEW = {"pre_nms_topn": u32(9), "post_nms_topn": u32(20), "nms_thresh": F32(0.1)}
ANCHORS = Data(corners(4, 5, 3).array * 60)
GENERATE_INPUTS = ANCHORS, offsets(2, 12, 4, 5), distinct(2, 3, 4, 5)
SIZES = Data(f32([70, 90, 1], [50, 60, 2]))
RESULTS = [
    *[(PROPOSAL, opset, *INPUTS, IMAGE, USUAL | changed) for changed in CHANGED for opset in (1, 4)],
    (PROPOSAL, 1, *INPUTS, IMAGE, USUAL | FEW),
    (PROPOSAL, 4, *INPUTS, f32(70, 90, 5, 9), USUAL),
    (GENERATE, 9, SIZES, *GENERATE_INPUTS, 4.0, 0.4, 50, 20),
    (GENERATE, 9, SIZES, *GENERATE_INPUTS, 4.0, 0.4, 50, 20, False),
    (GENERATE, 9, Data(f32([70, 90, 1, 8], [50, 60, 2, 1])), *GENERATE_INPUTS, 2.0, 0.2, 30, 5, True, 1.0, "i32"),
    (GENERATE, 9, *(Data(value.array.astype(np.float16)) for value in (SIZES, *GENERATE_INPUTS)), 4.0, 0.4, 50, 20),
    (GENERATE, 9, SIZES, *GENERATE_INPUTS, 400.0, 0.4, 50, 20),
]


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0]}-{case[1]}-{case[5:]}")
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


def results(name, *arguments):
    arrays = [value.array for value in arguments if isinstance(value, Data)]
    return run(*in_hetero(name, 9, arguments, {}), arrays)


def test_scores_of_rows_without_a_box_are_zero():
    """OpenVINO's CPU device does not initialize them."""
    rows, scores = results(PROPOSAL, *INPUTS, IMAGE, USUAL | FEW)
    found = (rows[:, 1:] != 0).any(axis=1)
    assert 2 < found.sum() < 18
    assert (scores[found] > 0).all()
    assert (scores[~found] == 0).all()
    np.testing.assert_array_equal(np.flatnonzero(rows[:, 0] == -1), np.flatnonzero(np.diff(found * 1) == -1) + 1)


def test_threshold_that_falls():
    """As in the specification; OpenVINO's CPU device ignores ``nms_eta``."""
    anchors = Data(f32([0, 0, 10, 10], [0, 0, 10, 7], [0, 0, 10, 4.5], [0, 0, 10, 1.5]).reshape(1, 1, 4, 4))
    inputs = Data(f32([20, 20, 1])), anchors, Data(np.zeros((1, 16, 1, 1), F32))
    scores = Data(f32(0.9, 0.8, 0.7, 0.6).reshape(1, 4, 1, 1))
    kept = [results(GENERATE, *inputs, scores, 1.0, 0.8, 9, 9, True, eta)[1] for eta in (1.0, 0.5)]
    assert [scores.tolist() for scores in kept] == [f32(0.9, 0.8, 0.7, 0.6).tolist(), f32(0.9, 0.6).tolist()]


def unknown(*shape, dtype=F32):
    return Unknown(shape, dtype)


MAPS = unknown(3, 4, 5, 4), unknown(2, 20, 3, 4), unknown(2, 5, 3, 4)
ANY = Unknown("[...]")
LIMITS = (1.0, 0.5, 10, 5)
SHAPES = [
    (PROPOSAL, 4, unknown(3, 6, 4, 5), unknown(3, 12, 4, 5), unknown(4), USUAL),
    (PROPOSAL, 4, unknown(-1, 6, 4, 5), unknown(3, 12, 4, -1), unknown(3), USUAL),
    (PROPOSAL, 1, unknown(-1, 6, 4, 5), unknown(-1, 12, 4, -1), unknown(3), USUAL),
    (PROPOSAL, 4, ANY, ANY, ANY, USUAL),
    (GENERATE, 9, unknown(2, 3), unknown(3, 4, 5, 4), *MAPS[1:], *LIMITS),
    (GENERATE, 9, unknown(-1, 4), unknown(3, 4, 5, 4), unknown(-1, 20, 3, 4), unknown(-1, 5, 3, 4), *LIMITS),
    (GENERATE, 9, ANY, ANY, ANY, ANY, *LIMITS, True, 1.0, "i32"),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


REFUSED = [
    (PROPOSAL, 4, unknown(3, 6, 4, 5), unknown(3, 12, 4, 5), unknown(5), USUAL),
    (PROPOSAL, 4, unknown(3, 6, 4, 5), unknown(3, 10, 4, 5), unknown(3), USUAL),
    (PROPOSAL, 4, unknown(3, 6, 4, 5), unknown(2, 12, 4, 5), unknown(3), USUAL),
    (PROPOSAL, 4, unknown(3, 6, 4), unknown(3, 12, 4, 5), unknown(3), USUAL),
    (PROPOSAL, 4, unknown(3, 6, 4, 5, dtype=np.int32), unknown(3, 12, 4, 5), unknown(3), USUAL),
    (GENERATE, 9, unknown(2, 2), *MAPS, *LIMITS),
    (GENERATE, 9, unknown(1, 3), *MAPS, *LIMITS),
    (GENERATE, 9, unknown(3), *MAPS, *LIMITS),
    (GENERATE, 9, unknown(2, 3), unknown(3, 4, 5, 5), *MAPS[1:], *LIMITS),
    (GENERATE, 9, unknown(2, 3), unknown(3, 4, 6, 4), *MAPS[1:], *LIMITS),
    (GENERATE, 9, unknown(2, 3), unknown(2, 4, 5, 4), *MAPS[1:], *LIMITS),
    (GENERATE, 9, unknown(2, 3), MAPS[0], unknown(2, 19, 3, 4), MAPS[2], *LIMITS),
    (GENERATE, 9, unknown(2, 3), *MAPS, *LIMITS, True, 1.0, "i8"),
    (GENERATE, 9, unknown(2, 3), *MAPS, 1.0, 0.5, 10, -5),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)
