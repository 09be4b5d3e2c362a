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
    second_if_positive,
)
from hetero.frontend.translation.node_context import REQUIRED
from hetero.frontend.translation.translators import Translation
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError

_DOMAIN = "ai.onnx.ml"
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
_MEMBER = _MODES.index("BRANCH_MEMBER")
_LEAF = 255


@translator("TreeEnsemble", since=5, domain=_DOMAIN)
def tree_ensemble(node: OnnxNodeContext) -> Translation:
    splits = np.asarray(node.get_attribute("nodes_splits"))
    modes = np.asarray(node.get_attribute("nodes_modes"))
    true, false = (_branches(node, side) for side in ("true", "false"))
    targets = node.get_array("leaf_targetids", np.int64)
    leaves = np.full((targets.size, node.get_attribute("n_targets")), np.nan, splits.dtype)
    leaves[np.arange(targets.size), targets] = node.get_attribute("leaf_weights")
    features, roots = (node.get_array(name, np.int64) for name in ("nodes_featureids", "tree_roots"))
    member_values = np.asarray(node.get_attribute("membership_values", splits[:0]))
    members = _member_sets(member_values, int((modes == _MEMBER).sum()))
    tables = (features, splits, modes, true, false, _missing(node, modes.size), roots, leaves, members)
    aggregate = _AGGREGATES[node.get_attribute("aggregate_function", 1)]
    scores = ops.TreeEnsemble(node.get_input(0), *map(Constant, tables), aggregate).output(0)
    return post_transform(scores, list(POST_TRANSFORMS)[node.get_attribute("post_transform", 0)])


def _branches(node: OnnxNodeContext, side: str) -> np.ndarray:
    """Return the child of each node on one side: the index of a node, or -1 - the index of a leaf."""
    indices = node.get_array(f"nodes_{side}nodeids", np.int64)
    return np.where(node.get_array(f"nodes_{side}leafs", np.int64) != 0, -1 - indices, indices)


def _missing(node: OnnxNodeContext, count: int) -> np.ndarray:
    """Return whether the comparison of each of ``count`` nodes is true for a missing value."""
    missing = node.get_array("nodes_missing_value_tracks_true", np.int64, ())
    return missing if missing.size else np.zeros(count, np.int64)


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
    if len(labels) <= 2 and leaves.targets.size and (leaves.targets == leaves.targets[0]).all():
        # All leaves are of one class of two, so its score determines the other's.
        leaves = leaves._replace(targets=np.zeros_like(leaves.targets))
        base = _floats(node, "base_values", ())
        score = _scores(node, leaves, 1, "SUM")
        if base.size:
            score = ops.Add(score, Constant(base[-1:].astype(np.float32))).output(0)
        is_probability = bool((leaves.weights >= 0).all())
        return binary_classes(score, labels, transform, 0.5 if is_probability else 0, is_probability)
    scores = _add_base_values(node, _scores(node, leaves, len(labels), "SUM"), len(labels))
    best = second_if_positive(scores, labels) if len(labels) == 2 else best_labels(scores, labels)
    return best, post_transform(scores, transform)


def _leaf_weights(node: OnnxNodeContext, prefix: str, ids: str) -> _LeafWeights:
    names = (f"{prefix}_treeids", f"{prefix}_nodeids", ids)
    trees, nodes, targets = (node.get_array(name, np.int64) for name in names)
    return _LeafWeights(trees, nodes, targets, _floats(node, f"{prefix}_weights"))


def _floats(node: OnnxNodeContext, name: str, default: Any = REQUIRED) -> np.ndarray:
    """Return an f32 attribute, or the tensor attribute for f64. Raises FrontendError if a required one is missing."""
    if node.has_attribute(f"{name}_as_tensor"):
        return np.asarray(node.get_attribute(f"{name}_as_tensor"))
    return node.get_array(name, np.float32, default)


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
        node.get_array(f"nodes_{name}", np.int64)
        for name in ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    )
    splits, modes = _floats(node, "nodes_values"), _mode_numbers(node)
    is_leaf = modes == _LEAF
    # Inner nodes have the indices 0, 1, …, leaves -1, -2, …
    indices = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    places = _NodePlaces(trees, ids)
    inner = np.flatnonzero(~is_leaf)
    branches = [indices[places.find(trees[inner], side[inner])] for side in (true, false)]
    leaves = np.full((int(is_leaf.sum()), count), np.nan, weights.weights.dtype)
    cells = (-1 - indices[places.find(weights.trees, weights.nodes)], weights.targets)
    leaves[cells] = 0
    np.add.at(leaves, cells, weights.weights)
    roots = indices[~np.isin(indices, np.concatenate(branches))]
    tables = (features[inner], splits[inner], modes[inner], *branches, _missing(node, modes.size)[inner],
              roots, leaves, np.zeros((0, 0), splits.dtype))  # fmt: skip
    return ops.Convert(ops.TreeEnsemble(node.get_input(0), *map(Constant, tables), aggregate), "f32").output(0)


def _mode_numbers(node: OnnxNodeContext) -> np.ndarray:
    """Return the mode of each node as an index into ``_MODES``, or ``_LEAF``. Raises FrontendError."""
    numbers = {name: number for number, name in enumerate(_MODES)} | {"LEAF": _LEAF}
    try:
        return np.array([numbers[mode] for mode in node.get_attribute("nodes_modes")], np.uint8)
    except KeyError as error:
        raise FrontendError(f"nodes_modes must be one of {', '.join(numbers)}, but is {error.args[0]}") from None


class _NodePlaces:
    """The places of nodes in a table, by the numbers of their tree and of the node in it."""

    def __init__(self, trees: np.ndarray, ids: np.ndarray) -> None:
        self._trees, self._ids = np.unique(trees), np.unique(ids)
        keys = self._keys(trees, ids)
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def find(self, trees: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return the places of nodes, of equal ones the last. Raises FrontendError if there is no such node."""
        keys = self._keys(trees, ids)
        last = np.searchsorted(self._sorted, keys, side="right") - 1
        is_missing = (keys < 0) | (last < 0) | (self._sorted[last] != keys)
        if is_missing.any():
            first = int(is_missing.argmax())
            raise FrontendError(f"there is no node {ids[first]} in tree {trees[first]}")
        return self._order[last]

    def _keys(self, trees: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return a number for each pair, which is negative if the table has no such tree or node."""
        ranks = [np.searchsorted(known, wanted) for known, wanted in ((self._trees, trees), (self._ids, ids))]
        is_known = [
            known[rank.clip(max=known.size - 1)] == wanted
            for known, rank, wanted in ((self._trees, ranks[0], trees), (self._ids, ranks[1], ids))
        ]
        return np.where(is_known[0] & is_known[1], ranks[0] * self._ids.size + ranks[1], -1)
