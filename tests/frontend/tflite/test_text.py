"""SKIP_GRAM and LSH_PROJECTION against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, assert_as_litert
from tests.frontend.tflite.litert import LiteRT
from tests.frontend.tflite.models import constant, feed, model_of, out

SEEDS = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)


@pytest.mark.parametrize(
    ("data", "weights"),
    [
        (feed((6,), np.int8), ()),
        (feed((6, 3), np.int32), (feed((6,)),)),
        (feed((6, 7), np.int32), ()),
        (feed((6, 2, 7), np.float32), (feed((6,)),)),
        (feed((6, 31), np.int64), (feed((6,)),)),
    ],
    ids=["5 bytes", "16 bytes", "32 bytes", "60 bytes", "252 bytes"],
)
@pytest.mark.parametrize("kind", ["SPARSE", "DENSE"])
def test_lsh_projection(data, weights, kind):
    """Rows of lengths that the hash function treats differently, each preceded by the seed."""
    assert_as_litert(model_of("LSH_PROJECTION", constant(SEEDS), data, *weights, outputs=[out(np.int32)], type=kind))


@pytest.mark.parametrize("text", ["a b c d", "lead\t\ntwo ", " y z w", "  x y", "x", "", "à é ü"])
@pytest.mark.parametrize(
    "options",
    [{"ngram_size": 2}, {"ngram_size": 2, "max_skip_size": 1},
     {"ngram_size": 3, "max_skip_size": 2, "include_all_ngrams": True}],
    ids=["pairs", "with skips", "all"],
)  # fmt: skip
def test_skip_gram(text, options):
    model = model_of("SKIP_GRAM", feed(np.array([text], object)), outputs=[out(object, (9,))], **options)
    (expected,) = LiteRT(model.content)(model.inputs).values()
    (found,) = CORE.compile_model(model.content, "TEMPLATE")(model.inputs).values()
    assert [gram.encode() for gram in found.tolist()] == expected.tolist()


WORDS = np.array([["model_of", "two", ""], ["drei", "vier", "fünf"]], object)
ROW = WORDS[0]
MOVES = {
    "RESHAPE": lambda: model_of("RESHAPE", feed(WORDS), constant([3, 2])),
    "EXPAND_DIMS": lambda: model_of("EXPAND_DIMS", feed(WORDS), constant(0)),
    "SLICE": lambda: model_of("SLICE", feed(WORDS), constant([0, 1]), constant([2, 2])),
    "STRIDED_SLICE": lambda: model_of("STRIDED_SLICE", feed(WORDS), constant([1]), constant([2]), constant([1])),
    "TILE": lambda: model_of("TILE", feed(WORDS), constant([1, 2])),
    "GATHER": lambda: model_of("GATHER", constant(ROW), feed([2, 0], np.int32), outputs=[out(object)]),
    "GATHER_ND": lambda: model_of("GATHER_ND", feed(WORDS), constant([[1, 2], [0, 0]])),
    "HASHTABLE_LOOKUP": lambda: model_of(
        "HASHTABLE_LOOKUP",
        feed([7, 2, 3], np.int32),
        constant([1, 2, 7]),
        constant(ROW),
        outputs=[out(object, (3,)), out(np.uint8)],
    ),
}


@pytest.mark.parametrize("case", MOVES)
def test_strings_are_moved(case):
    model = MOVES[case]()
    expected = next(iter(LiteRT(model.content)(model.inputs).values()))
    found = next(iter(CORE.compile_model(model.content, "TEMPLATE")(model.inputs).values()))
    assert found.shape == expected.shape
    assert [word.encode() for word in found.ravel().tolist()] == expected.ravel().tolist()
