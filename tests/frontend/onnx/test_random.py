"""Random operators: types, shapes, seeds and distributions. ONNX does not define the numbers."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import hetero
from tests.frontend.onnx.compare import make_model

LIKE = np.zeros((40, 500), np.float32)


def draw(kind, like=True, times=1, **attributes):
    inputs = {"x": LIKE if like is True else like} if like is not False else {}
    model = make_model([helper.make_node(kind, list(inputs), ["y"], **attributes)], inputs, opset=22)
    compiled = hetero.Core().compile_model(model, "TEMPLATE")
    return [compiled(inputs)[0] for _ in range(times)]


CASES = {
    "RandomUniform": (False, {"shape": [40, 500], "low": -1.0, "high": 3.0}, 1, 4 / np.sqrt(12)),
    "RandomUniformLike": (True, {"low": 2.0, "high": 4.0}, 3, 2 / np.sqrt(12)),
    "RandomNormal": (False, {"shape": [40, 500], "mean": 2.0, "scale": 3.0}, 2, 3),
    "RandomNormalLike": (True, {"mean": -2.0, "scale": 0.5}, -2, 0.5),
    "Bernoulli": (LIKE + 0.25, {}, 0.25, np.sqrt(0.25 * 0.75)),
}


@pytest.mark.parametrize("seed", [None, 3.5])
@pytest.mark.parametrize("kind", CASES)
def test_mean_and_deviation(kind, seed):
    like, attributes, mean, deviation = CASES[kind]
    attributes = attributes if seed is None else attributes | {"seed": seed}
    (numbers,) = draw(kind, like, **attributes)
    assert (numbers.dtype, numbers.shape) == (np.float32, LIKE.shape)
    # Six standard errors of the mean; the deviation of 20,000 numbers is known to a few percent.
    assert abs(numbers.mean() - mean) < 6 * deviation / np.sqrt(LIKE.size)
    assert abs(numbers.std() / deviation - 1) < 0.05


@pytest.mark.parametrize("kind", CASES)
def test_seeds(kind):
    like, attributes, *_ = CASES[kind]
    one, two, other = (draw(kind, like, seed=seed, **attributes)[0] for seed in (1.0, 1.0, 2.0))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()
    first, second = draw(kind, like, times=2, **attributes)
    assert (first != second).any()


@pytest.mark.parametrize("dtype", [TensorProto.DOUBLE, TensorProto.FLOAT16])
@pytest.mark.parametrize("kind", ["RandomUniform", "RandomNormal"])
def test_types(kind, dtype):
    (numbers,) = draw(kind, False, shape=[3, 4], dtype=dtype)
    assert numbers.dtype == helper.tensor_dtype_to_np_dtype(dtype)
    assert np.isfinite(numbers).all()


def test_multinomial():
    logits = np.log(np.float32([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]))
    (drawn,) = draw("Multinomial", logits, sample_size=10000, dtype=TensorProto.INT64, seed=1.0)
    assert (drawn.dtype, drawn.shape) == (np.int64, (2, 10000))
    for row, expected in zip(drawn, np.exp(logits)):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / 10000, expected, atol=0.03)
