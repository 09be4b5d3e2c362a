"""Slices and splits, as views of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.shape import Dimension
from hetero.reference.registry import Array, evaluates


@evaluates(ops.Slice)
def slice_(node: ops.Slice, data: Array, *bounds: Array) -> Array:
    return data[node.index(data.shape, bounds)]


@evaluates(ops.StridedSlice)
def strided_slice(node: ops.StridedSlice, data: Array, *bounds: Array) -> Array:
    # The trailing ellipsis gives a view even for a single element, which numpy would copy.
    return data[(*node.index(data.shape, bounds), ...)]


@evaluates(ops.Split)
def split(node: ops.Split, data: Array, axis: Array) -> list[Array]:
    return np.split(data, node.num_splits, int(axis.reshape(-1)[0]))


@evaluates(ops.VariadicSplit)
def variadic_split(node: ops.VariadicSplit, data: Array, axis: Array, split_lengths: Array) -> list[Array]:
    split_axis = int(axis.reshape(-1)[0])
    lengths: Sequence[Any] = node.part_lengths(Dimension(data.shape[split_axis]), split_lengths.reshape(-1).tolist())
    ends = np.cumsum([Dimension.of(length).get_length() for length in lengths])
    return np.split(data, ends[:-1], split_axis)
