"""String operators."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.registry import register_direct
from hetero.frontend.translation.node_context import REQUIRED

register_direct({"StringConcat": ops.StringConcat}, 2, since=20)
register_direct({"StringSplit": ops.StringSplit}, 1, since=20, delimiter="", maxsplit=-1)
register_direct({"RegexFullMatch": ops.RegexFullMatch}, 1, since=20, pattern=REQUIRED)
register_direct(
    {"StringNormalizer": ops.StringNormalizer}, 1, since=10, stopwords=(), case_change_action="NONE",
    is_case_sensitive=0,
)  # fmt: skip
register_direct(
    {"TfIdfVectorizer": ops.TfIdfVectorizer}, 1, since=9, mode=REQUIRED, min_gram_length=REQUIRED,
    max_gram_length=REQUIRED, max_skip_count=REQUIRED, ngram_counts=REQUIRED, ngram_indexes=REQUIRED, pool_int64s=(),
    pool_strings=(), weights=(),
)  # fmt: skip
