"""Operators of the domain ai.onnx.ml on maps: dictionaries from labels to numbers or strings."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.containers import MapType
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.onnx.translators.machine_learning.scores import class_labels
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of, reshape
from hetero.graph import Constant
from hetero.system.errors import FrontendError

_DOMAIN = "ai.onnx.ml"
_CASTS = {"TO_FLOAT": Type.f32, "TO_STRING": Type.string, "TO_INT64": Type.i64}
# ONNX Runtime's text for a key without a value.
_MISSING_TEXT = "0.f"


@translator("ZipMap", domain=_DOMAIN)
def zip_map(node: OnnxNodeContext) -> Translation:
    scores = node.get_input(0)
    rows = reshape(scores, (1, -1)) if rank_of(scores) == 1 else scores
    return ops.ZipMap(rows, Constant(class_labels(node, "classlabels_int64s")))


@translator("DictVectorizer", domain=_DOMAIN)
def dict_vectorizer(node: OnnxNodeContext) -> Translation:
    texts = node.get_attribute("string_vocabulary", ())
    keys = np.array(texts, np.str_) if texts else node.get_array("int64_vocabulary", np.int64)
    return ops.MapToTensor(node.get_input(0), Constant(keys), element_type=_map_type(node).element_type)


@translator("CastMap", domain=_DOMAIN)
def cast_map(node: OnnxNodeContext) -> Translation:
    """The values in the order of their keys; in the form SPARSE, those of the keys 0 … max_map - 1."""
    kind, form = node.get_attribute("cast_to", "TO_FLOAT"), node.get_attribute("map_form", "DENSE")
    if kind not in _CASTS or form not in ("DENSE", "SPARSE"):
        raise FrontendError(
            f"cast_to must be one of {', '.join(_CASTS)} and map_form DENSE or SPARSE, but they are {kind} and {form}"
        )
    _map_type(node)
    keys = [int64(range(node.get_attribute("max_map", 1)))] if form == "SPARSE" else []
    return ops.MapToTensor(node.get_input(0), *keys, element_type=_CASTS[kind], missing=_MISSING_TEXT)


def _map_type(node: OnnxNodeContext) -> MapType:
    """Return the type of the input. Raises FrontendError if it is no map."""
    kind = node.get_input(0).element_type
    if not isinstance(kind, MapType):
        raise FrontendError(f"input 0 must be a map, but is {kind}")
    return kind
