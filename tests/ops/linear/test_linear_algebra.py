"""Eye, Inverse, Det and NonZero, compared with OpenVINO, or with the formula where OpenVINO fails."""

import numpy as np
import openvino
import openvino.opset14 as openvino_ops
import pytest

from hetero import Parameter, Type, ops
from hetero.reference import evaluate
from hetero.system.errors import GraphError
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(9)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def number(value, dtype=np.int64):
    return np.array(value, dtype)


@pytest.mark.parametrize("diagonal", [0, 1, -2, 7])
@pytest.mark.parametrize("kind", ["f32", "i32", "i64", "u8"])
def test_eye(kind, diagonal):
    same_results("eye", number(3), number(4), number(diagonal), kind)
    same_results("eye", number([3]), number([2]), number([diagonal]), kind, number([2, 1]))


def test_shapes_of_eye():
    same_shapes("eye", Unknown([1], np.int64), number(3), Unknown([], np.int64), "f32")
    same_shapes("eye", number(2), number([3]), number(1), "i32", Unknown([2], np.int64))
    both_refuse("eye", Unknown([]), number(3), number(0), "f32")


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (1, 1), (2, 3, 5, 5)], ids=str)
def test_inverse(shape, adjoint):
    """With adjoint, the inverse of the transposed matrix, as in the specification of Inverse-14."""
    same_results("inverse", Data(floats(*shape) + 3 * np.eye(shape[-1], dtype=np.float32)), adjoint, opset=14)


def test_inverse_of_nothing():
    assert evaluate(ops.Inverse(Parameter(Type.f32, [0, 2, 2])), [np.zeros([0, 2, 2], np.float32)])[0].shape == (
        0,
        2,
        2,
    )


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 2, 2)], ids=str)
def test_determinant(shape):
    matrices = floats(*shape)
    (found,) = evaluate(ops.Det(matrices), [matrices])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.linalg.det(matrices.astype(np.float64)), rtol=1e-4)


def test_shapes_of_inverse():
    same_shapes("inverse", Unknown([-1, 3, 3]), opset=14)
    same_shapes("inverse", Unknown([2, -1, 3]), opset=14)
    both_refuse("inverse", Unknown([2, 3]), opset=14)
    both_refuse("inverse", Unknown([2, 2], np.int32), opset=14)
    with pytest.raises(GraphError, match="must be square matrices"):
        ops.Det(Parameter(Type.f32, [2, 3]))


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
