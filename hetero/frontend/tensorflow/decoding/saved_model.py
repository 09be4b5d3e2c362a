"""Decoding of MetaGraphDefs: SavedModel folders, and the graph beside a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from hetero.core.shape import PartialShape
from hetero.frontend.protobuf import Message
from hetero.frontend.source import Companion
from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowModel, TensorflowNode
from hetero.frontend.tensorflow.decoding.checkpoint import Checkpoint
from hetero.frontend.tensorflow.decoding.element_types import shape_of, type_of
from hetero.frontend.tensorflow.decoding.graph_decoder import (
    Functions,
    decode_graph,
    outputs_text,
    parse_reference,
)
from hetero.frontend.tensorflow.decoding.restore import RestoredKeys, RestoredTables, RestoredVariables
from hetero.system.errors import FrontendError

_SIGNATURE, _TAG = "serving_default", "serve"
_INITIALIZER = "__saved_model_init_op"
# Signatures that are no functions of a user.
_INTERNAL = (_INITIALIZER, "__saved_model_train_op")
_INITIALIZER_COLLECTIONS = ("saved_model_main_op", "legacy_init_op", "main_op")


def decode_saved_model(message: Message, path: Path) -> TensorflowModel:
    """Return the model with the tag "serve" in a SavedModel, else its only one. ``path``: that of the message's file.

    Raises FrontendError.
    """
    graphs = message.meta_graphs
    tagged = [graph for graph in graphs if _TAG in graph.meta_info_def.tags] or graphs
    if not tagged:
        raise FrontendError("the SavedModel has no graph")
    prefix = path.parent / "variables" / "variables"
    checkpoint = Checkpoint(prefix, path) if prefix.with_name("variables.index").exists() else None
    return decode_meta_graph(tagged[0], checkpoint, _asset_files(tagged[0].asset_file_def, path))


def decode_meta_graph(
    message: Message, checkpoint: Checkpoint | None, assets: Mapping[str, Companion] | None = None
) -> TensorflowModel:
    """Return the model of a MetaGraphDef: the part of its graph that belongs to a signature. Raises FrontendError.

    Without any signature, the inputs are the Placeholders, and the outputs are what depends on them.
    """
    operators = {operator.name: outputs_text(operator) for operator in message.meta_info_def.stripped_op_list.op}
    functions = Functions(message.graph_def.library.function, operators)
    graph = decode_graph(message.graph_def)
    model = TensorflowModel(graph, functions, initializers=_initializers(message, graph))
    if checkpoint is not None:
        keys = RestoredKeys(graph, functions, parse_reference(message.saver_def.restore_op_name).node)
        # A Keras model is restored into variables of other names than those that its functions read.
        model.variables = RestoredVariables(checkpoint, checkpoint.object_keys() | keys.variables)
        model.tables = RestoredTables(checkpoint, keys.tables)
    if assets:
        model.assets = assets
        # The constants hold paths of the machine that saved the model: their own names stand for the files instead.
        for name in model.assets:
            graph.nodes[name] = TensorflowNode(name, "Const", attributes={"value": np.array(name)})
    signature = _signature(message.signature_def)
    if signature is None:
        _keep_user_outputs(graph, parse_reference(message.saver_def.filename_tensor_name).node)
    else:
        _apply_signature(model, signature)
    return model


def _signature(signatures: Mapping[str, Message]) -> Message | None:
    """Return the signature ``serving_default`` or the only one, None if there is none. Raises FrontendError."""
    if _SIGNATURE in signatures:
        return signatures[_SIGNATURE]
    named = {name: each for name, each in signatures.items() if name not in _INTERNAL and each.outputs}
    if len(named) > 1:
        raise FrontendError(f"it has the signatures {', '.join(sorted(named))}, but none named {_SIGNATURE}")
    return next(iter(named.values()), None)


def _apply_signature(model: TensorflowModel, signature: Message) -> None:
    """Set the inputs and outputs of the graph to those of a signature, in the natural order of their names."""
    graph = model.graph
    model.input_names = sorted(signature.inputs, key=_natural)
    model.output_names = sorted(signature.outputs, key=_natural)
    graph.inputs = []
    for name in model.input_names:
        info = signature.inputs[name]
        reference = _tensor(graph, info, name)
        if reference.port:
            raise FrontendError(f"input '{name}' is '{info.name}', which is not the first output of a node")
        shape = shape_of(info.tensor_shape)
        if not shape.has_rank:
            shape = graph.nodes[reference.node].attributes.get("shape", PartialShape.dynamic())
        attributes = {"dtype": type_of(info.dtype), "shape": shape}
        graph.nodes[reference.node] = TensorflowNode(reference.node, "Placeholder", attributes=attributes)
        graph.inputs.append(reference.node)
    graph.outputs = [_tensor(graph, signature.outputs[name], name) for name in model.output_names]


def _tensor(graph: TensorflowGraph, info: Message, name: str) -> Reference:
    reference = parse_reference(info.name)
    if reference.node not in graph.nodes:
        raise FrontendError(f"the signature's '{name}' is '{info.name}', which is not in the graph")
    return reference


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts ``output_2`` before ``output_10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name)]


def _keep_user_outputs(graph: TensorflowGraph, filename_node: str) -> None:
    """Remove outputs that do not depend on a Placeholder of the user, such as those of the nodes of the saver."""
    graph.inputs = [name for name in graph.inputs if name != filename_node]
    readers: dict[str, list[str]] = {}
    for node in graph.nodes.values():
        for reference in node.inputs:
            readers.setdefault(reference.node, []).append(node.name)
    reached, worklist = set(graph.inputs), list(graph.inputs)
    while worklist:
        for name in readers.get(worklist.pop(), []):
            if name not in reached:
                reached.add(name)
                worklist.append(name)
    graph.outputs = [reference for reference in graph.outputs if reference.node in reached]


def _initializers(message: Message, graph: TensorflowGraph) -> list[str]:
    """Return the names of the nodes that initialize tables."""
    names = (
        [output.name for output in message.signature_def[_INITIALIZER].outputs.values()]
        if (_INITIALIZER in message.signature_def)
        else []
    )
    for collection in _INITIALIZER_COLLECTIONS:
        if collection in message.collection_def:
            names += message.collection_def[collection].node_list.value
    nodes = [parse_reference(name).node for name in names]
    return [name for name in nodes if name in graph.nodes]


def _asset_files(assets: Sequence[Message], model: Path) -> dict[str, Companion]:
    """Return the files by the names of the nodes that hold their paths. Raises FrontendError outside the folder."""
    files: dict[str, Companion] = {}
    for asset in assets:
        name = PurePosixPath(asset.filename)
        if name.is_absolute() or ".." in name.parts or "\\" in asset.filename or "\0" in asset.filename:
            raise FrontendError(f"the asset '{asset.filename}' is outside the folder of the model")
        files[parse_reference(asset.tensor_info.name).node] = Companion(model.parent / "assets" / name, model)
    return files
