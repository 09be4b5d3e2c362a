"""Detection and reading of TensorFlow's formats by their content."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hetero.frontend.frontend import ModelSource
from hetero.frontend.protobuf import LENGTH, VARINT, Field, Message, Schema, WireError, decode, fields
from hetero.frontend.source import read_source
from hetero.frontend.tensorflow.decoded import TensorflowModel
from hetero.frontend.tensorflow.decoding.checkpoint import Checkpoint
from hetero.frontend.tensorflow.decoding.graph_decoder import Functions, decode_graph
from hetero.frontend.tensorflow.decoding.messages import GRAPH, META_GRAPH, SAVED_MODEL
from hetero.frontend.tensorflow.decoding.saved_model import decode_meta_graph, decode_saved_model
from hetero.frontend.tensorflow.decoding.text import parse_text, text_schema
from hetero.system.errors import FrontendError

_INITIALIZERS = ("InitializeTable", "LookupTableImport")
_SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")


class TensorflowSource(NamedTuple):
    """The name of a source in messages, and a function that decodes it. That raises FrontendError and WireError."""

    label: str
    decode: Callable[[], TensorflowModel]


def is_tensorflow(source: ModelSource) -> bool:
    """Return whether a source is in one of TensorFlow's formats. Raises no error."""
    try:
        data = read_source(_model_file(source), "TensorFlow", keep_position=True).data
    except FrontendError:
        return False
    return _schema_of(data) is not None


def read(source: ModelSource) -> TensorflowSource:
    """Return a source of a TensorFlow model. Raises FrontendError if it cannot be read."""
    label, data, path = read_source(_model_file(source), "TensorFlow")
    return TensorflowSource(label, lambda: _decode(data, path))


def _model_file(source: ModelSource) -> ModelSource:
    """Return the file of a SavedModel folder that has the graph; other sources unchanged."""
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        files = [Path(source) / name for name in _SAVED_MODEL_FILES]
        return next((file for file in files if file.is_file()), source)
    return source


def _decode(data: memoryview, path: Path | None) -> TensorflowModel:
    schema = _schema_of(data)
    if schema is None:
        raise FrontendError("it is not a TensorFlow model")
    message = parse_text(data, schema) if text_schema(data) is not None else decode(data, schema)
    if schema is GRAPH:
        return decode_frozen_graph(message)
    if path is None:
        raise FrontendError("a model with variables needs its path, because these are in files beside it")
    if schema is SAVED_MODEL:
        return decode_saved_model(message, path)
    prefix = path.with_suffix("") if path.suffix == ".meta" else path
    has_index = prefix.with_name(f"{prefix.name}.index").exists()
    return decode_meta_graph(message, Checkpoint(prefix, path) if has_index else None)


def decode_frozen_graph(graph: Message) -> TensorflowModel:
    """Return the model of a GraphDef whose variables are constants. All nodes that initialize tables are used."""
    decoded = decode_graph(graph)
    initializers = [node.name for node in decoded.nodes.values() if node.op_type.startswith(_INITIALIZERS)]
    return TensorflowModel(decoded, Functions(graph.library.function, {}), initializers=initializers)


def _schema_of(data: memoryview) -> Schema | None:
    """Return the schema of the message in a file, None if it is none of TensorFlow's."""
    if schema := text_schema(data):
        return schema
    if _looks_like_saved_model(data):
        return SAVED_MODEL
    return META_GRAPH if _looks_like_meta_graph(data) else GRAPH if _looks_like_graph(data, 0, len(data)) else None


def _looks_like_saved_model(data: memoryview) -> bool:
    """Return whether bytes begin with the number of a version and with a MetaGraphDef that has a MetaInfoDef."""
    first = _first_fields(data, 0, len(data), 2)
    if [(field.number, field.wire_type) for field in first] != [(1, VARINT), (2, LENGTH)]:
        return False
    inner = _first_fields(data, first[1].begin, first[1].end, 2)
    return [(field.number, field.wire_type) for field in inner] == [(1, LENGTH), (2, LENGTH)]


def _looks_like_meta_graph(data: memoryview) -> bool:
    """Return whether bytes begin with a MetaInfoDef and a GraphDef."""
    first = _first_fields(data, 0, len(data), 2)
    if [(field.number, field.wire_type) for field in first] != [(1, LENGTH), (2, LENGTH)]:
        return False
    return _looks_like_graph(data, first[1].begin, first[1].end)


def _looks_like_graph(data: memoryview, begin: int, end: int) -> bool:
    """Return whether bytes begin with a node that has a name and an operator."""
    first = _first_fields(data, begin, end, 1)
    if not first or (first[0].number, first[0].wire_type) != (1, LENGTH):
        return False
    members = _first_fields(data, first[0].begin, first[0].end, 2)
    if [(field.number, field.wire_type) for field in members] != [(1, LENGTH), (2, LENGTH)]:
        return False
    operator = bytes(data[members[1].begin : members[1].end])
    return operator.isascii() and operator.replace(b">", b"_").decode().isidentifier()


def _first_fields(data: memoryview, begin: int, end: int, count: int) -> list[Field]:
    """Return the first fields of a message, fewer if it has fewer or is damaged. A truncated last field counts."""
    first: list[Field] = []
    try:
        for field in fields(data, begin, end):
            first.append(field)
            if len(first) == count:
                break
    except WireError:
        pass
    return first
