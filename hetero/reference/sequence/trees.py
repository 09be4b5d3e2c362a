"""TreeEnsemble, by descending all trees at once for a block of rows, and LabelEncoder."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.ops.sequence.trees import MODES
from hetero.reference.registry import Array, evaluates

# Rows times trees per block, which fit into the processor's cache.
_BLOCK = 1 << 16
_COMPARE = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)
_MEMBER = MODES.index("member")


@evaluates(ops.TreeEnsemble, in_f32=True)
def tree_ensemble(node: ops.TreeEnsemble, data: Array, *inputs: Array) -> Array:
    features, splits, modes, when_true, when_false, missing, roots, leaves, members = inputs
    branches = np.stack([when_false, when_true])
    sets = (modes == _MEMBER).cumsum() - 1  # the row of members for each node
    used_modes, follows_missing = np.unique(modes), missing.astype(bool)
    result = np.empty((len(data), leaves.shape[1]), leaves.dtype)
    step = max(1, _BLOCK // max(1, len(roots) * leaves.shape[1]))
    for begin in range(0, len(data), step):
        rows = data[begin : begin + step]
        nodes = np.broadcast_to(roots, (len(rows), len(roots))).copy()
        row, tree = np.nonzero(nodes >= 0)
        for _ in range(len(features)):  # a path has at most as many steps as there are nodes
            if not row.size:
                break
            current = nodes[row, tree]
            value = rows[row, features[current]]
            is_true = _compare(value, splits[current], modes[current], used_modes, members, sets[current])
            is_true |= follows_missing[current] & np.isnan(value)
            nodes[row, tree] = current = branches[is_true.astype(np.intp), current]
            row, tree = row[current >= 0], tree[current >= 0]
        if row.size:
            raise ValueError("the nodes of a tree form a cycle")
        result[begin : begin + step] = _aggregate(node.aggregate, leaves[-1 - nodes])
    return result


def _compare(values: Array, splits: Array, modes: Array, used_modes: Array, members: Array, sets: Array) -> Array:
    """Compare each value with the split of its node, or test whether it is in the node's set."""
    if len(used_modes) == 1 and used_modes[0] != _MEMBER:
        return _COMPARE[used_modes[0]](values, splits)
    is_true = np.zeros(values.shape, bool)
    for mode in used_modes:
        selected = modes == mode
        if mode == _MEMBER:
            is_true[selected] = (values[selected, None] == members[sets[selected]]).any(axis=1)
        else:
            is_true[selected] = _COMPARE[mode](values[selected], splits[selected])
    return is_true


def _aggregate(aggregate: str, weights: Array) -> Array:
    """Aggregate weights ``[rows, trees, targets]`` over all trees; 0 for targets without any weight."""
    known = ~np.isnan(weights)
    if aggregate in ("min", "max"):
        neutral, combine = (np.inf, np.minimum) if aggregate == "min" else (-np.inf, np.maximum)
        extreme = combine.reduce(np.where(known, weights, neutral), axis=1)
        return np.where(known.any(axis=1), extreme, 0)
    total = np.where(known, weights, 0).sum(axis=1)
    return total / weights.shape[1] if aggregate == "average" else total


@evaluates(ops.LabelEncoder)
def label_encoder(
    node: ops.LabelEncoder, data: Array, keys: Array, values: Array, default: Array | None = None
) -> Array:
    if not keys.size:
        indices, found = np.zeros(data.shape, np.intp), np.zeros(data.shape, bool)
    else:
        # Reversed, as unique returns the first of equal keys, but the last one counts.
        keys, last = np.unique(keys[::-1], return_index=True)
        indices = np.searchsorted(keys, data).clip(0, keys.size - 1)
        found = keys[indices] == data
        if keys.dtype.kind == "f":
            found |= np.isnan(data) & np.isnan(keys[indices])
        indices = len(values) - 1 - last[indices]
    if found.all():
        return values[indices] if values.size else np.zeros(data.shape, values.dtype)
    if default is None:
        raise ValueError(f"no label is known for {data[~found][0]!r}")
    encoded = values[indices] if values.size else np.broadcast_to(default.reshape(-1)[:1], data.shape)
    return np.where(found, encoded, default.reshape(-1)[0])
