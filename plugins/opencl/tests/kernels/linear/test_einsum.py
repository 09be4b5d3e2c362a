"""Einsum, compared with numpy."""

import numpy as np
import pytest

from hetero import Parameter, Type, ops
from tests.ops.linear.test_einsum import EQUATIONS

GENERATOR = np.random.default_rng(3)

MORE = [
    ("ij,jk->ijk", [[2, 1], [3, 4]]), ("ij,jk->ik", [[2, 1], [3, 4]]), ("...,...->...", [[2, 1, 3], [4, 1]]),
    ("iji->j", [[3, 4, 3]]), ("iij,jkk->ik", [[2, 2, 3], [3, 5, 5]]), ("abc->cab", [[2, 3, 4]]), ("->", [[]]),
    ("i,->i", [[3], []]), ("ij,jk->ki", [[20, 30], [30, 40]]), ("a,b,c->cba", [[2], [3], [4]]),
    ("ij,kl->", [[2, 3], [4, 5]]), ("ij->ij", [[2, 3]]), ("ij->i", [[2, 0]]), ("...a->...", [[3]]),
    ("aab,b...c,dc...->...da", [[2, 2, 3], [3, 2, 1, 4], [5, 4, 2, 3]]), ("i,i,i->i", [[3], [1], [3]]),
]  # fmt: skip


def einsum(run, equation, arrays):
    parameters = [Parameter(Type(array.dtype), array.shape) for array in arrays]
    return run([ops.Einsum(parameters, equation)], parameters, arrays)[0]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS + MORE)
def test_equations(run, equation, shapes):
    arrays = [GENERATOR.standard_normal(shape).astype(np.float32) for shape in shapes]
    arrays = [np.asarray(array, np.float32) for array in arrays]
    found, expected = einsum(run, equation, arrays), np.einsum(equation, *arrays)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("kind", "tolerance"), [(Type.f16, 1e-3), (Type.bf16, 8e-3), (Type.f64, 1e-14)], ids=str)
@pytest.mark.parametrize("equation", ["ij,jk->ik", "ij,kj,jl->lk"])
def test_types(run, equation, kind, tolerance):
    """Intermediate values between two products are not rounded to the narrow type."""
    shapes = [[7, 20], [20, 6]] if "kj" not in equation else [[7, 20], [6, 20], [20, 9]]
    arrays = [GENERATOR.uniform(0.5, 1, shape).astype(kind.to_dtype()) for shape in shapes]
    found = einsum(run, equation, arrays)
    assert found.dtype == kind.to_dtype()
    expected = np.einsum(equation, *(array.astype(np.float64) for array in arrays))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=tolerance)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64])
@pytest.mark.parametrize("equation", ["ij,jk->ik", "ij,jk->k", "ij,jk->ijk"])
def test_integers_wrap_around(run, dtype, equation):
    limits = np.iinfo(dtype)
    arrays = [GENERATOR.integers(limits.min, limits.max, shape, dtype, True) for shape in ((3, 20), (20, 18))]
    found = einsum(run, equation, arrays)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.einsum(equation, *arrays, dtype=dtype))
