"""Random numbers that depend on a seed alone."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, fixed

_REALS = ("tf.float32", "tf.float64", "tf.float16", "tf.bfloat16")
_INTEGERS = ("tf.int32", "tf.int64", "tf.uint32", "tf.uint64")
# The shape and the seed, or the shape, the key, the counter and the algorithm. Counters go on in their second number.
_SEEDS = [
    [fixed([3, 5]), fixed([-1, 2])],
    [np.array([2, 3, 4], np.int32), np.array([2**40 + 3, -(2**61)], np.int64)],
    [fixed([0, 2]), fixed([0, 0])],
]
_STATES = [
    [fixed([3, 5]), fixed([2**63 + 9], np.uint64), fixed([0, 0], np.uint64), fixed(1)],
    [np.array([7], np.int32), np.array([5], np.uint64), np.array([2**64 - 1, 2**40], np.uint64), fixed(3)],
]
_ALL = [*(("", inputs) for inputs in _SEEDS), *(("V2", inputs) for inputs in _STATES)]
_LIMITS = [(-5, 100), (0, 2**31 - 1), (-(2**31), 2**31 - 1)]
CASES = [
    *(
        Case(name + version, inputs, {"dtype": kind})
        for name in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")
        for version, inputs in _ALL
        for kind in _REALS
    ),
    *(
        Case(f"StatelessTruncatedNormal{version}", [fixed([4000]), *inputs[1:]], {"dtype": kind})
        for version, inputs in _ALL
        for kind in ("tf.float32", "tf.float64")
    ),
    *(
        Case(f"StatelessRandomUniformFullInt{version}", inputs, {"dtype": kind})
        for version, inputs in _ALL
        for kind in _INTEGERS
    ),
    *(
        Case(f"StatelessRandomUniformInt{version}", [*inputs, *(fixed(limit, dtype) for limit in limits)])
        for version, inputs in _ALL
        for dtype in (np.int32, np.int64)
        for limits in (*_LIMITS, *([(-(2**63), 2**63 - 1), (2**40, 2**62)] if dtype is np.int64 else []))
    ),
    *(
        Case(name, [seed])
        for name in ("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg")
        for _, seed in _SEEDS
    ),
    Case("StatelessRandomGetAlg", []),
]
