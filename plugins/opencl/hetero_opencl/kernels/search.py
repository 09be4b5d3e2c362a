"""Binary search: Bucketize and SearchSorted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hetero import ops
from hetero.graph import Node, Output
from hetero_opencl.kernels.comparison import comparison_source, is_comparable
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


def _unsupported_bucketize(node: Node) -> str | None:
    kinds = [value.element_type for value in node.input_values()]
    unsupported = unsupported_types(node)
    return unsupported or (None if is_comparable(kinds) else f"no kernel compares {kinds[0]} with {kinds[1]}")


@lowers(ops.Bucketize, unless=_unsupported_bucketize)
def bucketize(lowering: Lowering, node: ops.Bucketize) -> None:
    data, buckets = node.input_values()
    _search(lowering, buckets, data, node.output(0), after=not node.with_right_bound)


@lowers(ops.SearchSorted, unless=unsupported_types)
def search_sorted(lowering: Lowering, node: ops.SearchSorted) -> None:
    sequences, values = node.input_values()
    _search(lowering, sequences, values, node.output(0), after=node.right_mode)


def _search(lowering: Lowering, sequences: Output, values: Output, output: Output, after: bool) -> None:
    types = {"LEFT": sequences.element_type, "RIGHT": values.element_type, "INDEX": output.element_type}
    text = comparison_source("search", types)
    per_row = len(sequences.shape) > 1
    numbers = sequences.shape[-1], values.shape[-1] if per_row else 1, per_row, after
    lowering.launch_flat(text, "search", [sequences, values, output, *numbers], math.prod(values.shape))
