"""Inferred shapes for every pair of partial shapes, compared with OpenVINO."""

from itertools import permutations, product

import numpy as np
import openvino
import openvino.opset13 as theirs
import pytest

from hetero import Parameter, Type, ops
from tests.ops.oracle import Unknown, in_hetero, in_openvino
from tests.tiers import in_sample

SHAPES = [
    "[...]", "[]", "[?]", "[1]", "[3]", "[?,3]", "[2..4,1]", "[1,5]", "[?,?]", "[3..8,1..5]", "[0..1,2]", "[2,3,4]",
    "[?,1,?]", "[2,?,3..9]", "[1,3,?,4]",
]  # fmt: skip
# OpenVINO accepts shapes whose ranges are incompatible, such as [1,5] and [2..4,1].
WITHOUT_RANGES = [shape for shape in SHAPES if ".." not in shape or shape == "[...]"]
BOTH = [False, True]


def inferred(build, *arguments):
    try:
        return str(build(*arguments))
    except RuntimeError:
        return "refused"


def shape_in(build, name, arguments):
    return build(name, 13, arguments, {})[0].output(0).partial_shape


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
    cases = [case for case in CASES[name] if in_sample(f"{name} {case}", 3)]
    found = {str(case): inferred(shape_in, in_hetero, name, case) for case in cases}
    assert found == {str(case): inferred(shape_in, in_openvino, name, case) for case in cases}


# Letters are unknown dimensions. A pattern consists of numbers and of such dimensions, from ShapeOf of the data.
RESHAPED = [("a", "b", 64), ("a", 4, "b", 16), ("a", "b"), ("a", 8), (2, "a", 6)]


def in_openvino_with_symbols(data, pattern, special_zero):
    dimensions = [openvino.Dimension(-1 if isinstance(item, str) else item) for item in data]
    for dimension in dimensions:
        dimension.set_symbol(openvino.Symbol())
    value = theirs.parameter(openvino.PartialShape(dimensions))
    shape = theirs.shape_of(value)
    items = [theirs.gather(shape, np.int64([p]), np.int64(0)) if p is not None else np.int64([i]) for i, p in pattern]
    return theirs.reshape(value, theirs.concat(items, 0), special_zero).output(0).partial_shape


def in_hetero_with_symbols(data, pattern, special_zero):
    value = Parameter(Type.f32, [-1 if isinstance(item, str) else item for item in data])
    shape = ops.ShapeOf(value)
    items = [ops.Gather(shape, np.int64([p]), np.int64(0)) if p is not None else np.int64([i]) for i, p in pattern]
    return ops.Reshape(value, ops.Concat(items, 0), special_zero).output(0).partial_shape


@pytest.mark.parametrize("data", RESHAPED, ids=str)
def test_reshape_by_a_pattern_of_its_own_dimensions(data):
    items = [(item, data.index(item)) for item in data if isinstance(item, str)] + [(n, None) for n in (-1, 16, 4)]
    for pattern in (chosen for count in (1, 2, 3, 4) for chosen in permutations(items, count)):
        in_place = all(place in (None, axis) for axis, (_, place) in enumerate(pattern))
        # With special_zero, which OpenVINO ignores here, a 0 copies the dimension at its own index.
        for special_zero in BOTH if in_place else [False]:
            found, wanted = (
                inferred(build, data, pattern, special_zero)
                for build in (in_hetero_with_symbols, in_openvino_with_symbols)
            )
            assert found == wanted, (pattern, special_zero)


def test_a_dimension_of_zero_may_mean_another_one():
    pattern = [("a", 0), (-1, None), ("b", 1), (16, None)]
    assert str(in_hetero_with_symbols(("a", "b", 64), pattern, True)) == "[?,?,?,16]"
