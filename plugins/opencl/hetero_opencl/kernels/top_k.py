"""TopK: the k largest or smallest elements along an axis, and their indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hetero import ops
from hetero.types import Type
from hetero_opencl.kernels.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.scan import exclusive_scan, filled_buffer
from hetero_opencl.kernels.sources import source, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Argument, Lowering

# Work-items that share the search in a row, if rows are long and few.
_GROUP = 64
_MANY_ROWS = 1024


@lowers(ops.TopK, ops.TopKV3, ops.TopKV1, unless=unsupported_types)
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
    # NaN counts as the largest number, but comes last in f64, as in the reference.
    nan_first = descending and data.element_type is not Type.f64
    elements = SortKeys(lowering.buffer(data), data.element_type, outer, length, inner)
    order = argsort(lowering, elements, k, descending, nan_first)
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
