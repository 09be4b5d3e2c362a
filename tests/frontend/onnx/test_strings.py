"""Operators on strings, against ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import hetero

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


def model_of(kind, inputs, attributes, outputs):
    types = [TensorProto.STRING if array.dtype == object else TensorProto.INT64 for array in inputs]
    infos = [helper.make_tensor_value_info(f"x{i}", t, a.shape) for i, (t, a) in enumerate(zip(types, inputs))]
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(kind, [info.name for info in infos], names, **attributes)
    graph = helper.make_graph([node], "graph", infos, [onnx.ValueInfoProto(name=name) for name in names])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)


@pytest.mark.parametrize("name", CASES)
def test_as_onnxruntime(name):
    kind, inputs, attributes, outputs = CASES[name]
    proto = model_of(kind, inputs, attributes, outputs)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {f"x{i}": array for i, array in enumerate(inputs)})
    compiled = hetero.Core().compile_model(proto, "TEMPLATE")
    results = compiled(list(inputs))
    for port, wanted in zip(compiled.outputs, expected, strict=True):
        found = results[port]
        assert port.partial_shape.compatible(found.shape)
        assert (found.dtype.kind == "U") == (wanted.dtype == object)
        assert found.shape == wanted.shape
        assert found.tolist() == wanted.tolist()


def test_what_is_no_string_is_refused():
    compiled = hetero.Core().compile_model(model_of(*CASES["concat"]), "TEMPLATE")
    with pytest.raises(hetero.HeteroError, match="input 'x0' takes strings, but the array has int64"):
        compiled([np.arange(6), WORDS])
    with pytest.raises(hetero.HeteroError, match="input 'x0' takes strings, but the array has object"):
        compiled([np.array(["a", 1, "c", "d", "e", "f"], object), WORDS])
