"""Unique elements, or unique slices along an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hetero import ops
from hetero_opencl.kernels.merge_sort import SortKeys, argsort, argsort_slices, sort_source
from hetero_opencl.kernels.movement import shape_input
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.scan import exclusive_scan, make_dynamic_output
from hetero_opencl.kernels.sources import unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


@lowers(ops.Unique, unless=unsupported_types)
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
    found = [make_dynamic_output(lowering, value, [-1], length, total) for value in (indices, counts)]
    lowering.launch_flat(text, "write_groups", [firsts, begins, positions, total, *found, in_order], length)
    lowering.launch_flat(text, "write_inverse", [order, flags, before, firsts, positions, inverse, in_order], length)
    count = outer * length * inner
    found_values = make_dynamic_output(lowering, values, shape, count, total)
    lowering.launch_flat(text, "write_values", [data, found[0], total, found_values, length, inner], count)
