"""Texts and their hashes."""

from __future__ import annotations

import tflite

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.system.errors import FrontendError

_PROJECTIONS = tflite.LSHProjectionType

rows(
    {
        "SKIP_GRAM": Row(
            ops.SkipGram,
            0,
            ngram_size=Attr("ngram_size"),
            max_skip_size=Attr("max_skip_size", 0),
            include_all_ngrams=Attr("include_all_ngrams", False),
        )
    }
)


@translator("LSH_PROJECTION")
def lsh_projection(node: TfliteNodeContext) -> Translation:
    kind = node.get_attribute("type", _PROJECTIONS.UNKNOWN)
    if kind not in (_PROJECTIONS.SPARSE, _PROJECTIONS.DENSE):
        raise FrontendError(f"projection type {kind} is not supported, only SPARSE and DENSE")
    inputs = [node.get_input(index) for index in range(2)]
    return ops.LshProjection(*inputs, node.get_optional_input(2), is_sparse=kind == _PROJECTIONS.SPARSE)
