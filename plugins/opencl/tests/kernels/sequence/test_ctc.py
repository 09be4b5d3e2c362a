"""Connectionist temporal classification, compared with OpenVINO or the reference."""

import ml_dtypes
import numpy as np
import pytest

from tests.ops.oracle import Data
from tests.ops.sequence.test_ctc import COUNTS, GREEDY, I32, LABELS, LENGTHS, LOSS, RESULTS, STEPS, i32, scores


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0]}-{case[-3:]}")
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_scores_of_every_type(reference_agrees, dtype):
    reference_agrees(GREEDY, scores(20, 2, 3, dtype=dtype), Data(np.ones((20, 2), dtype)))
    reference_agrees(LENGTHS, scores(3, 12, 3, dtype=dtype), i32(12, 5, 9))
    reference_agrees(LOSS, scores(4, 6, 4, dtype=dtype), STEPS, LABELS, COUNTS)


def test_lengths_and_labels_out_of_range(compute):
    """The reference raises an error. A kernel cannot, but must not read out of bounds."""
    labels, counts = compute(LENGTHS, (scores(2, 3, 4), i32(2**30, -5)), {})
    assert labels.shape == (2, 3) and counts.tolist()[1] == 0
    blank = np.array(4, I32)
    arguments = scores(2, 3, 4), i32(9, 3), i32([0, 7, 2], [-5, 1, 1]), i32(2**30, 1), blank
    (loss,) = compute(LOSS, arguments, {})
    assert loss.shape == (2,)
