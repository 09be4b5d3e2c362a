"""L2 normalization and local response normalization against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import operator_test
from tests.frontend.tflite.litert import FAST
from tests.frontend.tflite.models import feed, model_of, out

RANDOM = np.random.default_rng(1)
SHORT = np.array([[0, 0], [1e-8, 0], [3e-7, 0], [3e-4, 1]], np.float32)
NEAR = {"radius": 2, "bias": 1.5, "alpha": 0.3, "beta": 0.75}

CASES = {
    "L2_NORMALIZATION": model_of("L2_NORMALIZATION", feed((2, 3, 5))),
    "L2_NORMALIZATION, short vectors": model_of("L2_NORMALIZATION", feed(SHORT)),
    "L2_NORMALIZATION, of any shape": model_of("L2_NORMALIZATION", feed((2, 3), signature=(-1, 3))),
    "L2_NORMALIZATION, i8": model_of(
        "L2_NORMALIZATION",
        feed(RANDOM.integers(-128, 128, (20, 5), np.int8), scale=0.1, zero_point=3),
        outputs=[out(np.int8, scale=1 / 128)],
    ),
    "L2_NORMALIZATION, u8": model_of(
        "L2_NORMALIZATION",
        feed(RANDOM.integers(0, 256, (20, 5), np.uint8), scale=0.1, zero_point=3),
        outputs=[out(np.uint8, scale=1 / 128, zero_point=128)],
    ),
    "LOCAL_RESPONSE_NORMALIZATION": model_of("LOCAL_RESPONSE_NORMALIZATION", feed((2, 3, 4, 7)), **NEAR),
    "LOCAL_RESPONSE_NORMALIZATION, few channels": model_of("LOCAL_RESPONSE_NORMALIZATION", feed((2, 3, 4, 2)), **NEAR),
}


# The reference kernel of LOCAL_RESPONSE_NORMALIZATION omits the last of the neighboring channels.
test_normalization = operator_test(CASES, resolver=FAST)
