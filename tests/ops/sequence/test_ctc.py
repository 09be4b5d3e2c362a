"""Connectionist temporal classification, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes

GREEDY, LENGTHS, LOSS = "ctc_greedy_decoder", "ctc_greedy_decoder_seq_len", "ctc_loss"
I32, F32 = np.int32, np.float32


def scores(*shape, dtype=F32):
    return Data(np.random.default_rng(1).standard_normal(shape).astype(dtype))


def i32(*values, dtype=I32):
    return Data(np.array(values, dtype))


# Few classes, so that many labels repeat.
LOGITS = scores(4, 6, 4)
LABELS = i32([0, 1, 2, 0, 0, 0], [1, 1, 0, 2, 0, 0], [2, 2, 0, 0, 0, 0], [0, 1, 0, 9, -1, 0])
STEPS, COUNTS = i32(6, 6, 4, 3), i32(3, 4, 2, 3)
MASK = Data(np.array([[1, 1, 0], [1, 1, 1], [1, 0, 1], [1, 0, 1]], F32))
RESULTS = [
    *[(GREEDY, 1, scores(4, 3, 3), MASK, merge) for merge in (True, False)],
    (GREEDY, 1, scores(20, 2, 3), Data(np.ones((20, 2), F32))),
    *[(LENGTHS, 6, scores(3, 12, 3), i32(12, 5, 0), None, merge) for merge in (True, False)],
    (LENGTHS, 6, scores(3, 12, 3), i32(12, 5, 9), np.array([0], I32), True, "i64", "i64"),
    (LENGTHS, 6, scores(3, 12, 3), i32(12, 5, 9, dtype=np.int64), np.array(1)),
    *[(LOSS, 4, LOGITS, STEPS, LABELS, COUNTS, None, collapse, merge, unique)
      for collapse in (False, True) for merge in (True, False) for unique in (False, True)],
    (LOSS, 4, LOGITS, STEPS, LABELS, COUNTS, np.array(3, I32)),
    (LOSS, 4, scores(4, 6, 12), STEPS, LABELS, COUNTS, np.array(5, I32)),
    (GREEDY, 1, scores(20, 2, 3, dtype=np.float16), Data(np.ones((20, 2), np.float16))),
    (LENGTHS, 6, scores(3, 12, 3, dtype=np.float16), i32(12, 5, 9)),
    (LOSS, 4, scores(2, 3, 5), i32(2, 2), i32([3, 3, 0], [3, 4, 0]), i32(2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0]}-{case[-3:]}")
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


def test_loss_of_no_labels_is_that_of_blanks():
    """The loss is infinite if the labels, with blanks between equal ones, do not fit into the steps."""
    arguments = (LOGITS, i32(3, 2, 3, 2), i32(*[[1, 1, 0, 0, 0, 0]] * 4), i32(0, 2, 2, 0))
    (loss,) = run(*in_hetero(LOSS, 4, arguments, {}), [value.array for value in arguments])
    chances = np.exp(LOGITS.array) / np.exp(LOGITS.array).sum(axis=2, keepdims=True)
    blanks = -np.log(chances[:, :, 3]).cumsum(axis=1)
    only = -np.log(chances[2, [0, 1, 2], [1, 3, 1]]).sum()
    np.testing.assert_allclose(loss, [blanks[0, 2], np.inf, only, blanks[3, 1]], rtol=1e-6)


def test_more_labels_than_steps_are_refused():
    arguments = (LOGITS, i32(3, 2, 3, 2), i32(*[[1, 1, 0, 0, 0, 0]] * 4), i32(0, 3, 2, 0))
    with pytest.raises(ValueError, match="labels for"):
        run(*in_hetero(LOSS, 4, arguments, {}), [value.array for value in arguments])


def unknown(*shape, dtype=F32):
    return Unknown(shape, dtype)


def whole(*shape, dtype=I32):
    return Unknown(shape, dtype)


LOSS_INPUTS = unknown(2, 10, 5), whole(2), whole(2, 10), whole(2)
SHAPES = [
    (GREEDY, 1, unknown(-1, 2, 5), unknown(10, -1)),
    (GREEDY, 1, Unknown("[...]", np.float16), unknown(10, 2, dtype=np.float16)),
    (GREEDY, 1, unknown(10, 2, 5), whole(10, 2)),
    (LENGTHS, 6, unknown(2, 10, 5), whole(2), None, True, "i64", "i32"),
    (LENGTHS, 6, unknown(-1, 10, 5), whole(2), np.array([1])),
    (LENGTHS, 6, Unknown("[...]"), Unknown("[...]", I32)),
    (LOSS, 4, *LOSS_INPUTS),
    (LOSS, 4, unknown(-1, 10, 5, dtype=np.float16), *LOSS_INPUTS[1:], np.array(0)),
    (LOSS, 4, Unknown("[...]"), *[Unknown("[...]", I32)] * 3),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


REFUSED = [
    (GREEDY, 1, unknown(10, 2, 5), unknown(11, 2)),
    (GREEDY, 1, unknown(10, 2, 5), unknown(10, 3)),
    (GREEDY, 1, unknown(10, 2), unknown(10, 2)),
    (GREEDY, 1, unknown(10, 2, 5), unknown(10)),
    (LENGTHS, 6, unknown(2, 10, 5), whole(3)),
    (LENGTHS, 6, unknown(2, 10, 5), whole(2, 1)),
    (LENGTHS, 6, unknown(2, 10), whole(2)),
    (LENGTHS, 6, unknown(2, 10, 5), whole(2), np.array([0, 1])),
    (LENGTHS, 6, unknown(2, 10, 5), whole(2), F32(0)),
    (LOSS, 4, unknown(2, 9, 5), *LOSS_INPUTS[1:]),
    (LOSS, 4, unknown(3, 10, 5), *LOSS_INPUTS[1:]),
    (LOSS, 4, unknown(2, 10), *LOSS_INPUTS[1:]),
    (LOSS, 4, whole(2, 10, 5), *LOSS_INPUTS[1:]),
    (LOSS, 4, LOSS_INPUTS[0], unknown(2), *LOSS_INPUTS[2:]),
    (LOSS, 4, *LOSS_INPUTS, np.array([0])),
    (LOSS, 4, *LOSS_INPUTS, F32(0)),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)


@pytest.mark.parametrize(("batch", "time"), [(0, 4), (2, 0)])
def test_without_steps(batch, time):
    logits, lengths = np.zeros((batch, time, 3), F32), np.zeros(batch, I32)
    arrays = [logits, lengths, np.zeros((batch, time), I32), lengths]
    (loss,) = run(*in_hetero(LOSS, 4, tuple(map(Data, arrays)), {}), arrays)
    assert loss.tolist() == [0] * batch  # nothing is certain to be nothing
    arrays = [logits, lengths]
    labels, counts = run(*in_hetero(LENGTHS, 6, tuple(map(Data, arrays)), {}), arrays)
    assert (labels.shape, counts.tolist()) == ((batch, time), [0] * batch)
