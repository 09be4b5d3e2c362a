import numpy as np
import pytest

from hetero.frontend.numerics import complex_numbers
from tests.frontend.numerics.evaluate import evaluate

LEFT, RIGHT = np.array([1 + 2j, -3j, 0.5 - 1j]), np.array([2 - 1j, 1 + 1j, -4j])
# Functions of one or two complex values, and the same by numpy.
CASES = {
    "conjugate": ((LEFT,), np.conj),
    "divide_complex": ((LEFT, RIGHT), np.divide),
    "exp_complex": ((LEFT,), np.exp),
    "multiply_complex": ((LEFT, RIGHT), np.multiply),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_numpy(name):
    values, function = CASES[name]
    parts = [np.stack([value.real, value.imag], -1) for value in values]
    real, imaginary = np.moveaxis(evaluate(getattr(complex_numbers, name), *parts), -1, 0)
    np.testing.assert_allclose(real + 1j * imaginary, function(*values), rtol=1e-12)
