"""MulticlassNms, MatrixNms and NMSRotated: the cases of tests/ops and more, compared with the reference."""

import numpy as np
import pytest
from hetero_opencl.device.pocl import processor_flags

from tests.ops.detection import test_class_nms
from tests.ops.detection.test_class_nms import BOXES, MATRIX, MULTI, ROTATED, SCORES, turned
from tests.ops.oracle import Data


@pytest.mark.parametrize("case", test_class_nms.RESULTS, ids=lambda case: f"{case[0]}-{case[1]}-{case[-1]}")
def test_results(reference_agrees, case, request):
    name, opset, *arguments, attributes = case
    values = request.node.callspec.params
    if name == "nms_rotated" and values["processor"] == "as_gpu" and "avx512f" not in processor_flags():
        pytest.skip(
            "the kernel for GPUs crashes in both runtimes on processors without AVX-512; the cause is not known"
        )
    reference_agrees(name, *arguments, opset=opset, **attributes)


@pytest.mark.parametrize("kind", ["none", "score", "classid"])
@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize("name", [MATRIX, MULTI])
def test_equal_scores(reference_agrees, name, across, kind):
    scores = Data(np.random.default_rng(0).integers(0, 4, (2, 3, 40)).astype(np.float32) / 4)
    attributes = {"sort_result_type": kind, "sort_result_across_batch": across, "keep_top_k": 25}
    reference_agrees(name, BOXES, scores, **attributes, opset=8)


@pytest.mark.parametrize("name", [MATRIX, MULTI])
def test_no_boxes_are_kept(reference_agrees, name):
    reference_agrees(name, BOXES, SCORES, score_threshold=2.0, output_type="i32", opset=8)
    reference_agrees(name, Data(BOXES.array[:, :0]), Data(SCORES.array[:, :, :0]), opset=8)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_rotated_boxes_of_other_types(reference_agrees, dtype):
    boxes, scores = (Data(value.array.astype(dtype)) for value in (turned(2, 40), SCORES))
    reference_agrees(ROTATED, boxes, scores, np.array(30), np.array(0.2, dtype), np.array(0.3, dtype), opset=13)


@pytest.mark.usefixtures("without_f64")
def test_rotated_boxes_on_a_device_without_f64(reference_agrees):
    numbers = np.array(30), np.array(0.2, np.float32), np.array(0.3, np.float32)
    reference_agrees(ROTATED, turned(2, 40), SCORES, *numbers, opset=13)
