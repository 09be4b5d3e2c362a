"""SparseFillEmptyRows: a sparse matrix with a default in the rows that had no value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.types import Type
from hetero_opencl.kernels.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.movement import WORDS, shape_input
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.scan import exclusive_scan, filled, make_dynamic_output
from hetero_opencl.kernels.sources import source, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


@lowers(ops.SparseFillEmptyRows, unless=unsupported_types)
def sparse_fill_empty_rows(lowering: Lowering, node: Node) -> None:
    values, _, indices, default_value = (lowering.buffer(value) for value in node.input_values())
    entries, rows = node.get_input_shape(0)[0], int(shape_input(node, 1).reshape(-1)[0])
    most = entries + rows
    word = WORDS[node.get_input_element_type(0).size]
    text = source("sparse", {"INDEX": node.get_input_element_type(2)}, WORD=word)
    marks = filled(lowering, rows, 0)
    lowering.launch_flat(text, "mark_rows", [indices, marks, np.int32(rows)], entries)
    keys, kept = lowering.scratch(most, 8), lowering.scratch(most)
    arguments = [indices, marks, keys, kept, lowering.buffer(node.output(2)), np.int32(entries)]
    lowering.launch_flat(text, "find_entries", arguments, most)
    order = argsort(lowering, SortKeys(keys, Type.i64, 1, most, 1))
    _, total = exclusive_scan(lowering, kept, most)
    found_indices = make_dynamic_output(lowering, node.output(0), [-1, 2], 2 * most, total)
    found_values = make_dynamic_output(lowering, node.output(1), [-1], most, total)
    arguments = [indices, values, default_value, order, total, found_indices, found_values, np.int32(entries)]
    lowering.launch_flat(text, "write_entries", arguments, most)
