"""Operators on words and on bytes, against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, assert_as_litert
from tests.frontend.tflite.litert import LiteRT
from tests.frontend.tflite.models import constant, given, made, one

SEEDS = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)


@pytest.mark.parametrize(
    ("data", "weights"),
    [
        (given((6,), np.int8), ()),
        (given((6, 3), np.int32), (given((6,)),)),
        (given((6, 7), np.int32), ()),
        (given((6, 2, 7), np.float32), (given((6,)),)),
        (given((6, 31), np.int64), (given((6,)),)),
    ],
    ids=["5 bytes", "16 bytes", "32 bytes", "60 bytes", "252 bytes"],
)
@pytest.mark.parametrize("kind", ["SPARSE", "DENSE"])
def test_lsh_projection(data, weights, kind):
    """Rows and the seed before them, of all lengths that are hashed in other ways."""
    assert_as_litert(one("LSH_PROJECTION", constant(SEEDS), data, *weights, outputs=[made(np.int32)], type=kind))


@pytest.mark.parametrize("text", ["a b c d", "lead\t\ntwo ", " y z w", "  x y", "x", "", "à é ü"])
@pytest.mark.parametrize(
    "options",
    [{"ngram_size": 2}, {"ngram_size": 2, "max_skip_size": 1},
     {"ngram_size": 3, "max_skip_size": 2, "include_all_ngrams": True}],
    ids=["pairs", "with skips", "all"],
)  # fmt: skip
def test_skip_gram(text, options):
    model = one("SKIP_GRAM", given(np.array([text], object)), outputs=[made(object, (9,))], **options)
    (expected,) = LiteRT(model.content)(model.inputs).values()
    (found,) = CORE.compile_model(model.content, "TEMPLATE")(model.inputs).values()
    assert [gram.encode() for gram in found.tolist()] == expected.tolist()
