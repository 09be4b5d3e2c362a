"""Slices, and assignments to them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.paddle.translators.creation import MAX_COMPUTED, values_of
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import int64, normalize_axis, rank_of
from hetero.graph import Constant, Node, Output
from hetero.ops.values import exact_value


@translator("slice")
def slice_axes(node: PaddleNodeContext) -> ConversionResult:
    """Cut ranges out of axes; those in ``decrease_axis`` are removed."""
    value = node.get_input("Input")
    axes = [normalize_axis(axis, rank_of(value)) for axis in node.get_attribute("axes")]
    starts = node.integers("starts", "StartsTensor", "StartsTensorList")
    ends = node.integers("ends", "EndsTensor", "EndsTensorList")
    removed = [normalize_axis(axis, rank_of(value)) for axis in node.get_attribute("decrease_axis", [])]
    ends = _after_single(starts, ends, axes, removed)
    cut = ops.Slice(value, starts, ends, int64([1] * len(axes)), int64(axes)).output(0)
    return ops.Squeeze(cut, int64(removed)) if removed else cut


def _after_single(starts: Output, ends: Output, axes: list[int], removed: list[int]) -> Output:
    """Return the ends, with the largest number in the place of 0 after a start of -1 on an axis that is removed."""
    first, last = (value.node.data if isinstance(value.node, Constant) else None for value in (starts, ends))
    if first is not None and last is not None:
        fixed = np.array(last)
        for at, axis in enumerate(axes):
            if axis in removed and first[at] == -1 and fixed[at] == 0:
                fixed[at] = np.iinfo(np.int64).max
        return int64(fixed).output(0)
    if set(removed) == set(axes):
        # Each range has one element, whose place may be computed.
        is_last = ops.Equal(starts, int64([-1]))
        return ops.Select(is_last, int64([np.iinfo(np.int64).max]), ops.Add(starts, int64([1]))).output(0)
    return ends


@translator("strided_slice")
def strided_slice(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("Input")
    axes = [normalize_axis(axis, rank_of(value)) for axis in node.get_attribute("axes")]
    starts = node.integers("starts", "StartsTensor", "StartsTensorList")
    ends = node.integers("ends", "EndsTensor", "EndsTensorList")
    strides = node.integers("strides", "StridesTensor", "StridesTensorList")
    removed = [normalize_axis(axis, rank_of(value)) for axis in node.get_attribute("decrease_axis", [])]
    cut = ops.Slice(value, starts, ends, strides, int64(axes)).output(0)
    return ops.Squeeze(cut, int64(removed)) if removed else cut


@translator("set_value")
def set_value(node: PaddleNodeContext) -> ConversionResult:
    """Replace the elements of a slice by a value that broadcasts to it."""
    value = node.get_input("Input")
    rank = rank_of(value)
    axes = [normalize_axis(axis, rank) for axis in node.get_attribute("axes")]
    bounds = [node.integers(f"{name}s", f"{name.capitalize()}sTensorList") for name in ("start", "end", "step")]
    known = [bound for bound in map(exact_value, bounds) if bound is not None]
    if len(known) < 3 or any(length.is_dynamic for length in value.partial_shape):
        return _set_at_run_time(node, value, axes, bounds)
    starts, ends, steps = (bound.tolist() for bound in known)
    shape = value.partial_shape.to_shape()
    ranges = [np.arange(length) for length in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps):
        ranges[axis] = ranges[axis][_as_slice(start, end, step, shape[axis])]
    if math.prod(map(len, ranges)) > MAX_COMPUTED // max(rank, 1):
        return _set_at_run_time(node, value, axes, bounds)
    places = np.stack(np.meshgrid(*ranges, indexing="ij"), -1) if rank else np.zeros((0,), np.int64)
    if places.size == 0 and rank:
        return value
    updates = _updates(node, value, int64(places.shape[:-1]).output(0))
    return ops.ScatterNDUpdate(value, int64(places), updates)


def _as_slice(start: int, end: int, step: int, length: int) -> slice:
    return slice(start, None if step < 0 and end < -length else end, step)


def _updates(node: PaddleNodeContext, value: Output, shape: Output) -> Output:
    """Return the new elements in the shape of the slice.

    They broadcast to that shape without the axes in ``decrease_axes`` and with those in ``none_axes``.
    """
    given = node.get_input("ValueTensor") if node.has_input("ValueTensor") else values_of(node, "shape")
    given, rank = convert_to(given, value.element_type), rank_of(value)
    removed = [normalize_axis(axis, rank) for axis in node.get_attribute("decrease_axes", [])]
    added = node.get_attribute("none_axes", [])
    lengths: list[Output | Node] = []
    new_axes: list[int] = []
    for axis in range(rank + 1):
        for _ in range(sum(min(new, rank) == axis for new in added)):
            new_axes.append(len(lengths))
            lengths.append(int64([1]))
        if axis < rank and axis not in removed:
            lengths.append(ops.Gather(shape, int64([axis]), int64(0)))
    extra = rank_of(given) - len(lengths)
    if extra > 0:
        given = ops.Squeeze(given, int64(range(extra))).output(0)
    if lengths:
        given = ops.Broadcast(given, ops.Concat(lengths, 0), broadcast_spec="NUMPY").output(0)
    given = ops.Squeeze(given, int64(new_axes)).output(0) if new_axes else given
    given = ops.Unsqueeze(given, int64(sorted(removed))).output(0) if removed else given
    return ops.Broadcast(given, shape, broadcast_spec="NUMPY").output(0)


def _set_at_run_time(
    node: PaddleNodeContext, value: Output, axes: Sequence[int], bounds: Sequence[Output]
) -> ConversionResult:
    # The places of the elements in the flat tensor are cut out like the elements themselves.
    count = ops.ReduceProd(ops.ShapeOf(value), int64([0]), False)
    places = ops.Reshape(ops.Range(int64(0), count, int64(1), Type.i64), ops.ShapeOf(value), False)
    cut = ops.Slice(places, *bounds, int64(axes))
    updates = _updates(node, value, ops.ShapeOf(cut).output(0))
    flat = ops.ScatterUpdate(
        ops.Reshape(value, int64([-1]), False), ops.Reshape(cut, int64([-1]), False),
        ops.Reshape(updates, int64([-1]), False), int64(0),
    )  # fmt: skip
    return ops.Reshape(flat, ops.ShapeOf(value), False)
