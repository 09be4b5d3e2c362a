"""Shapes and errors of LshProjection; the tests of the frontend compare its values with LiteRT."""

import pytest

from hetero import HeteroError, Parameter, Type, ops


def projection(*shapes, kind=Type.i32, **attributes):
    hashes, data, *weights = shapes
    weights = [Parameter(Type.f32, shape) for shape in weights]
    return ops.LshProjection(Parameter(Type.f32, hashes), Parameter(kind, data), *weights, **attributes)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (lambda: projection([3, 5], [6, 2]), [15]),
        (lambda: projection([-1, 5], [6, 2], [6]), [-1]),
        (lambda: projection([3, -1], [-1], [6], is_sparse=True), [3]),
    ],
)
def test_shapes(node, expected):
    assert node().output(0).partial_shape == expected


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (lambda: projection([3, 33], [6]), "at most 32 columns"),
        (lambda: projection([3, 5], []), "data must have one or more dimensions"),
        (lambda: projection([3, 5], [6], [5]), "rows and weights must be equal"),
        (lambda: projection([3, 5], [6], kind=Type.string), "input 1 must be numbers"),
    ],
)
def test_refused(node, problem):
    with pytest.raises(HeteroError, match=problem):
        node()
