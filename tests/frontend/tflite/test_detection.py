"""Non-maximum suppression against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import WITHOUT_FALLBACK, operator_test
from tests.frontend.tflite.models import constant, feed, model_of, out


def boxes():
    """Corners in any order."""
    generator = np.random.default_rng(1)
    corner = generator.random((40, 2))
    found = np.concatenate([corner, corner + generator.random((40, 2)) / 2], 1).astype(np.float32)
    found[::3] = found[::3][:, [2, 3, 0, 1]]
    return found


def suppress(most, overlap, *sigma, least=0.2):
    scores = np.random.default_rng(2).random(40).astype(np.float32)
    numbers = [constant(number) for number in (overlap, least, *sigma)]
    outputs = [out(np.int32), *(out(np.float32) for _ in sigma), out(np.int32)]
    kind = "NON_MAX_SUPPRESSION_V5" if sigma else "NON_MAX_SUPPRESSION_V4"
    return model_of(kind, feed(boxes()), feed(scores), most, *numbers, outputs=outputs)


HALVES = np.float32([[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 0.5, 1, 1]])
CASES = {
    "V4": lambda: suppress(constant(10), 0.5),
    "V4 of all": lambda: suppress(constant(60), 0.3),
    "V4 of a computed number": lambda: suppress(feed(7, np.int32), 0.3),
    "V4 of those that do not overlap": lambda: suppress(constant(10), 0.0),
    "V4 of those that overlap by just the threshold": lambda: model_of(
        "NON_MAX_SUPPRESSION_V4", feed(HALVES), feed([0.9, 0.8, 0.7]), constant(3), constant(0.5), constant(0.0),
        outputs=[out(np.int32), out(np.int32)],
    ),
    "V5": lambda: suppress(constant(10), 0.5, 0.0),
    "V5, softly": lambda: suppress(constant(60), 0.5, 0.5),
}  # fmt: skip


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK)
