"""SKIP_GRAM and LSH_PROJECTION."""

from __future__ import annotations

import tflite

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.system.errors import FrontendError

_PROJECTIONS = tflite.LSHProjectionType


@translator("SKIP_GRAM")
def skip_gram(node: TfliteNodeContext) -> Translation:
    size, skipped = node.get_attribute("ngram_size"), node.get_attribute("max_skip_size", 0)
    return ops.SkipGram(node.get_input(0), size, skipped, node.get_attribute("include_all_ngrams", False))


@translator("LSH_PROJECTION")
def lsh_projection(node: TfliteNodeContext) -> Translation:
    kind = node.get_attribute("type", _PROJECTIONS.UNKNOWN)
    if kind not in (_PROJECTIONS.SPARSE, _PROJECTIONS.DENSE):
        raise FrontendError(f"projection type {kind} is not supported, only SPARSE and DENSE")
    inputs = [node.get_input(index) for index in range(2)]
    return ops.LshProjection(*inputs, node.get_optional_input(2), is_sparse=kind == _PROJECTIONS.SPARSE)
