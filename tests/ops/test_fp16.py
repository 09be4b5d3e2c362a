"""f16 and bf16 results are OpenVINO's f32 results rounded; accuracy of erf."""

import math

import ml_dtypes
import numpy as np
import pytest

from hetero.reference.elementwise.elementwise import erf
from tests.ops.oracle import Data, core, in_hetero, in_openvino, openvino, run

rng = np.random.default_rng(5)
LARGE = rng.uniform(200, 400, [4, 512])
SMALL = rng.uniform(0.1, 0.9, [4, 512])
AROUND_0 = rng.uniform(-4, 4, [4, 512])
AXIS = np.int64([1])

CASES = [
    *[(name, [AROUND_0], {}) for name in ("abs", "ceiling", "floor", "exp", "erf", "relu", "sigmoid", "sign", "tanh")],
    *[(name, [AROUND_0], {}) for name in ("hswish", "hsigmoid", "mish", "softplus", "softsign", "round")],
    *[(name, [SMALL], {}) for name in ("acos", "asin", "log", "sqrt")],
    *[(name, [SMALL, LARGE], {}) for name in ("add", "subtract", "multiply", "divide", "maximum", "less")],
    *[(f"reduce_{name}", [LARGE, AXIS], {}) for name in ("mean", "max", "min", "l2")],
    ("reduce_sum", [SMALL, AXIS], {}),
    ("power", [SMALL, AROUND_0], {}),
    ("elu", [AROUND_0], {"alpha": 0.7}),
    ("clamp", [AROUND_0], {"min_value": -1, "max_value": 1.5}),
    ("gelu", [AROUND_0], {"approximation_mode": "erf"}),
    ("round", [AROUND_0], {"mode": "half_away_from_zero"}),
    ("softmax", [AROUND_0], {"axis": 1}),
    ("log_softmax", [AROUND_0], {"axis": 1}),
    ("mvn", [LARGE, AXIS], {"normalize_variance": True, "eps": 1e-5, "eps_mode": "inside_sqrt"}),
    ("matmul", [SMALL, SMALL], {"transpose_a": False, "transpose_b": True}),
]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("name", "arrays", "attributes"), CASES)
def test_halves(name, arrays, attributes, dtype):
    arrays = [array if array is AXIS else Data(array.astype(dtype)) for array in arrays]
    wide = [array if array is AXIS else Data(array.array.astype(np.float32)) for array in arrays]
    node, parameters = in_openvino(name, 13, tuple(wide), attributes)
    model = core.compile_model(openvino.Model([node], parameters), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    expected = model([array.array for array in wide if array is not AXIS])[0]
    ours, parameters = in_hetero(name, 13, tuple(arrays), attributes)
    found = run(ours, parameters, [array.array for array in arrays if array is not AXIS])[0]
    assert found.dtype == (dtype if expected.dtype == np.float32 else expected.dtype)
    one_unit = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=one_unit, atol=1e-6)


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 1.25e-7), (np.float64, 2e-8)])
def test_how_near_erf_comes(dtype, error):
    x = np.concatenate([np.linspace(-6, 6, 100_001), np.geomspace(1e-30, 1, 1001), [1e30, np.inf]]).astype(dtype)
    assert np.abs(erf(x) - [math.erf(value) for value in x]).max() < error
    assert np.isnan(erf(np.array([np.nan], dtype)))
