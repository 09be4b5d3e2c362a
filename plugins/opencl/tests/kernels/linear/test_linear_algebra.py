"""Determinants and inverses, compared with numpy."""

import numpy as np
import pytest

from hetero import Parameter, Type, ops

GENERATOR = np.random.default_rng(9)
SHAPES = [(3, 3), (2, 4, 4), (1, 1), (2, 3, 5, 5), (0, 2, 2), (2, 0, 0), (70, 70)]


def matrices(shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


def compute(run, operation, array, **attributes):
    parameter = Parameter(Type(array.dtype), array.shape)
    return run([operation(parameter, **attributes)], [parameter], [array])[0]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("adjoint", [False, True])
def test_inverse(run, shape, adjoint):
    array = matrices(shape) + 3 * np.eye(shape[-1], dtype=np.float32) * (shape[-1] < 10)
    found = compute(run, ops.Inverse, array, adjoint=adjoint)
    expected = np.linalg.inv((array.swapaxes(-1, -2) if adjoint else array).astype(np.float64))
    assert found.shape == expected.shape
    # The error grows with the condition of a matrix, here up to some hundreds.
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * abs(expected).max(initial=0))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_determinant(run, shape):
    array = matrices(shape) * 1.6 / np.float32(max(1, shape[-1])) ** 0.5  # so that large ones do not overflow
    found, expected = compute(run, ops.Det, array), np.linalg.det(array.astype(np.float64))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_determinant_that_is_zero(run):
    array = np.array([[[1, 2, 3], [2, 4, 6], [1, 1, 1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]], np.float32)
    np.testing.assert_allclose(compute(run, ops.Det, array), [0, 1], atol=1e-6)


@pytest.mark.parametrize(("kind", "tolerance"), [(Type.f16, 1e-3), (Type.bf16, 8e-3), (Type.f64, 1e-12)], ids=str)
@pytest.mark.parametrize("operation", [ops.Inverse, ops.Det])
def test_types(run, operation, kind, tolerance):
    array = (matrices((2, 4, 4)) + 4 * np.eye(4, dtype=np.float32)).astype(kind.to_dtype())
    found = compute(run, operation, array)
    assert found.dtype == array.dtype
    expected = (np.linalg.inv if operation is ops.Inverse else np.linalg.det)(array.astype(np.float64))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=tolerance, atol=tolerance / 100)
