"""TopK, Unique, and binary search: Bucketize and SearchSorted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.graph import Node, Output
from hetero_opencl.kernels.common.algorithms import (
    SortKeys,
    argsort,
    argsort_slices,
    exclusive_scan,
    filled_buffer,
    make_dynamic_output,
    sort_source,
)
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import comparison_source, is_comparable, lowers, source, unsupported_types
from hetero_opencl.lowering.lowering import Argument, Lowering

# Work-items that share the search in a row, if rows are long and few.
_GROUP = 64
_MANY_ROWS = 1024


@lowers(ops.TopK, ops.TopKV3, ops.TopKV1, unsupported=unsupported_types)
def top_k(lowering: Lowering, node: ops.TopK | ops.TopKV3 | ops.TopKV1) -> None:
    data, values, numbers = node.input_value(0), node.output(0), node.output(1)
    axis = node.axis % len(data.shape)
    outer, length, inner = math.prod(data.shape[:axis]), data.shape[axis], math.prod(data.shape[axis + 1 :])
    rows, k = outer * inner, values.shape[axis]
    if not rows * k:
        return
    descending, sizes, results = node.mode == "max", (length, inner), (values, numbers)
    text = source("top_k", {"DATA": data.element_type, "INDEX": numbers.element_type})
    if k == 1:
        return find_best(lowering, text, [data, *results], sizes, descending, rows)
    elements = SortKeys(lowering.buffer(data), data.element_type, outer, length, inner)
    order = argsort(lowering, elements, k, descending, nan_first=descending)  # NaN is the largest number
    if node.sort != "index":
        return lowering.launch_flat(text, "take_first", [data, order, *results, *sizes, k], rows * k)
    marks = filled_buffer(lowering, rows * length, 0)
    lowering.launch_flat(text, "mark_first", [order, marks, length, k], rows * k)
    before, _ = exclusive_scan(lowering, marks, rows * length)
    lowering.launch_flat(text, "take_marked", [data, marks, before, *results, *sizes, k], rows * length)


def find_best(
    lowering: Lowering, text: str, buffers: Sequence[Argument], sizes: tuple[int, int], descending: bool, rows: int
) -> None:
    """Launch the search for the best element of each row, with several work-items per row if rows are long and few.

    ``buffers`` are the data ``[outer, length, inner]``, the results and their indices; ``sizes`` are length and inner.
    """
    group = 1 if rows >= _MANY_ROWS or sizes[0] < _GROUP else _GROUP
    lowering.launch_flat(text, "find_best", [*buffers, *sizes, descending, group], rows * group)


@lowers(ops.Unique, unsupported=unsupported_types)
def unique(lowering: Lowering, node: ops.Unique) -> None:
    data, (values, indices, inverse, counts) = node.input_value(0), node.outputs()
    outer, length, inner, shape = 1, math.prod(data.shape), 1, [-1]
    if node.has_input("axis"):
        axis = int(shape_input(node, 1).reshape(-1)[0]) % len(data.shape)
        outer, length, inner = math.prod(data.shape[:axis]), data.shape[axis], math.prod(data.shape[axis + 1 :])
        shape = [*data.shape[:axis], -1, *data.shape[axis + 1 :]]
    types = {"DATA": data.element_type, "INDEX": indices.element_type, "COUNT": counts.element_type}
    text = sort_source("unique", types)
    elements = SortKeys(lowering.buffer(data), data.element_type, outer, length, inner)
    order = argsort(lowering, elements) if outer * inner == 1 else argsort_slices(lowering, elements)
    flags, firsts, begins, marks = (lowering.scratch(length) for _ in range(4))
    lowering.launch_flat(text, "find_groups", [data, order, flags, inner, outer * inner], length)
    before, total = exclusive_scan(lowering, flags, length)
    lowering.launch_flat(text, "find_firsts", [order, flags, before, firsts, begins, marks], length)
    positions, in_order = marks, node.sorted
    if not node.sorted:
        positions, _ = exclusive_scan(lowering, marks, length)
    results = [make_dynamic_output(lowering, value, [-1], length, total) for value in (indices, counts)]
    lowering.launch_flat(text, "write_groups", [firsts, begins, positions, total, *results, in_order], length)
    lowering.launch_flat(text, "write_inverse", [order, flags, before, firsts, positions, inverse, in_order], length)
    count = outer * length * inner
    found_values = make_dynamic_output(lowering, values, shape, count, total)
    lowering.launch_flat(text, "write_values", [data, results[0], total, found_values, length, inner], count)


def _unsupported_bucketize(node: Node) -> str | None:
    kinds = [value.element_type for value in node.input_values()]
    unsupported = unsupported_types(node)
    return unsupported or (None if is_comparable(kinds) else f"no kernel compares {kinds[0]} with {kinds[1]}")


@lowers(ops.Bucketize, unsupported=_unsupported_bucketize)
def bucketize(lowering: Lowering, node: ops.Bucketize) -> None:
    data, buckets = node.input_values()
    _search(lowering, buckets, data, node.output(0), after=not node.with_right_bound)


@lowers(ops.SearchSorted, unsupported=unsupported_types)
def search_sorted(lowering: Lowering, node: ops.SearchSorted) -> None:
    sequences, values = node.input_values()
    _search(lowering, sequences, values, node.output(0), after=node.right_mode)


def _search(lowering: Lowering, sequences: Output, values: Output, output: Output, after: bool) -> None:
    types = {"LEFT": sequences.element_type, "RIGHT": values.element_type, "INDEX": output.element_type}
    text = comparison_source("search", types)
    per_row = len(sequences.shape) > 1
    numbers = sequences.shape[-1], values.shape[-1] if per_row else 1, per_row, after
    lowering.launch_flat(text, "search", [sequences, values, output, *numbers], math.prod(values.shape))
