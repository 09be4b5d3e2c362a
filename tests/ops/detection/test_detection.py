"""DetectionOutput, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.detection.test_nms import F32, corners, distinct
from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes

PRIORS, CLASSES, NAME = 30, 4, "detection_output"
CENTER = "caffe.PriorBoxParameter.CENTER_SIZE"


def i32(*values):
    return np.array(values, np.int32)


def offsets(images=2, locations=1):
    rng = np.random.default_rng(images + locations)
    return Data((rng.standard_normal((images, PRIORS * locations * 4)) * 0.4).astype(F32))


def scores(images=2):
    return Data(distinct(images, PRIORS, CLASSES).array.reshape(images, -1))


def priors(batches=1, rows=2, scale=1.0, size=4):
    boxes = np.zeros((batches, PRIORS, size), F32)
    boxes[..., -4:] = corners(batches, PRIORS).array * scale
    variances = np.zeros((batches, PRIORS * size), F32)
    variances[:, : PRIORS * 4] = np.tile(F32([0.1, 0.2, 0.1, 0.2]), PRIORS)
    return Data(np.stack([boxes.reshape(batches, -1), variances][:rows], axis=1))


def objectness(images=2):
    return Data(np.random.default_rng(5).uniform(0, 1, (images, PRIORS * 2)).astype(F32))


USUAL = {"keep_top_k": i32(15), "nms_threshold": 0.3, "normalized": True}
INPUTS = offsets(), scores(), priors()
ATTRIBUTES = [
    {},
    {"code_type": CENTER, "confidence_threshold": 0.4, "background_label_id": 2},
    {"keep_top_k": i32(-1), "confidence_threshold": 0.8, "top_k": 9, "background_label_id": -1},
    {"keep_top_k": i32(-1), "clip_before_nms": True, "confidence_threshold": 0.5},
    {"clip_after_nms": True, "confidence_threshold": 0.9},
    {"decrease_label_id": True, "code_type": CENTER},
    {"decrease_label_id": True, "confidence_threshold": 0.8, "top_k": 12, "keep_top_k": i32(8)},
    {"confidence_threshold": 2.0},
]
RESULTS = [
    *[(NAME, 8, *INPUTS, USUAL | changed) for changed in ATTRIBUTES],
    (NAME, 8, *(Data(value.array.astype(np.float16)) for value in INPUTS), USUAL | {"code_type": CENTER}),
    (NAME, 1, *INPUTS, USUAL | {"num_classes": CLASSES}),
    (NAME, 8, offsets(), scores(), priors(2), USUAL),
    (NAME, 8, offsets(locations=CLASSES), scores(), priors(), USUAL | {"share_location": False}),
    (NAME, 8, offsets(), scores(), priors(rows=1), USUAL | {"variance_encoded_in_target": True}),
    (NAME, 8, offsets(), scores(), priors(scale=50.0, size=5),
     USUAL | {"normalized": False, "input_height": 40, "input_width": 50}),
    (NAME, 8, offsets(), scores(), priors(2), USUAL | {"objectness_score": 0.4}, objectness(), offsets()),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[1]}-{case[5]}")
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


def unknown(*shape):
    return Unknown(shape, F32)


FIXED = unknown(2, 24), unknown(2, 18), unknown(1, 2, 24)
V1 = USUAL | {"num_classes": 3}
SHAPES = [
    *[(opset, *FIXED, attributes | changed) for opset, attributes in ((1, V1), (8, USUAL))
      for changed in ({}, {"keep_top_k": i32(-1)}, {"keep_top_k": i32(0), "top_k": 2},
                      {"keep_top_k": i32(-1), "top_k": 0}, {"keep_top_k": i32(-1), "top_k": 2})],
    (8, unknown(2, 24), unknown(2, 18), unknown(2, 2, 30), USUAL | {"normalized": False}),
    (8, unknown(2, 72), unknown(2, 18), unknown(1, 2, 24), USUAL | {"share_location": False}),
    (8, *FIXED, USUAL, unknown(2, 12), unknown(2, 24)),
    (8, unknown(-1, 24), unknown(-1, 18), unknown(1, 2, 24), USUAL),
    (8, unknown(-1, 24), unknown(2, -1), unknown(1, 2, -1), USUAL),
    (8, Unknown("[...]"), Unknown("[...]"), Unknown("[...]"), USUAL | {"keep_top_k": i32(-1)}),
    (1, unknown(2, 24), unknown(2, -1), unknown(1, 2, -1), V1 | {"keep_top_k": i32(-1)}),
    (1, unknown(2, -1), unknown(2, -1), unknown(1, 2, -1), V1 | {"keep_top_k": i32(-1)}),
]  # fmt: skip


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    opset, *arguments = case
    same_shapes(NAME, *arguments, opset=opset)


REFUSED = [
    (1, *FIXED, V1 | {"normalized": False}),
    (1, *FIXED, V1 | {"num_classes": 4}),
    (8, *FIXED, USUAL | {"normalized": False}),
    (8, *FIXED, USUAL | {"variance_encoded_in_target": True}),
    (8, *FIXED, USUAL | {"code_type": "corner"}),
    (8, *FIXED, USUAL | {"share_location": False}),
    (8, unknown(2, 24), unknown(2, 18), unknown(3, 2, 24), USUAL),
    (8, unknown(3, 24), unknown(2, 18), unknown(1, 2, 24), USUAL),
    (8, unknown(2, 72), unknown(2, 18), unknown(1, 2, 24), USUAL),
    (8, unknown(2, 24), unknown(2, 17), unknown(1, 2, 24), USUAL),
    (8, unknown(2, 24, 1), unknown(2, 18), unknown(1, 2, 24), USUAL),
    (8, *FIXED, USUAL, unknown(2, 13), unknown(2, 24)),
    (8, *FIXED, USUAL, unknown(2, 12), unknown(2, 23)),
    (8, Unknown([2, 24], np.int32), *FIXED[1:], USUAL),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    opset, *arguments = case
    both_refuse(NAME, *arguments, opset=opset)


@pytest.mark.parametrize("decreased", [False, True])
@pytest.mark.parametrize(("images", "count"), [(0, 6), (2, 0)])
def test_without_boxes(images, count, decreased):
    arrays = [np.zeros(shape, F32) for shape in ((images, count * 4), (images, count * 3), (1, 2, count * 4))]
    attributes = USUAL | {"decrease_label_id": decreased}
    (rows,) = run(*in_hetero(NAME, 8, (*map(Data, arrays), attributes), {}), arrays)
    assert rows.shape == (1, 1, images * 15, 7)
    assert rows[..., 0].ravel().tolist() == ([-1.0] + [0.0] * 29 if images else [])
