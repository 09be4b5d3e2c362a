"""TreeEnsemble, and LabelEncoder for numbers."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.graph import Node, is_constant
from hetero.ops.sequence.trees import MODES
from hetero_opencl.kernels.common.algorithms import SortKeys, argsort
from hetero_opencl.kernels.common.copies import WORDS, shape_input, unsupported_movement
from hetero_opencl.kernels.common.definition import comparison_source, lowers, unsupported_types
from hetero_opencl.lowering.lowering import Argument, Lowering

_AGGREGATE = {"sum": "((a) + (b))", "average": "((a) + (b))", "min": "fmin(a, b)", "max": "fmax(a, b)"}


def _unsupported_tree_ensemble(node: Node) -> str | None:
    if not all(is_constant(node.input_value(index)) for index in (1, 3, 4, 5, 6, 7)):
        return "the nodes of the trees are not constant"
    if node.get_input_element_type(2) != node.get_input_element_type(9):
        return "node splits and membership values have different types"
    return unsupported_types(node)


@lowers(ops.TreeEnsemble, unsupported=_unsupported_tree_ensemble)
def tree_ensemble(lowering: Lowering, node: ops.TreeEnsemble) -> None:
    data, _, splits, _, _, _, _, _, leaves, members = node.input_values()
    features, modes, when_true, when_false, missing_true, roots = (
        shape_input(node, index) for index in (1, 3, 4, 5, 6, 7)
    )
    # Indices out of range are clipped, so that kernels need no checks.
    sets = ((modes == MODES.index("member")).cumsum() - 1).clip(0, max(members.shape[0] - 1, 0))
    rows, width = data.shape
    targets, trees = node.shape[1], len(roots)
    types = {"LEFT": data.element_type, "RIGHT": splits.element_type, "LEAF": leaves.element_type}
    macros = {"AGGREGATE(a, b)": _AGGREGATE[node.aggregate], "MEAN": int(node.aggregate == "average")}
    text = comparison_source("trees", types, **macros)
    tables = features.clip(0, width - 1), modes, sets, when_true, when_false, missing_true, roots
    members_each = members.shape[1] if members.shape[0] else 0
    sizes = width, len(modes), trees, members_each, leaves.shape[0]
    leaf_indices = lowering.scratch(rows * trees)
    buffers = [*(lowering.constant(table.astype(np.int32)) for table in tables), leaf_indices]
    lowering.launch_flat(text, "descend", [data, splits, members, *buffers, *sizes], rows * trees)
    lowering.launch_flat(text, "aggregate", [leaf_indices, leaves, node.output(0), trees, targets], rows * targets)


def _unsupported_label_encoder(node: ops.LabelEncoder) -> str | None:
    if not node.has_input("default"):
        return "without a default value it fails on unknown keys"
    return unsupported_movement(node) or unsupported_types(node, node.input_values()[:2])


@lowers(ops.LabelEncoder, unsupported=_unsupported_label_encoder)
def label_encoder(lowering: Lowering, node: ops.LabelEncoder) -> None:
    """Sort the keys, then search them. The last of equal keys counts."""
    data, keys, values, default = node.input_values()
    count, kind = keys.shape[0], keys.element_type
    order = argsort(lowering, SortKeys(lowering.buffer(keys), kind, 1, count, 1))
    text = comparison_source("label_encoder", {"LEFT": kind, "RIGHT": kind}, WORD=WORDS[values.element_type.size])
    arguments: list[Argument] = [data, keys, order, values, default, node.output(0), count]
    lowering.launch_flat(text, "encode", arguments, math.prod(data.shape))
