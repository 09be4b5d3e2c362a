"""Operations that hetero has because ONNX has them: optional values, tables, maps and trees."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.containers import ContainerType
from hetero.frontend.onnx.node_writer import NodeWriter, NotInOnnx, emitter
from hetero.frontend.onnx.tensors import tensor_proto
from hetero.frontend.onnx.value_types import proto_of_type

_ML = "ai.onnx.ml"


@emitter(ops.Optional)
def optional(node: NodeWriter) -> str:
    if node.op.get_input_size():
        return node.add("Optional", node.input(0))
    kind = node.op.output(0).element_type
    assert isinstance(kind, ContainerType)
    return node.add("Optional", type=proto_of_type(kind.element_type, kind.partial_shape))


@emitter(ops.LabelEncoder)
def label_encoder(node: NodeWriter) -> str:
    if node.op.get_input_size() < 4:
        raise NotInOnnx("no default")
    keys, values, default = (tensor_proto(node.known(index).reshape(-1)) for index in (1, 2, 3))
    return node.add(
        "LabelEncoder", node.input(0), domain=_ML, keys_tensor=keys, values_tensor=values, default_tensor=default
    )


@emitter(ops.ZipMap)
def zip_map(node: NodeWriter) -> str:
    keys = node.known(1)
    labels = "classlabels_strings" if keys.dtype.kind == "U" else "classlabels_int64s"
    return node.add("ZipMap", node.input(0), domain=_ML, **{labels: keys.tolist()})


@emitter(ops.MapToTensor)
def map_to_tensor(node: NodeWriter) -> str:
    kind = node.op.input_value(0).element_type
    if node.op.get_input_size() < 2 or getattr(kind, "element_type", None) is not node.op.element_type:
        raise NotInOnnx("other values than those of keys, in their own type")
    keys = node.known(1)
    vocabulary = "string_vocabulary" if keys.dtype.kind == "U" else "int64_vocabulary"
    return node.add("DictVectorizer", node.input(0), domain=_ML, **{vocabulary: keys.tolist()})


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
