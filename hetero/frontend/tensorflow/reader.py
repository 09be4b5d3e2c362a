"""Detection and reading of TensorFlow's formats by their content."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hetero.errors import FrontendError
from hetero.frontend.frontend import ModelSource
from hetero.frontend.protobuf import LENGTH, Message, WireError, decode, fields
from hetero.frontend.source import read_source
from hetero.frontend.tensorflow.decoded import DecodedModel
from hetero.frontend.tensorflow.graph_decoder import Functions, decode_graph
from hetero.frontend.tensorflow.messages import GRAPH


class TensorflowSource(NamedTuple):
    """The name of a source in messages, and a function that decodes it. That raises FrontendError and WireError."""

    label: str
    decode: Callable[[], DecodedModel]


def is_tensorflow(source: ModelSource) -> bool:
    """Return whether a source is in one of TensorFlow's formats. Raises no error."""
    try:
        return looks_like_graph(read_source(source, "TensorFlow", keep_position=True).data)
    except FrontendError:
        return False


def read(source: ModelSource) -> TensorflowSource:
    """Return a source of a TensorFlow model. Raises FrontendError if it cannot be read."""
    label, data, _ = read_source(source, "TensorFlow")
    return TensorflowSource(label, lambda: decode_frozen_graph(decode(data, GRAPH)))


def decode_frozen_graph(graph: Message) -> DecodedModel:
    """Return the model of a GraphDef whose variables are constants."""
    return DecodedModel(decode_graph(graph), Functions(graph.library.function, {}))


def looks_like_graph(data: memoryview) -> bool:
    """Return whether bytes begin as a GraphDef does: with a node that has a name and an operator."""
    try:
        first = next(fields(data, 0, len(data)), None)
        if first is None or first.number != 1 or first.wire_type != LENGTH:
            return False
        members = [next_field.number for next_field in fields(data, first.begin, first.end)]
    except WireError:
        return False
    return members[:2] == [1, 2] and set(members) <= {1, 2, 3, 4, 5, 6, 7}
