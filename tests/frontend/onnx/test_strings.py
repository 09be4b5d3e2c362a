"""Operators on strings, against ONNX Runtime."""

import numpy as np
import pytest

import hetero
from tests.frontend.onnx.compare import assert_as_onnxruntime, operator_model

WORDS = np.array(["Monday", "tuesday", "", "münchen über", "a b  c ", "x@y.org"], object)
IDS = np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]], np.int64)
GRAMS = {
    "min_gram_length": 1, "max_gram_length": 2, "ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6],
    "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7],
}  # fmt: skip
WEIGHTS = {"weights": [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
# ONNX Runtime finds no part in an empty string where there is a delimiter, onnx and Python find one, the empty one;
# and in its only locale that is always there it knows no case beyond ASCII.
FULL, ASCII = np.delete(WORDS, 2), np.delete(WORDS, 3)
CASES = {
    "concat": ("StringConcat", [WORDS, WORDS[::-1].copy()], {}, 1),
    "concat, broadcast": ("StringConcat", [WORDS.reshape(2, 3), WORDS[:1]], {}, 1),
    "split at white space": ("StringSplit", [WORDS], {}, 2),
    "split at a delimiter": ("StringSplit", [FULL.reshape(5, 1)], {"delimiter": "ue"}, 2),
    "split once": ("StringSplit", [FULL], {"delimiter": " ", "maxsplit": 1}, 2),
    "regex": ("RegexFullMatch", [WORDS], {"pattern": r"\w+@\w+\.(org|net)"}, 1),
    "regex of everything": ("RegexFullMatch", [WORDS.reshape(2, 3)], {"pattern": ".*"}, 1),
    "lower": ("StringNormalizer", [ASCII], {"case_change_action": "LOWER", "locale": "C"}, 1),
    "upper without stopwords": (
        "StringNormalizer", [ASCII[None]],
        {"case_change_action": "UPPER", "stopwords": ["monday", "x@y.org"], "locale": "C"}, 1),
    "stopwords by case": (
        "StringNormalizer", [WORDS], {"is_case_sensitive": 1, "stopwords": ["monday", "tuesday"]}, 1),
    "nothing is left": ("StringNormalizer", [WORDS[:1]], {"is_case_sensitive": 1, "stopwords": ["Monday"]}, 1),
    "counts": ("TfIdfVectorizer", [IDS], {"mode": "TF", "max_skip_count": 0, **GRAMS}, 1),
    "counts with skips": ("TfIdfVectorizer", [IDS], {"mode": "TF", "max_skip_count": 3, **GRAMS}, 1),
    "counts of one row": ("TfIdfVectorizer", [IDS[1]], {"mode": "TF", "max_skip_count": 1, **GRAMS}, 1),
    "weights": ("TfIdfVectorizer", [IDS], {"mode": "IDF", "max_skip_count": 3, **GRAMS, **WEIGHTS}, 1),
    "weighted counts": ("TfIdfVectorizer", [IDS], {"mode": "TFIDF", "max_skip_count": 3, **GRAMS, **WEIGHTS}, 1),
    "words": (
        "TfIdfVectorizer", [np.array([["a", "b", "a", "c"]], object)],
        {"mode": "TF", "min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 1, "ngram_counts": [0, 0],
         "ngram_indexes": [0, 1], "pool_strings": ["a", "b", "a", "a"]}, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_as_onnxruntime(name):
    assert_as_onnxruntime(operator_model(*CASES[name]), CASES[name][1])


def test_inputs_other_than_strings_are_refused():
    compiled = hetero.Core().compile_model(operator_model(*CASES["concat"]), "TEMPLATE")
    with pytest.raises(hetero.HeteroError, match="input 'x0' takes strings, but the array has int64"):
        compiled([np.arange(6), WORDS])
    with pytest.raises(hetero.HeteroError, match="input 'x0' takes strings, but the array has object"):
        compiled([np.array(["a", 1, "c", "d", "e", "f"], object), WORDS])
