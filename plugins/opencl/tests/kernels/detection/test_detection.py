"""DetectionOutput: the cases of tests/ops and more, compared with the reference."""

import numpy as np
import pytest

from tests.ops.detection import test_detection
from tests.ops.detection.test_detection import INPUTS, NAME, USUAL, i32, offsets, priors
from tests.ops.oracle import Data


@pytest.mark.parametrize("case", test_detection.RESULTS, ids=lambda case: f"{case[1]}-{case[5]}")
def test_results(reference_agrees, case):
    name, opset, *arguments = case
    # The sides of f16 are small, and their errors are those of f16.
    tolerance = 1e-3 if arguments[0].array.dtype == np.float16 else 1e-5
    reference_agrees(name, *arguments, opset=opset, tolerance=tolerance)


@pytest.mark.parametrize("attributes", [{"keep_top_k": i32(7)}, {"decrease_label_id": True}, {"top_k": 3}], ids=str)
def test_equal_scores(reference_agrees, attributes):
    shape = INPUTS[1].array.shape
    scores = Data(np.random.default_rng(0).integers(0, 5, shape).astype(np.float32) / 5)
    reference_agrees(NAME, offsets(), scores, priors(), USUAL | attributes, opset=8)


def test_f64(reference_agrees):
    inputs = [Data(value.array.astype(np.float64)) for value in INPUTS]
    reference_agrees(NAME, *inputs, USUAL, opset=8)
