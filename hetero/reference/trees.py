"""TreeEnsemble, by steps down all trees at once for many rows, and LabelEncoder."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.trees import MODES
from hetero.reference.registry import evaluates, in_single

# Rows times trees that are looked at together: few enough to stay in a processor's cache.
_TOGETHER = 1 << 16
_COMPARE = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)
_MEMBER = MODES.index("member")


@evaluates(ops.TreeEnsemble)
@in_single
def tree_ensemble(node: Node, data, features, splits, modes, when_true, when_false, missing, roots, leaves, members):
    branches = np.stack([when_false, when_true])
    sets = (modes == _MEMBER).cumsum() - 1  # the row of members that belongs to a node
    kinds, missing = np.unique(modes), missing.astype(bool)
    result = np.empty((len(data), leaves.shape[1]), leaves.dtype)
    step = max(1, _TOGETHER // max(1, len(roots) * leaves.shape[1]))
    for begin in range(0, len(data), step):
        rows = data[begin : begin + step]
        places = np.broadcast_to(roots, (len(rows), len(roots))).copy()
        row, tree = np.nonzero(places >= 0)
        for _ in range(len(features)):  # no way down is longer than there are nodes
            if not row.size:
                break
            at = places[row, tree]
            value = rows[row, features[at]]
            answer = _answers(value, splits[at], modes[at], kinds, members, sets[at])
            answer |= missing[at] & np.isnan(value)
            places[row, tree] = at = branches[answer.astype(np.intp), at]
            row, tree = row[at >= 0], tree[at >= 0]
        if row.size:
            raise ValueError("the nodes of a tree go round in a circle")
        result[begin : begin + step] = _together(node.aggregate, leaves[-1 - places])
    return result


def _answers(values, splits, modes, kinds, members, sets) -> np.ndarray:
    """Whether each value compares with the split, or is in the set, of its node."""
    if len(kinds) == 1 and kinds[0] != _MEMBER:
        return _COMPARE[kinds[0]](values, splits)
    answers = np.zeros(values.shape, bool)
    for kind in kinds:
        own = modes == kind
        if kind == _MEMBER:
            answers[own] = (values[own, None] == members[sets[own]]).any(axis=1)
        else:
            answers[own] = _COMPARE[kind](values[own], splits[own])
    return answers


def _together(aggregate: str, weights: np.ndarray) -> np.ndarray:
    """The weights ``[rows, trees, targets]`` of all trees as one, 0 for targets of which no tree says anything."""
    known = ~np.isnan(weights)
    if aggregate in ("min", "max"):
        empty, least = (np.inf, np.minimum) if aggregate == "min" else (-np.inf, np.maximum)
        found = least.reduce(np.where(known, weights, empty), axis=1)
        return np.where(known.any(axis=1), found, 0)
    total = np.where(known, weights, 0).sum(axis=1)
    return total / weights.shape[1] if aggregate == "average" else total


@evaluates(ops.LabelEncoder)
def label_encoder(node: Node, data: np.ndarray, keys: np.ndarray, values: np.ndarray, default=None) -> np.ndarray:
    if not keys.size:
        places, found = np.zeros(data.shape, np.intp), np.zeros(data.shape, bool)
    else:
        # From the back, as unique gives the first of equal keys.
        keys, last = np.unique(keys[::-1], return_index=True)
        places = np.searchsorted(keys, data).clip(0, keys.size - 1)
        found = keys[places] == data
        if keys.dtype.kind == "f":
            found |= np.isnan(data) & np.isnan(keys[places])
        places = len(values) - 1 - last[places]
    if default is None and not found.all():
        raise ValueError(f"no label is known for {data[~found][0]!r}")
    if found.all():
        return values[places] if values.size else np.zeros(data.shape, values.dtype)
    picked = values[places] if values.size else np.broadcast_to(default.reshape(-1)[:1], data.shape)
    return np.where(found, picked, default.reshape(-1)[0])
