"""Operations that hetero has because ONNX has them: strings, sequences, optional values, tables and others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.containers import ContainerType
from hetero.frontend.onnx.emitters.registry import emit_directly, emitter
from hetero.frontend.onnx.node_writer import NodeWriter, NotInOnnx, onnx_type
from hetero.frontend.onnx.tensors import tensor_proto
from hetero.frontend.onnx.value_types import proto_of_type

_ML = "ai.onnx.ml"

emit_directly({
    ops.StringConcat: "StringConcat", ops.SequenceAt: "SequenceAt", ops.SequenceErase: "SequenceErase",
    ops.SequenceInsert: "SequenceInsert", ops.SequenceLength: "SequenceLength",
    ops.OptionalGetElement: "OptionalGetElement", ops.OptionalHasElement: "OptionalHasElement",
    ops.SequenceConstruct: "SequenceConstruct",
})  # fmt: skip


@emitter(ops.StringSplit)
def string_split(node: NodeWriter) -> list[str]:
    maxsplit = None if node.op.maxsplit < 0 else node.op.maxsplit
    return node.add_outputs(2, "StringSplit", node.input(0), delimiter=node.op.delimiter, maxsplit=maxsplit)


@emitter(ops.RegexFullMatch)
def regex_full_match(node: NodeWriter) -> str:
    return node.add("RegexFullMatch", node.input(0), pattern=node.op.pattern)


@emitter(ops.StringNormalizer)
def string_normalizer(node: NodeWriter) -> str:
    op = node.op
    return node.add(
        "StringNormalizer", node.input(0), stopwords=op.stopwords, case_change_action=op.case_change_action.upper(),
        is_case_sensitive=int(op.is_case_sensitive),
    )  # fmt: skip


@emitter(ops.TfIdfVectorizer)
def tf_idf_vectorizer(node: NodeWriter) -> str:
    attributes = node.op.attribute_values()
    attributes["mode"] = attributes["mode"].upper()
    return node.add("TfIdfVectorizer", node.input(0), **attributes)


@emitter(ops.ImageDecoder)
def image_decoder(node: NodeWriter) -> str:
    return node.add("ImageDecoder", node.input(0), pixel_format=node.op.pixel_format)


@emitter(ops.MelWeightMatrix)
def mel_weight_matrix(node: NodeWriter) -> str:
    return node.add("MelWeightMatrix", *node.inputs, output_datatype=onnx_type(node.op.output_type))


@emitter(ops.SequenceEmpty)
def sequence_empty(node: NodeWriter) -> str:
    return node.add("SequenceEmpty", dtype=onnx_type(node.op.element_type))


@emitter(ops.SplitToSequence)
def split_to_sequence(node: NodeWriter) -> str:
    return node.add("SplitToSequence", *node.inputs, axis=node.op.axis, keepdims=int(node.op.keep_dims))


@emitter(ops.ConcatFromSequence)
def concat_from_sequence(node: NodeWriter) -> str:
    return node.add("ConcatFromSequence", node.input(0), axis=node.op.axis, new_axis=int(node.op.new_axis))


@emitter(ops.Optional)
def optional(node: NodeWriter) -> str:
    if node.op.get_input_size():
        return node.add("Optional", node.input(0))
    kind = node.op.output(0).element_type
    assert isinstance(kind, ContainerType)
    return node.add("Optional", type=proto_of_type(kind.element_type, kind.partial_shape))


@emitter(ops.LinearAttention)
def linear_attention(node: NodeWriter) -> Sequence[str]:
    op = node.op
    decay, beta = None, None
    gates = node.inputs[4:]
    if op.is_gated:
        decay = gates.pop(0)
    if op.has_delta:
        beta = gates.pop(0)
    return node.add_outputs(
        2, "LinearAttention", *node.inputs[:4], decay, beta, q_num_heads=op.query_heads,
        kv_num_heads=op.heads, update_rule=op.update_rule, scale=op.scale or None,
    )  # fmt: skip


@emitter(ops.LabelEncoder)
def label_encoder(node: NodeWriter) -> str:
    if node.op.get_input_size() < 4:
        raise NotInOnnx("no default")
    keys, values, default = (tensor_proto(node.known(index).reshape(-1)) for index in (1, 2, 3))
    return node.add(
        "LabelEncoder", node.input(0), domain=_ML, keys_tensor=keys, values_tensor=values, default_tensor=default
    )


_AGGREGATES = ("average", "sum", "min", "max")


@emitter(ops.TreeEnsemble)
def tree_ensemble(node: NodeWriter) -> str:
    """Tables of nodes and leaves as attributes."""
    features, splits, modes, when_true, when_false, missing, roots, leaves, members = (
        node.known(index) for index in range(1, 10)
    )
    count, targets = leaves.shape
    weighted = [np.flatnonzero(~np.isnan(row)) for row in leaves]
    if any(len(each) != 1 for each in weighted) or (np.asarray(roots) < 0).any():
        raise NotInOnnx("leaves for several targets or a tree of one leaf")
    targetids = [int(each[0]) for each in weighted]
    sets = [np.append(row[~np.isnan(row)], row.dtype.type(np.nan)) for row in members]
    return node.add(
        "TreeEnsemble", node.input(0), domain=_ML, n_targets=targets,
        aggregate_function=_AGGREGATES.index(node.op.aggregate), nodes_featureids=features.tolist(),
        nodes_splits=tensor_proto(splits), nodes_modes=tensor_proto(modes.astype(np.uint8)),
        nodes_truenodeids=np.where(when_true < 0, -1 - when_true, when_true).tolist(),
        nodes_falsenodeids=np.where(when_false < 0, -1 - when_false, when_false).tolist(),
        nodes_trueleafs=(when_true < 0).astype(int).tolist(), nodes_falseleafs=(when_false < 0).astype(int).tolist(),
        nodes_missing_value_tracks_true=missing.astype(int).tolist(), tree_roots=roots.tolist(),
        leaf_targetids=targetids, leaf_weights=tensor_proto(leaves[np.arange(count), targetids]),
        membership_values=tensor_proto(np.concatenate(sets)) if sets else None,
    )  # fmt: skip
