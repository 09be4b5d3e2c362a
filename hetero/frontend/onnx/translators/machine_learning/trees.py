"""Tree ensembles of the domain ai.onnx.ml."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.onnx.translators.machine_learning.scores import (
    POST_TRANSFORMS,
    best_labels,
    binary_classes,
    class_labels,
    post_transform,
)
from hetero.frontend.translation.node_context import REQUIRED
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError

_DOMAIN = "ai.onnx.ml"
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
_MEMBER = _MODES.index("BRANCH_MEMBER")


@translator("TreeEnsemble", since=5, domain=_DOMAIN)
def tree_ensemble(node: OnnxNodeContext) -> Translation:
    splits = np.asarray(node.get_attribute("nodes_splits"))
    modes = np.asarray(node.get_attribute("nodes_modes"))
    true, false = (_branches(node, side) for side in ("true", "false"))
    targets = np.array(node.get_attribute("leaf_targetids"), np.int64)
    leaves = np.full((targets.size, node.get_attribute("n_targets")), np.nan, splits.dtype)
    leaves[np.arange(targets.size), targets] = node.get_attribute("leaf_weights")
    missing = node.get_attribute("nodes_missing_value_tracks_true", None) or (0,) * modes.size
    member_values = np.asarray(node.get_attribute("membership_values", splits[:0]))
    members = _member_sets(member_values, int((modes == _MEMBER).sum()))
    tables = (int64(node.get_attribute("nodes_featureids")), Constant(splits), Constant(modes), Constant(true),
              Constant(false), int64(missing), int64(node.get_attribute("tree_roots")), Constant(leaves),
              Constant(members))  # fmt: skip
    aggregate = _AGGREGATES[node.get_attribute("aggregate_function", 1)]
    scores = ops.TreeEnsemble(node.get_input(0), *tables, aggregate).output(0)
    return post_transform(scores, list(POST_TRANSFORMS)[node.get_attribute("post_transform", 0)])


def _branches(node: OnnxNodeContext, side: str) -> np.ndarray:
    """Return the child of each node on one side: the index of a node, or -1 - the index of a leaf."""
    indices = np.array(node.get_attribute(f"nodes_{side}nodeids"), np.int64)
    return np.where(np.array(node.get_attribute(f"nodes_{side}leafs")) != 0, -1 - indices, indices)


def _member_sets(values: np.ndarray, count: int) -> np.ndarray:
    """Return sets that are separated by NaN as the rows of a matrix, padded with NaN."""
    sets = np.split(values, np.flatnonzero(np.isnan(values)))
    sets = [members[~np.isnan(members)] for members in sets][:count]
    rows = np.full((count, max(map(len, sets), default=0)), np.nan, values.dtype)
    for row, members in zip(rows, sets):
        row[: len(members)] = members
    return rows


class _LeafWeights(NamedTuple):
    """The weights of the leaves, with the tree, the node and the target of each weight."""

    trees: np.ndarray
    nodes: np.ndarray
    targets: np.ndarray
    weights: np.ndarray


@translator("TreeEnsembleRegressor", domain=_DOMAIN)
def tree_ensemble_regressor(node: OnnxNodeContext) -> Translation:
    count = node.get_attribute("n_targets")
    aggregate = node.get_attribute("aggregate_function", "SUM")
    scores = _scores(node, _leaf_weights(node, "target", "target_ids"), count, aggregate)
    return post_transform(_add_base_values(node, scores, count), node.get_attribute("post_transform", "NONE"))


@translator("TreeEnsembleClassifier", domain=_DOMAIN)
def tree_ensemble_classifier(node: OnnxNodeContext) -> Translation:
    labels = class_labels(node, "classlabels_int64s")
    leaves = _leaf_weights(node, "class", "class_ids")
    transform = node.get_attribute("post_transform", "NONE")
    if len(labels) <= 2 and len(set(leaves.targets.tolist())) == 1:
        # All leaves are of one class of two, so its score determines the other's.
        leaves = leaves._replace(targets=np.zeros_like(leaves.targets))
        base = _floats(node, "base_values", ())
        score = _scores(node, leaves, 1, "SUM")
        if base.size:
            score = ops.Add(score, Constant(base[-1:].astype(np.float32))).output(0)
        is_probability = bool((leaves.weights >= 0).all())
        return binary_classes(score, labels, transform, 0.5 if is_probability else 0, is_probability)
    scores = _add_base_values(node, _scores(node, leaves, len(labels), "SUM"), len(labels))
    return best_labels(scores, labels), post_transform(scores, transform)


def _leaf_weights(node: OnnxNodeContext, prefix: str, ids: str) -> _LeafWeights:
    names = (f"{prefix}_treeids", f"{prefix}_nodeids", ids)
    trees, nodes, targets = (np.array(node.get_attribute(name), np.int64) for name in names)
    return _LeafWeights(trees, nodes, targets, _floats(node, f"{prefix}_weights"))


def _floats(node: OnnxNodeContext, name: str, default: Any = REQUIRED) -> np.ndarray:
    """Return an f32 attribute, or the tensor attribute for f64. Raises FrontendError if a required one is missing."""
    if node.has_attribute(f"{name}_as_tensor"):
        return np.asarray(node.get_attribute(f"{name}_as_tensor"))
    return np.array(node.get_attribute(name, default), np.float32)


def _add_base_values(node: OnnxNodeContext, scores: Output, count: int) -> Output:
    base = _floats(node, "base_values", ())
    if not base.size:
        return scores
    if base.size != count:
        raise FrontendError(f"there are {base.size} base_values for {count} scores")
    return ops.Add(scores, Constant(base.astype(np.float32))).output(0)


def _scores(node: OnnxNodeContext, weights: _LeafWeights, count: int, aggregate: str) -> Output:
    """Return the scores ``[rows, count]`` of trees whose nodes and leaves are in one table. Raises FrontendError."""
    trees, ids, features, true, false = (
        np.array(node.get_attribute(f"nodes_{name}"), np.int64)
        for name in ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    )
    splits, modes = _floats(node, "nodes_values"), node.get_attribute("nodes_modes")
    is_leaf = np.array([mode == "LEAF" for mode in modes], bool)
    # Inner nodes have the indices 0, 1, …, leaves -1, -2, …
    indices = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    by_id = dict(zip(zip(trees.tolist(), ids.tolist()), indices.tolist()))
    inner = np.flatnonzero(~is_leaf)
    try:
        branches = [[by_id[trees[i], side[i]] for i in inner] for side in (true, false)]
        weighted = [by_id[key] for key in zip(weights.trees.tolist(), weights.nodes.tolist())]
    except KeyError as error:
        raise FrontendError(f"there is no node {error.args[0][1]} in tree {error.args[0][0]}") from None
    leaves = np.full((int(is_leaf.sum()), count), np.nan, weights.weights.dtype)
    cells = (-1 - np.array(weighted, np.int64), weights.targets)
    leaves[cells] = 0
    np.add.at(leaves, cells, weights.weights)
    children = {index for side in branches for index in side}
    roots = [index for index in indices.tolist() if index not in children]
    missing = np.array(node.get_attribute("nodes_missing_value_tracks_true", (0,) * len(modes)), np.int64)
    tables = (features[inner], splits[inner], np.array([_MODES.index(modes[i]) for i in inner], np.uint8),
              np.array(branches[0], np.int64), np.array(branches[1], np.int64), missing[inner],
              np.array(roots, np.int64), leaves, np.zeros((0, 0), splits.dtype))  # fmt: skip
    return ops.Convert(ops.TreeEnsemble(node.get_input(0), *map(Constant, tables), aggregate), "f32").output(0)
