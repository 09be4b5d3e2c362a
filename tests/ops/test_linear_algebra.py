"""Matrices, cumulative sums and indices of what is not zero, against OpenVINO, or the formula where it fails."""

import numpy as np
import openvino
import openvino.opset14 as openvino_ops
import pytest

from hetero import Parameter, Type, ops
from hetero.errors import GraphError
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(9)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def number(value, dtype=np.int64):
    return np.array(value, dtype)


EQUATIONS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
    "ij->ji": [(2, 3)],
    "ij->": [(2, 3)],
    "ab,cd->abcd": [(2, 3), (4, 5)],
    "ij,ij,jk->k": [(2, 3), (2, 3), (3, 4)],
    "b...i,...ki->b...k": [(2, 3, 5), (3, 4, 5)],
    "...ab,...bc->...ac": [(2, 1, 3, 4), (5, 4, 6)],
    "Ab,bc": [(2, 3), (3, 4)],
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation):
    same_results("einsum", [Data(floats(*shape)) for shape in EQUATIONS[equation]], equation, tolerance=1e-4)


def test_einsum_of_a_diagonal():
    matrix = floats(3, 3)
    (found,) = evaluate(ops.Einsum([Parameter(Type.f32, [3, 3])], "ii->i"), [matrix])
    np.testing.assert_array_equal(found, matrix.diagonal())


def test_shapes_of_einsum():
    same_shapes("einsum", [Unknown([2, -1]), Unknown([3, (2, 5)])], "ab,cb->ac")
    same_shapes("einsum", [Unknown([-1, 3, 5]), Unknown([3, -1, 5])], "b...i,...ki->b...k")


@pytest.mark.parametrize(
    ("shapes", "equation", "message"),
    [
        ([[2, 3]], "ij,jk->ik", "is for 2 inputs, but it has 1"),
        ([[2, 3], [4, 5]], "ij,jk->ik", "label j .* stands for 3 and for 4"),
        ([[2, 3]], "ijk->i", "do not fit an input of shape"),
        ([[2, 3]], "ij->k", "label k of the result is in no input"),
        ([[2, 3]], "i;j->i", "may have letters"),
    ],
)
def test_einsum_refused(shapes, equation, message):
    with pytest.raises(GraphError, match=message):
        ops.Einsum([Parameter(Type.f32, shape) for shape in shapes], equation)


@pytest.mark.parametrize("diagonal", [0, 1, -2, 7])
@pytest.mark.parametrize("kind", ["f32", "i32", "i64", "u8"])
def test_eye(kind, diagonal):
    same_results("eye", number(3), number(4), number(diagonal), kind)
    same_results("eye", number([3]), number([2]), number([diagonal]), kind, number([2, 1]))


def test_shapes_of_eye():
    same_shapes("eye", Unknown([1], np.int64), number(3), Unknown([], np.int64), "f32")
    same_shapes("eye", number(2), number([3]), number(1), "i32", Unknown([2], np.int64))
    both_refuse("eye", Unknown([]), number(3), number(0), "f32")


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (1, 1), (0, 2, 2)], ids=str)
@pytest.mark.parametrize("adjoint", [False, True])
def test_inverse(shape, adjoint):
    """OpenVINO's CPU device divides by what it has not set for ``adjoint``, so its node's evaluation is the oracle."""
    data = floats(*shape) + 3 * np.eye(shape[-1], dtype=np.float32)
    (found,) = evaluate(ops.Inverse(Parameter(Type.f32, shape), adjoint), [data])
    expected = np.linalg.inv(data.astype(np.float64))
    if adjoint:
        expected = expected * np.linalg.det(data.astype(np.float64))[..., None, None]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    if not adjoint and data.size:
        same_results("inverse", Data(data), opset=14, tolerance=1e-4)


def test_shapes_of_inverse():
    same_shapes("inverse", Unknown([-1, 3, 3]), opset=14)
    same_shapes("inverse", Unknown([2, -1, 3]), opset=14)
    both_refuse("inverse", Unknown([2, 3]), opset=14)
    both_refuse("inverse", Unknown([2, 2], np.int32), opset=14)
    with pytest.raises(GraphError, match="must be square matrices"):
        ops.Det(Parameter(Type.f32, [2, 3]))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, -1, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_cumulative_sum(dtype, axis, exclusive, reverse):
    data = (10 * floats(2, 3, 4)).astype(dtype)
    same_results("cum_sum", Data(data), number(axis), exclusive, reverse)


def test_cumulative_sum_of_little():
    same_results("cumsum", Data(floats(3)), number(0, np.int32), True)
    same_results("cum_sum", Data(floats(2, 0)), number(1))
    same_shapes("cum_sum", Unknown([2, -1]), Unknown([], np.int64))
    with pytest.raises(GraphError, match="axis 2 does not exist"):
        ops.CumSum(Parameter(Type.f32, [2, 3]), number(2))


@pytest.mark.parametrize("output_type", ["i32", "i64"])
@pytest.mark.parametrize(
    "data",
    [floats(2, 3) > 0, np.int32([[0, 1], [2, 0]]), np.float32([0, -1, 0, 2]), np.zeros((2, 2), np.float32)],
    ids=["boolean", "integers", "vector", "nothing"],
)
def test_non_zero(data, output_type):
    same_results("non_zero", Data(data), output_type)


def test_shapes_of_non_zero():
    same_shapes("non_zero", Unknown([2, 3]))
    same_shapes("non_zero", Unknown([]))
    same_shapes("non_zero", Unknown([-1, (2, 3)]), "i32")


@pytest.mark.parametrize("name", ["acosh", "asinh", "atanh"])
def test_inverse_hyperbolic_functions(name):
    data = np.float32([1, 1.5, 3, 100]) if name == "acosh" else np.float32([-0.9, 0, 0.5, 0.99])
    same_results(name, Data(data), tolerance=1e-4)
    theirs = getattr(openvino_ops, name)(openvino_ops.constant(np.int32([1, 0])))
    assert theirs.get_output_element_type(0) == openvino.Type.i32
    both_refuse(name, Unknown([2], np.bool_))
