"""String operators."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation import Translation

register_direct({"StringConcat": ops.StringConcat}, 2, since=20)


@translator("StringSplit", since=20)
def string_split(node: OnnxNodeContext) -> Translation:
    return ops.StringSplit(node.get_input(0), node.get_attribute("delimiter", ""), node.get_attribute("maxsplit", -1))


@translator("StringNormalizer", since=10)
def string_normalizer(node: OnnxNodeContext) -> Translation:
    return ops.StringNormalizer(
        node.get_input(0),
        node.get_attribute("stopwords", ()),
        node.get_attribute("case_change_action", "NONE"),
        bool(node.get_attribute("is_case_sensitive", 0)),
    )


@translator("RegexFullMatch", since=20)
def regex_full_match(node: OnnxNodeContext) -> Translation:
    return ops.RegexFullMatch(node.get_input(0), node.get_attribute("pattern"))


@translator("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(node: OnnxNodeContext) -> Translation:
    required = ("mode", "min_gram_length", "max_gram_length", "max_skip_count", "ngram_counts", "ngram_indexes")
    pool = (node.get_attribute(name, ()) for name in ("pool_int64s", "pool_strings", "weights"))
    return ops.TfIdfVectorizer(node.get_input(0), *(node.get_attribute(name) for name in required), *pool)
