"""Ensembles of decision trees of ONNX's machine learning, in tables of their own and in one of nodes and leaves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.scores import POST_TRANSFORMS, class_labels, post_transform, two_classes
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64
from hetero.graph import Constant, Output

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
    members = _sets(np.asarray(node.get_attribute("membership_values", splits[:0])), int((modes == _MEMBER).sum()))
    tables = (int64(node.get_attribute("nodes_featureids")), Constant(splits), Constant(modes), Constant(true),
              Constant(false), int64(missing), int64(node.get_attribute("tree_roots")), Constant(leaves),
              Constant(members))  # fmt: skip
    aggregate = _AGGREGATES[node.get_attribute("aggregate_function", 1)]
    found = ops.TreeEnsemble(node.get_input(0), *tables, aggregate)
    return post_transform(found.output(0), POST_TRANSFORMS[node.get_attribute("post_transform", 0)])


def _branches(node: OnnxNodeContext, side: str) -> np.ndarray:
    """Where the nodes go on: at a node, or below 0 at a leaf."""
    places = np.array(node.get_attribute(f"nodes_{side}nodeids"), np.int64)
    return np.where(np.array(node.get_attribute(f"nodes_{side}leafs")) != 0, -1 - places, places)


def _sets(values: np.ndarray, count: int) -> np.ndarray:
    """The sets, which NaN divides, as rows that are filled up with NaN."""
    sets = np.split(values, np.flatnonzero(np.isnan(values)))
    sets = [each[~np.isnan(each)] for each in sets][:count]
    rows = np.full((count, max(map(len, sets), default=0)), np.nan, values.dtype)
    for row, each in zip(rows, sets):
        row[: len(each)] = each
    return rows


class _Leaves(NamedTuple):
    """What the leaves say: of which tree and node each weight is, and of which target."""

    trees: np.ndarray
    nodes: np.ndarray
    targets: np.ndarray
    weights: np.ndarray


@translator("TreeEnsembleRegressor", domain=_DOMAIN)
def tree_ensemble_regressor(node: OnnxNodeContext) -> Translation:
    count = node.get_attribute("n_targets")
    aggregate = node.get_attribute("aggregate_function", "SUM")
    found = _with_base_values(node, _trees(node, _leaves(node, "target", "target_ids"), count, aggregate), count)
    return post_transform(found, node.get_attribute("post_transform", "NONE"))


@translator("TreeEnsembleClassifier", domain=_DOMAIN)
def tree_ensemble_classifier(node: OnnxNodeContext) -> Translation:
    labels = class_labels(node, "classlabels_int64s")
    leaves = _leaves(node, "class", "class_ids")
    transform = node.get_attribute("post_transform", "NONE")
    if len(labels) <= 2 and len(set(leaves.targets.tolist())) == 1:
        # All leaves speak of one class; its score also tells the other's.
        leaves = leaves._replace(targets=np.zeros_like(leaves.targets))
        base = _floats(node, "base_values")
        found = _trees(node, leaves, 1, "SUM")
        if base is not None:
            found = ops.Add(found, Constant(base[-1:].astype(np.float32))).output(0)
        is_chance = bool((leaves.weights >= 0).all())
        return two_classes(found, labels, transform, 0.5 if is_chance else 0, is_chance)
    scores = _with_base_values(node, _trees(node, leaves, len(labels), "SUM"), len(labels))
    best = ops.Gather(Constant(labels), ops.Squeeze(ops.TopK(scores, int64(1), 1, "max", "value", "i64").output(1),
                                                   int64([1])), int64(0))  # fmt: skip
    return best.output(0), post_transform(scores, transform)


def _leaves(node: OnnxNodeContext, prefix: str, ids: str) -> _Leaves:
    whole = (np.array(node.get_attribute(name), np.int64) for name in (f"{prefix}_treeids", f"{prefix}_nodeids", ids))
    weights = _floats(node, f"{prefix}_weights")
    if weights is None:
        raise FrontendError(f"attribute {prefix}_weights is missing")
    return _Leaves(*whole, weights)


def _floats(node: OnnxNodeContext, name: str) -> np.ndarray | None:
    """An attribute of f32, or of f64 in a tensor."""
    if node.has_attribute(f"{name}_as_tensor"):
        return np.asarray(node.get_attribute(f"{name}_as_tensor"))
    return np.array(node.get_attribute(name), np.float32) if node.has_attribute(name) else None


def _with_base_values(node: OnnxNodeContext, scores: Output, count: int) -> Output:
    base = _floats(node, "base_values")
    if base is None or not base.size:
        return scores
    if base.size != count:
        raise FrontendError(f"there are {base.size} base_values for {count} scores")
    return ops.Add(scores, Constant(base.astype(np.float32))).output(0)


def _trees(node: OnnxNodeContext, said: _Leaves, count: int, aggregate: str) -> Output:
    """The scores ``[rows, count]`` of trees whose nodes and leaves are in one table."""
    trees, ids, features, true, false = (
        np.array(node.get_attribute(f"nodes_{name}"), np.int64)
        for name in ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    )
    splits, modes = _floats(node, "nodes_values"), node.get_attribute("nodes_modes")
    is_leaf = np.array([mode == "LEAF" for mode in modes], bool)
    # Nodes that branch are counted from 0 on, leaves from -1 down.
    numbers = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    by_id = {key: number for key, number in zip(zip(trees.tolist(), ids.tolist()), numbers.tolist())}
    inner = np.flatnonzero(~is_leaf)
    try:
        branches = [[by_id[trees[i], side[i]] for i in inner] for side in (true, false)]
        spoken = [by_id[key] for key in zip(said.trees.tolist(), said.nodes.tolist())]
    except KeyError as error:
        raise FrontendError(f"there is no node {error.args[0][1]} in tree {error.args[0][0]}") from None
    leaves = np.full((int(is_leaf.sum()), count), np.nan, said.weights.dtype)
    at = (-1 - np.array(spoken, np.int64), said.targets)
    leaves[at] = 0
    np.add.at(leaves, at, said.weights)
    children = {number for side in branches for number in side}
    roots = [number for number in numbers.tolist() if number not in children]
    missing = np.array(node.get_attribute("nodes_missing_value_tracks_true", (0,) * len(modes)), np.int64)
    tables = (features[inner], splits[inner], np.array([_MODES.index(modes[i]) for i in inner], np.uint8),
              np.array(branches[0], np.int64), np.array(branches[1], np.int64), missing[inner],
              np.array(roots, np.int64), leaves, np.zeros((0, 0), splits.dtype))  # fmt: skip
    found = ops.TreeEnsemble(node.get_input(0), *map(Constant, tables), aggregate)
    return ops.Convert(found, "f32").output(0)
