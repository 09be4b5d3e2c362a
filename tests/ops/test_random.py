"""Random numbers equal OpenVINO's reference for given seeds, and have the right distribution."""

import threading

import hetero.opset16 as hetero_ops
import numpy as np
import openvino
import openvino.opset16 as openvino_ops
import pytest

from hetero import HeteroError, Type
from hetero.reference import evaluate, random
from tests.ops.oracle import Unknown, both_refuse, same_shapes
from tests.threads import WatchedLock, interleaved

LIMITS = {
    "f16": (0, 1), "f32": (-3, 5), "f64": (0, 1), "i32": (-10, 50), "i64": (0, 50), "bf16": (-1, 1),
}  # fmt: skip


def uniform(name, shape, low, high, seed, stream, alignment):
    """Return the numbers of hetero and of OpenVINO's node; its CPU device uses 32 bits for i64 and f64."""
    dtype = Type(name).to_dtype()
    inputs = [np.array(shape, np.int64), np.array(low, dtype), np.array(high, dtype)]
    node = hetero_ops.random_uniform(*inputs, name, seed, stream, alignment)
    (found,) = evaluate(node, inputs)
    theirs = openvino_ops.random_uniform(*map(openvino_ops.constant, inputs), name, seed, stream, alignment)
    output = openvino.Tensor(theirs.get_output_element_type(0), openvino.Shape(shape))
    assert theirs.evaluate([output], [openvino.Tensor(array) for array in inputs])
    return found, np.array(output.data)


@pytest.mark.parametrize("alignment", ["tensorflow", "pytorch"])
@pytest.mark.parametrize("name", ["f16", "f32", "f64", "i32", "i64"])
@pytest.mark.parametrize("shape", [[], [1], [3, 5], [2, 0]], ids=str)
def test_uniform_numbers_are_openvinos(name, shape, alignment):
    found, expected = uniform(name, shape, *LIMITS[name], 150, 10, alignment)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("alignment", ["tensorflow", "pytorch"])
def test_integers_of_a_large_range(alignment):
    found, expected = uniform("i64", [7], -5, 1 << 40, (1 << 33) + 1, 1 << 35, alignment)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", LIMITS)
def test_distribution(name):
    low, high = LIMITS[name]
    dtype = Type(name).to_dtype()
    inputs = [np.array([10000], np.int64), np.array(low, dtype), np.array(high, dtype)]
    (found,) = evaluate(hetero_ops.random_uniform(*inputs, name), inputs)
    numbers = found.astype(np.float64)
    assert numbers.min() >= low
    assert numbers.max() < high or name == "bf16"  # which rounds up to the end
    # Five standard errors of the mean of a uniform distribution.
    assert abs(numbers.mean() - (low + high) / 2) < 5 * (high - low) / np.sqrt(12 * 10000) + 0.5 * (name[0] == "i")


def test_an_inference_goes_on_where_the_last_one_ended():
    inputs = [np.array([4], np.int64), np.float32(0), np.float32(1)]
    whole = hetero_ops.random_uniform(np.array([8], np.int64), *inputs[1:], "f32", 3, 4)
    node = hetero_ops.random_uniform(*inputs, "f32", 3, 4)
    parts = [evaluate(node, inputs)[0] for _ in range(2)]
    np.testing.assert_array_equal(np.concatenate(parts), evaluate(whole, [np.array([8]), *inputs[1:]])[0])


def test_without_seeds_numbers_differ_every_time():
    inputs = [np.array([4], np.int64), np.float32(0), np.float32(1)]
    node = hetero_ops.random_uniform(*inputs, "f32")
    assert (evaluate(node, inputs)[0] != evaluate(node, inputs)[0]).any()


PROBS = np.float32([[0.1, 0.2, 0.3, 0.4], [4, 0, 2, 2]])


@pytest.mark.parametrize("log_probs", [False, True])
def test_samples_have_their_probabilities(log_probs):
    with np.errstate(divide="ignore"):
        probs = np.log(PROBS) if log_probs else PROBS
    inputs = [probs, np.array([20000], np.int64)]
    node = hetero_ops.multinomial(*inputs, "i32", True, log_probs, 5, 6)
    (found,) = evaluate(node, inputs)
    assert (found.dtype, found.shape) == (np.int32, (2, 20000))
    for row, expected in zip(found, PROBS / PROBS.sum(axis=1, keepdims=True)):
        np.testing.assert_allclose(np.bincount(row, minlength=4) / row.size, expected, atol=0.02)


def test_without_replacement_nothing_is_drawn_twice():
    probs = np.float32([[1, 2, 3, 4]] * 500)
    inputs = [probs, np.array(4, np.int64)]
    (found,) = evaluate(hetero_ops.multinomial(*inputs, "i64", False, False, 5, 6), inputs)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.tile(np.arange(4), (500, 1)))
    # The first draw has the given probabilities.
    np.testing.assert_allclose(np.bincount(found[:, 0]) / 500, probs[0] / 10, atol=0.07)


def test_shapes():
    zero, one = np.float32(0), np.float32(1)
    same_shapes("random_uniform", np.int64([2, 3]), zero, one, "f32")
    same_shapes("random_uniform", Unknown([2], np.int64), zero, one, "f32")
    same_shapes("random_uniform", Unknown([-1], np.int64), Unknown([1]), Unknown([]), "f32")
    same_shapes("multinomial", PROBS, np.int64([3]), "i32", True, False, opset=13)
    same_shapes("multinomial", Unknown([-1, 4]), np.int64(3), "i64", True, False, opset=13)
    same_shapes("multinomial", Unknown([2, -1]), Unknown([1], np.int64), "i64", False, False, opset=13)


def test_refused():
    zero, one = np.float32(0), np.float32(1)
    both_refuse("random_uniform", np.int64([2]), one, zero, "f32")
    both_refuse("random_uniform", np.int64([2]), zero, one, "i32")
    both_refuse("random_uniform", np.int64([2]), Unknown([2]), one, "f32")
    both_refuse("multinomial", Unknown([2, 3, 4]), np.int64([1]), "i64", True, False, opset=13)
    both_refuse("multinomial", Unknown([2, 3], np.int32), np.int64([1]), "i64", True, False, opset=13)


def test_more_samples_than_columns_without_replacement():
    with pytest.raises(HeteroError, match="4 samples cannot be drawn without replacement from 3 columns"):
        hetero_ops.multinomial(PROBS[:, :3], np.int64([4]), "i64", False, False)


@pytest.mark.parametrize("alignment", ["tensorflow", "pytorch"])
def test_two_requests_that_share_a_generator_draw_different_numbers(alignment, monkeypatch):
    settled = threading.Event()
    monkeypatch.setattr(random._positions, "_lock", WatchedLock(settled), raising=False)
    inputs = [np.int64([4]), np.float32(0), np.float32(1)]
    node = hetero_ops.random_uniform(*inputs, "f32", 150, 10, alignment)

    def draw() -> list[float]:
        return evaluate(node, inputs)[0].tolist()

    for mine, others in interleaved(draw, draw, settled, random):
        assert len({*mine, *others}) == 8
