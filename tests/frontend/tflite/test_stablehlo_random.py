"""StableHLO RNG_BIT_GENERATOR against LiteRT."""

import numpy as np
import pytest

from hetero.system.errors import HeteroError
from tests.devices import GPUS
from tests.frontend.tflite.agreement import CORE, assert_as_litert
from tests.frontend.tflite.models import feed, model_of, out

KEY = 5 << 33 | 7
# The last two counters wrap around.
STATES = [[0, 0], [KEY, 3 << 40 | 1], [KEY, 2**64 - 1]]


def bits(algorithm, state, dtype, shape):
    outputs = [out(np.uint64, (len(state),)), out(dtype, shape)]
    return model_of(
        "STABLEHLO_RNG_BIT_GENERATOR", feed(np.array(state, np.uint64)), outputs=outputs, algorithm=algorithm
    )


@pytest.mark.parametrize("state", [*STATES, *([*state, 3 << 50 | 9] for state in STATES)])
def test_philox(state):
    assert_as_litert(bits("PHILOX", state, np.uint32, (2, 5)))
    assert_as_litert(bits("DEFAULT", state, np.int64, (3,)))


@pytest.mark.parametrize("state", STATES)
def test_threefry(state):
    assert_as_litert(bits("THREEFRY", state, np.uint32, (2, 5)))
    assert_as_litert(bits("THREEFRY", state, np.int64, (3,)))


def test_on_opencl():
    """On one device only: their many operations take some seconds to build."""
    assert_as_litert(bits("THREEFRY", STATES[1], np.uint32, (2, 5)), GPUS[0])


@pytest.mark.parametrize("algorithm", ["PHILOX", "THREEFRY"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("shape", [(), (1,), (7, 3), (0,)])
def test_types_and_shapes(algorithm, dtype, shape):
    model = bits(algorithm, [KEY, 1], dtype, shape)
    (state,) = model.inputs
    assert_as_litert(model, calls=[{state: np.array([1, 2], np.uint64)}])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("THREEFRY", [1, 2, 3], np.uint32, (2,)), r"its state u64\[3\] must be u64 of \[2\] elements"),
        (("PHILOX", [1, 2], np.float32, (2,)), r"its output f32\[2\] must be 32- or 64-bit integers"),
        ((7, [1, 2], np.uint32, (2,)), "algorithm 7 is not supported"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(HeteroError, match=message):
        CORE.read_model(bits(*arguments).content)
