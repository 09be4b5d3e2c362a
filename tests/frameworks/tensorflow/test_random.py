"""Random numbers that depend on a seed alone: TensorFlow's, in each inference, of each model, on each device."""

import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import FrontendError
from tests.devices import GPUS
from tests.frameworks.tensorflow.agreement import frozen

tf = pytest.importorskip("tensorflow")
SEEDS = [np.array(seed, np.int32) for seed in ([3, -4], [0, 0], [3, -4])]


def numbers(seed):
    return [
        tf.random.stateless_uniform([3, 4], seed, -1, 1),
        tf.random.stateless_normal([5], seed, 1, 2),
        tf.random.stateless_truncated_normal([9], seed),
        tf.random.stateless_uniform([4], seed, -10, 50, tf.int32),
        tf.random.stateless_uniform([4], seed, None, None, tf.int32),
    ]


def assert_equal(found, expected):
    for array, wanted in zip(found.to_tuple(), expected, strict=True):
        assert array.dtype == wanted.numpy().dtype
        np.testing.assert_allclose(array, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("device", ["TEMPLATE", GPUS[0]])
def test_seeds_of_the_input(device):
    compiled = Core().compile_model(frozen(numbers, tf.TensorSpec([2], tf.int32)), device)
    for seed in SEEDS:
        assert_equal(compiled([seed]), numbers(seed))


@pytest.mark.parametrize("device", ["TEMPLATE", GPUS[0]])
def test_a_seed_of_the_model(device):
    def shifted(x):
        return [value + tf.cast(x, value.dtype) for value in numbers(SEEDS[0])]

    for _ in range(2):
        compiled = Core().compile_model(frozen(shifted, np.int32(0)), device)
        for number in (0, 2):
            assert_equal(compiled([np.int32(number)]), shifted(tf.constant(number)))


def test_other_algorithms_are_refused():
    def function(x):
        state = np.uint64([1, 2])
        return x * tf.raw_ops.StatelessRandomUniformV2(shape=[3], key=state[:1], counter=state, alg=2)

    with pytest.raises(FrontendError, match="the algorithm 2 is not supported"):
        Core().read_model(frozen(function, np.float32(1)))
