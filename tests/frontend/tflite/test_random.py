"""Random numbers: with seeds, the same ones as LiteRT's."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, WITHOUT_FALLBACK, assert_as_litert, operator_test
from tests.frontend.tflite.models import constant, feed, model_of, out

LOGITS = np.float32([[1, 2, 3, 0.5], [-np.inf, 0, 0, np.inf]])
CASES = {
    "RANDOM_UNIFORM": lambda: model_of("RANDOM_UNIFORM", constant([3, 3]), outputs=[out(np.float32)], seed=7, seed2=-9),
    "RANDOM_UNIFORM, computed": lambda: model_of(
        "RANDOM_UNIFORM", feed([3, 2], np.int32), outputs=[out(np.float32)], seed=1
    ),
    "RANDOM_STANDARD_NORMAL": lambda: model_of(
        "RANDOM_STANDARD_NORMAL", constant([3, 3]), outputs=[out(np.float32)], seed=7, seed2=9
    ),
    "RANDOM_STANDARD_NORMAL, computed": lambda: model_of(
        "RANDOM_STANDARD_NORMAL", feed([4, 2], np.int32), outputs=[out(np.float32)], seed2=9
    ),
    "MULTINOMIAL": lambda: model_of("MULTINOMIAL", feed(LOGITS), constant(9), outputs=[out(np.int64)], seed=7, seed2=9),
    "MULTINOMIAL, computed": lambda: model_of(
        "MULTINOMIAL", feed(LOGITS), feed(6, np.int32), outputs=[out(np.int32)], seed=7
    ),
}


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK)


@pytest.mark.parametrize("kind", ["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"])
def test_goes_on_from_inference_to_inference(kind):
    model = model_of(kind, feed([8], np.int32), outputs=[out(np.float32)], seed=3)
    assert_as_litert(model, calls=[model.inputs])


def test_differs_without_seeds():
    model = model_of("RANDOM_UNIFORM", constant([1000]), outputs=[out(np.float32)])
    first, second = (next(iter(CORE.compile_model(model.content, "TEMPLATE")({}).values())) for _ in range(2))
    assert (first != second).any() and first.min() >= 0 and first.max() < 1
