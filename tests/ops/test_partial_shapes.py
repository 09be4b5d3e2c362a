"""Inferred shapes of every pair of partly known shapes beside OpenVINO."""

from itertools import product

import numpy as np
import pytest

from tests.ops.oracle import Unknown, in_hetero, in_openvino

SHAPES = [
    "[...]", "[]", "[?]", "[1]", "[3]", "[?,3]", "[2..4,1]", "[1,5]", "[?,?]", "[3..8,1..5]", "[0..1,2]", "[2,3,4]",
    "[?,1,?]", "[2,?,3..9]", "[1,3,?,4]",
]  # fmt: skip
# OpenVINO multiplies what ranges show cannot fit, such as [1,5] and [2..4,1].
WITHOUT_RANGES = [shape for shape in SHAPES if ".." not in shape or shape == "[...]"]
BOTH = [False, True]


def inferred(build, name, arguments):
    try:
        return str(build(name, 13, arguments, {})[0].output(0).partial_shape)
    except RuntimeError:
        return "refused"


PAIRS = [(Unknown(a), Unknown(b)) for a, b in product(SHAPES, SHAPES)]
CASES = {
    "add": [*PAIRS, *[(*pair, "none") for pair in PAIRS]],
    "less": PAIRS,
    "prelu": PAIRS,
    "matmul": [(Unknown(a), Unknown(b), *t) for a, b in product(WITHOUT_RANGES, repeat=2) for t in product(BOTH, BOTH)],
    "select": [(Unknown(c, np.bool_), *pair) for c in ("[...]", "[?]", "[3]", "[2,?,?]") for pair in PAIRS],
    "softmax": [(Unknown(shape), axis) for shape in SHAPES for axis in (0, 1, -1, -2, 3)],
    "reduce_max": [
        (Unknown(shape), np.int64(axes), keep)
        for shape, axes, keep in product(SHAPES, ([], [0], [1], [-1], [2, 0], [0, 0], 1), BOTH)
        if not (shape == "[]" and keep)  # OpenVINO refuses to keep the dimensions of a scalar
    ],
    "batch_norm_inference": [
        (Unknown(shape), Unknown(vector), *[Unknown("[?]")] * 3, 1e-5)
        for shape, vector in product(SHAPES, ("[...]", "[?]", "[3]", "[2..4]", "[]"))
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_shapes(name):
    found = {str(case): inferred(in_hetero, name, case) for case in CASES[name]}
    assert found == {str(case): inferred(in_openvino, name, case) for case in CASES[name]}
