"""RegionYolo and ReorgYolo: the cases of tests/ops, and other types compared with the reference."""

import ml_dtypes
import pytest

from tests.ops.detection import test_yolo
from tests.ops.detection.test_yolo import REGION, REORG, random


@pytest.mark.parametrize("case", test_yolo.RESULTS, ids=lambda case: f"{case[0]}-{case[3:]}")
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype, tolerance", [("f2", 1e-3), (ml_dtypes.bfloat16, 1e-2), ("f8", 1e-12)], ids=str)
def test_element_types(reference_agrees, dtype, tolerance):
    data = random(2, 24, 3, 5, dtype=dtype)
    for softmax, mask in ((True, [0]), (False, [6, 7])):
        reference_agrees(REGION, data, 4, 3, 3, softmax, mask, 2, 3, opset=1, tolerance=tolerance)
    reference_agrees(REORG, random(2, 8, 4, 6, dtype=dtype), [2], opset=2, tolerance=0)
