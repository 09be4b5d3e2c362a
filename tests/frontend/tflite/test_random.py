"""Random numbers: with seeds, the same ones as LiteRT's."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, WITHOUT_FALLBACK, assert_as_litert, operator_test
from tests.frontend.tflite.models import constant, given, made, one

LOGITS = np.float32([[1, 2, 3, 0.5], [-np.inf, 0, 0, np.inf]])
CASES = {
    "RANDOM_UNIFORM": lambda: one("RANDOM_UNIFORM", constant([3, 3]), outputs=[made(np.float32)], seed=7, seed2=-9),
    "RANDOM_UNIFORM, computed": lambda: one(
        "RANDOM_UNIFORM", given([3, 2], np.int32), outputs=[made(np.float32)], seed=1
    ),
    "RANDOM_STANDARD_NORMAL": lambda: one(
        "RANDOM_STANDARD_NORMAL", constant([3, 3]), outputs=[made(np.float32)], seed=7, seed2=9
    ),
    "RANDOM_STANDARD_NORMAL, computed": lambda: one(
        "RANDOM_STANDARD_NORMAL", given([4, 2], np.int32), outputs=[made(np.float32)], seed2=9
    ),
    "MULTINOMIAL": lambda: one("MULTINOMIAL", given(LOGITS), constant(9), outputs=[made(np.int64)], seed=7, seed2=9),
    "MULTINOMIAL, computed": lambda: one(
        "MULTINOMIAL", given(LOGITS), given(6, np.int32), outputs=[made(np.int32)], seed=7
    ),
}


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK)


@pytest.mark.parametrize("kind", ["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"])
def test_goes_on_from_inference_to_inference(kind):
    model = one(kind, given([8], np.int32), outputs=[made(np.float32)], seed=3)
    assert_as_litert(model, calls=[model.inputs])


def test_differs_without_seeds():
    model = one("RANDOM_UNIFORM", constant([1000]), outputs=[made(np.float32)])
    first, second = (next(iter(CORE.compile_model(model.content, "TEMPLATE")({}).values())) for _ in range(2))
    assert (first != second).any() and first.min() >= 0 and first.max() < 1
