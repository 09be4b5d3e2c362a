"""SparseFillEmptyRows: a sparse matrix with a default value in its empty rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero import ops
from hetero.types import Type
from hetero_opencl.kernels.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.movement import WORDS, shape_input
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.scan import exclusive_scan, filled_buffer, make_dynamic_output
from hetero_opencl.kernels.sources import source, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


@lowers(ops.SparseFillEmptyRows, unless=unsupported_types)
def sparse_fill_empty_rows(lowering: Lowering, node: ops.SparseFillEmptyRows) -> None:
    values, _, indices, default_value = node.input_values()
    entries, rows = node.get_input_shape(0)[0], int(shape_input(node, 1).reshape(-1)[0])
    max_entries = entries + rows
    word = WORDS[node.get_input_element_type(0).size]
    text = source("sparse", {"INDEX": node.get_input_element_type(2)}, WORD=word)
    marks = filled_buffer(lowering, rows, 0)
    lowering.launch_flat(text, "mark_rows", [indices, marks, rows], entries)
    keys, is_kept = lowering.scratch(max_entries, 8), lowering.scratch(max_entries)
    lowering.launch_flat(text, "find_entries", [indices, marks, keys, is_kept, node.output(2), entries], max_entries)
    order = argsort(lowering, SortKeys(keys, Type.i64, 1, max_entries, 1))
    _, total = exclusive_scan(lowering, is_kept, max_entries)
    found_indices = make_dynamic_output(lowering, node.output(0), [-1, 2], 2 * max_entries, total)
    found_values = make_dynamic_output(lowering, node.output(1), [-1], max_entries, total)
    buffers = [order, total, found_indices, found_values]
    lowering.launch_flat(text, "write_entries", [indices, values, default_value, *buffers, entries], max_entries)
