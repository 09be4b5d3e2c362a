"""TopK: the k largest or smallest elements along an axis, and their indices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.types import Type
from hetero_opencl.kernels.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.scan import exclusive_scan, filled_buffer
from hetero_opencl.kernels.sources import source, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# Work-items that share the search in a row, if rows are long and few.
_GROUP = 64
_MANY_ROWS = 1024


@lowers(ops.TopK, ops.TopKV3, ops.TopKV1, unless=unsupported_types)
def top_k(lowering: Lowering, node: Node) -> None:
    data, values, numbers = node.input_value(0), node.output(0), node.output(1)
    axis = node.axis % len(data.shape)
    outer, length, inner = math.prod(data.shape[:axis]), data.shape[axis], math.prod(data.shape[axis + 1 :])
    rows, k = outer * inner, values.shape[axis]
    if not rows * k:
        return
    descending, sizes = node.mode == "max", (np.int32(length), np.int32(inner))
    text = source("top_k", {"DATA": data.element_type, "INDEX": numbers.element_type})
    elements, results = lowering.buffer(data), [lowering.buffer(values), lowering.buffer(numbers)]
    if k == 1:
        return find_best(lowering, text, [elements, *results, *sizes, np.int32(descending)], rows, length)
    # NaN counts as the largest number, but comes last in f64, as in the reference.
    nan_first = descending and data.element_type is not Type.f64
    order = argsort(lowering, SortKeys(elements, data.element_type, outer, length, inner), k, descending, nan_first)
    if node.sort != "index":
        arguments = [elements, order, *results, *sizes, np.int32(k)]
        return lowering.launch_flat(text, "take_first", arguments, rows * k)
    marks = filled_buffer(lowering, rows * length, 0)
    lowering.launch_flat(text, "mark_first", [order, marks, np.int32(length), np.int32(k)], rows * k)
    before, _ = exclusive_scan(lowering, marks, rows * length)
    lowering.launch_flat(text, "take_marked", [elements, marks, before, *results, *sizes, np.int32(k)], rows * length)


def find_best(lowering: Lowering, text: str, arguments: list, rows: int, length: int) -> None:
    """Launch the search for the best element of each row, with several work-items per row if rows are long and few."""
    group = 1 if rows >= _MANY_ROWS or length < _GROUP else _GROUP
    lowering.launch_flat(text, "find_best", [*arguments, np.int32(group)], rows * group)
