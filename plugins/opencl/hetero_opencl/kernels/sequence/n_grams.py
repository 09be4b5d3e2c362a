"""TfIdfVectorizer of integers."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.sequence.strings import pool_grams
from hetero_opencl.kernels.common.definition import lowers, source, unsupported_types
from hetero_opencl.lowering.lowering import Lowering


def _unsupported(node: Node) -> str | None:
    kind = node.get_input_element_type(0)
    return unsupported_types(node) or (None if kind.is_integer() else f"no kernel finds n-grams of {kind}")


@lowers(ops.TfIdfVectorizer, unsupported=_unsupported)
def tf_idf_vectorizer(lowering: Lowering, node: ops.TfIdfVectorizer) -> None:
    data, places = node.input_value(0), node.shape[-1]
    grams = {gram: number for number, gram in enumerate(pool_grams(node, node.pool_int64s))}
    in_places = sorted(grams.items(), key=lambda pair: node.ngram_indexes[pair[1]])
    numbers = [number for _, number in in_places]
    weights = np.array(node.weights or [1.0] * (max(numbers, default=0) + 1), np.float32)[numbers]
    tables: list[np.ndarray] = [
        np.searchsorted([node.ngram_indexes[number] for number in numbers], np.arange(places + 1)).astype(np.int32),
        np.cumsum([0, *(len(gram) for gram, _ in in_places)]).astype(np.int32),
        np.array([item for gram, _ in in_places for item in gram], np.int64),
        np.ones_like(weights) if node.mode == "tf" else weights,
    ]
    sizes = data.shape[-1], places, node.min_gram_length, node.max_gram_length, node.max_skip_count
    text = source("n_grams", {"DATA": data.element_type}, ADDED=int(node.mode != "idf"))
    buffers = [lowering.constant(table) for table in tables]
    lowering.launch_flat(text, "count_n_grams", [data, *buffers, node.output(0), *sizes], math.prod(node.shape))
