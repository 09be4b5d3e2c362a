import math

import numpy as np
import pytest

from hetero.frontend.numerics import activation
from tests.frontend.numerics.evaluate import evaluate

VALUES = np.linspace(-4, 4, 17, dtype=np.float32)


def softplus(x, beta=1.0):
    return np.log1p(np.exp(beta * x)) / beta


# Each function with its attributes, and the same by numpy.
CASES = {
    "leaky_relu": (0.1, lambda x: np.where(x > 0, x, 0.1 * x)),
    "selu": (2.0, 3.0, lambda x: 3 * np.where(x > 0, x, 2 * np.expm1(x))),
    "celu": (0.5, lambda x: np.maximum(0, x) + np.minimum(0, 0.5 * np.expm1(x / 0.5))),
    "swish": (2.0, lambda x: x / (1 + np.exp(-2 * x))),
    "hard_sigmoid": (0.25, 0.4, lambda x: np.clip(0.25 * x + 0.4, 0, 1)),
    "softplus": (2.0, 3.0, lambda x: np.where(2 * x > 3, x, softplus(x, 2.0))),
    "log_sigmoid": (lambda x: -softplus(-x),),
    "threshold": (1.0, -7.0, lambda x: np.where(x > 1, x, -7)),
    "hard_shrink": (1.5, lambda x: np.where(abs(x) > 1.5, x, 0)),
    "soft_shrink": (1.5, lambda x: np.sign(x) * np.maximum(abs(x) - 1.5, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_numpy(name):
    *attributes, function = CASES[name]
    found = evaluate(lambda value: getattr(activation, name)(value, *attributes), VALUES)
    np.testing.assert_allclose(found, function(VALUES.astype(np.float64)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("approximate", [False, "none", True, "tanh"])
def test_gelu(approximate):
    exact = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in VALUES.tolist()]
    tanh = [x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2 for x in VALUES.tolist()]
    found = evaluate(lambda value: activation.gelu(value, approximate), VALUES)
    np.testing.assert_allclose(found, tanh if approximate in (True, "tanh") else exact, rtol=1e-5, atol=1e-6)
