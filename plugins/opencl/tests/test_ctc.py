"""Connectionist temporal classification on every OpenCL device, beside OpenVINO or the reference."""

import ml_dtypes
import numpy as np
import pytest

from tests.ops.oracle import Data

GREEDY, LENGTHS, LOSS = "ctc_greedy_decoder", "ctc_greedy_decoder_seq_len", "ctc_loss"
I32, F32 = np.int32, np.float32


def scores(*shape, dtype=F32):
    return Data(np.random.default_rng(1).standard_normal(shape).astype(dtype))


def i32(*values, dtype=I32):
    return Data(np.array(values, dtype))


# Few classes, so that many labels come twice.
LOGITS = scores(4, 6, 4)
LABELS = i32([0, 1, 2, 0, 0, 0], [1, 1, 0, 2, 0, 0], [2, 2, 0, 0, 0, 0], [0, 1, 0, 9, -1, 0])
STEPS, COUNTS = i32(6, 6, 4, 3), i32(3, 4, 2, 3)
MASK = Data(np.array([[1, 1, 0], [1, 1, 1], [1, 0, 1], [1, 0, 1]], F32))
CASES = [
    *[(GREEDY, 1, scores(4, 3, 3), MASK, merge) for merge in (True, False)],
    (GREEDY, 1, scores(20, 2, 3), Data(np.ones((20, 2), F32))),
    *[(LENGTHS, 6, scores(3, 12, 3), i32(12, 5, 0), None, merge) for merge in (True, False)],
    (LENGTHS, 6, scores(3, 12, 3), i32(12, 5, 9), np.array([0], I32), True, "i64", "i64"),
    (LENGTHS, 6, scores(3, 12, 3), i32(12, 5, 9, dtype=np.int64), np.array(1)),
    *[(LOSS, 4, LOGITS, STEPS, LABELS, COUNTS, None, collapse, merge, unique)
      for collapse in (False, True) for merge in (True, False) for unique in (False, True)],
    (LOSS, 4, LOGITS, STEPS, LABELS, COUNTS, np.array(3, I32)),
    (LOSS, 4, scores(4, 6, 12), STEPS, LABELS, COUNTS, np.array(5, I32)),
    (LOSS, 4, scores(2, 3, 5), i32(2, 2), i32([3, 3, 0], [3, 4, 0]), i32(2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[-3:]}")
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_scores_of_every_type(reference_agrees, dtype):
    reference_agrees(GREEDY, scores(20, 2, 3, dtype=dtype), Data(np.ones((20, 2), dtype)))
    reference_agrees(LENGTHS, scores(3, 12, 3, dtype=dtype), i32(12, 5, 9))
    reference_agrees(LOSS, scores(4, 6, 4, dtype=dtype), STEPS, LABELS, COUNTS)


def test_lengths_and_labels_from_outside(compute):
    """The reference refuses these at run time; a kernel cannot, but it must not read elsewhere."""
    labels, counts = compute(LENGTHS, (scores(2, 3, 4), i32(2**30, -5)), {})
    assert labels.shape == (2, 3) and counts.tolist()[1] == 0
    blank = np.array(4, I32)
    arguments = scores(2, 3, 4), i32(9, 3), i32([0, 7, 2], [-5, 1, 1]), i32(2**30, 1), blank
    (loss,) = compute(LOSS, arguments, {})
    assert loss.shape == (2,)
