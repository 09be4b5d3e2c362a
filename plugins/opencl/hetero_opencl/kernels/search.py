"""Lookups in what is sorted: Bucketize and SearchSorted."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node, Output
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import ELEMENTS, refuse_types, source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


def wide_type(kinds: Collection[Type]) -> Type | None:
    """The type in which elements of two types are compared first; None for u64 with a signed one."""
    if any(kind.is_real() for kind in kinds):
        return Type.f64 if Type.f64 in kinds else Type.f32
    if Type.u64 in kinds:
        return None if any(kind.is_signed() for kind in kinds) else Type.u64
    return Type.i64


def refuse_bucketize(node: Node) -> str | None:
    kinds = [value.element_type for value in node.input_values()]
    refused = refuse_types(node)
    return refused or (None if wide_type(kinds) else f"no kernel compares {kinds[0]} with {kinds[1]}")


@lowers(ops.Bucketize, unless=refuse_bucketize)
def bucketize(lowering: Lowering, node: Node) -> None:
    data, buckets = node.input_values()
    _search(lowering, buckets, data, node.output(0), after=not node.with_right_bound)


@lowers(ops.SearchSorted, unless=refuse_types)
def search_sorted(lowering: Lowering, node: Node) -> None:
    sequences, values = node.input_values()
    _search(lowering, sequences, values, node.output(0), after=node.right_mode)


def _search(lowering: Lowering, sequences: Output, values: Output, output: Output, after: bool) -> None:
    types = {"SEQUENCE": sequences.element_type, "DATA": values.element_type, "INDEX": output.element_type}
    kinds = sequences.element_type, values.element_type
    exact = "ulong" if Type.u64 in kinds else "long"
    text = source("search", types, WIDE=ELEMENTS[wide_type(kinds)].value, EXACT=exact, CONVERT=f"convert_{exact}_sat")
    one_each = len(sequences.shape) > 1
    numbers = sequences.shape[-1], values.shape[-1] if one_each else 1, one_each, after
    buffers = [lowering.buffer(value) for value in (sequences, values, output)]
    lowering.launch_flat(text, "search", [*buffers, *map(np.int32, numbers)], math.prod(values.shape))
