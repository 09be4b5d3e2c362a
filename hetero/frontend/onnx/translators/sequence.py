"""Strings, sequences and optional values."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.onnx.tensors import element_type
from hetero.frontend.translation.translators import Attr, OptionalInput, Row, Translation
from hetero.system.errors import FrontendError

_CASES = {"NONE": "none", "LOWER": "lower", "UPPER": "upper"}

rows({
    "ConcatFromSequence": Row(ops.ConcatFromSequence, axis=Attr("axis"), new_axis=Attr("new_axis", 0)),
    "OptionalGetElement": Row(ops.OptionalGetElement),
    "OptionalHasElement": Row(ops.OptionalHasElement, OptionalInput(0)),
    "SequenceAt": Row(ops.SequenceAt),
    "SequenceConstruct": Row(ops.SequenceConstruct),
    "SequenceEmpty": Row(ops.SequenceEmpty, element_type=Attr("dtype", Type.f32, element_type)),
    "SequenceErase": Row(ops.SequenceErase, 0, OptionalInput(1)),
    "SequenceInsert": Row(ops.SequenceInsert, 0, 1, OptionalInput(2)),
    "SequenceLength": Row(ops.SequenceLength),
    "SplitToSequence": Row(
        ops.SplitToSequence, 0, OptionalInput(1), axis=Attr("axis", 0), keep_dims=Attr("keepdims", 1)
    ),
    "RegexFullMatch": Row(ops.RegexFullMatch, since=20, pattern=Attr("pattern")),
    "StringConcat": Row(ops.StringConcat, since=20),
    "StringNormalizer": Row(
        ops.StringNormalizer,
        since=10,
        stopwords=Attr("stopwords", ()),
        case_change_action=Attr("case_change_action", "NONE", values=_CASES),
        is_case_sensitive=Attr("is_case_sensitive", 0),
    ),
    "StringSplit": Row(ops.StringSplit, since=20, delimiter=Attr("delimiter", ""), maxsplit=Attr("maxsplit", -1)),
    "TfIdfVectorizer": Row(
        ops.TfIdfVectorizer,
        since=9,
        mode=Attr("mode", values={"TF": "tf", "IDF": "idf", "TFIDF": "tfidf"}),
        min_gram_length=Attr("min_gram_length"),
        max_gram_length=Attr("max_gram_length"),
        max_skip_count=Attr("max_skip_count"),
        ngram_counts=Attr("ngram_counts"),
        ngram_indexes=Attr("ngram_indexes"),
        pool_int64s=Attr("pool_int64s", ()),
        pool_strings=Attr("pool_strings", ()),
        weights=Attr("weights", ()),
    ),
})  # fmt: skip


@translator("Optional")
def optional(node: OnnxNodeContext) -> Translation:
    if node.has_input(0):
        return ops.Optional(node.get_input(0))
    if not node.has_attribute("type"):
        raise FrontendError("it needs an input or the attribute type")
    return ops.Optional(content_type=node.get_attribute("type")[0])
