"""Slices, and assignments to them."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.paddle.translators.creation import values_of
from hetero.frontend.quantization import convert_to
from hetero.frontend.translation import ConversionResult
from hetero.frontend.values import int64, normalize_axis, rank_of
from hetero.graph import Constant, Output
from hetero.types import Type


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
    if node.get_attribute("none_axes", []):
        raise FrontendError("new axes in an assignment are not supported")
    if any(length.is_dynamic for length in value.partial_shape):
        return _set_at_run_time(node, value)
    axes = [normalize_axis(axis, rank) for axis in node.get_attribute("axes")]
    starts, ends, steps = (
        node.known_integers(f"{name}s", f"{name.capitalize()}sTensorList") for name in ("start", "end", "step")
    )
    shape = value.partial_shape.to_shape()
    ranges = [np.arange(length) for length in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps):
        ranges[axis] = np.arange(shape[axis])[_as_slice(start, end, step, shape[axis])]
    places = np.stack(np.meshgrid(*ranges, indexing="ij"), -1) if rank else np.zeros((0,), np.int64)
    updates = _updates(node, value, axes, int64(places.shape[:-1]).output(0))
    if places.size == 0 and rank:
        return value
    return ops.ScatterNDUpdate(value, int64(places), updates)


def _as_slice(start: int, end: int, step: int, length: int) -> slice:
    return slice(start, None if step < 0 and end < -length else end, step)


def _updates(node: PaddleNodeContext, value: Output, axes: list[int], shape: Output) -> Output:
    """Return the new elements in the shape of the slice."""
    if node.has_input("ValueTensor"):
        given = convert_to(node.get_input("ValueTensor"), value.element_type)
    else:
        given = convert_to(values_of(node, "shape"), value.element_type)
    removed = [normalize_axis(axis, rank_of(value)) for axis in node.get_attribute("decrease_axes", [])]
    if removed and rank_of(given) > 0:
        kept = [axis for axis in range(rank_of(value)) if axis not in removed]
        extra = [axis for axis in removed if axis > min(kept[-rank_of(given) :], default=-1)]
        missing = [axis for axis in removed if axis in extra]
        offset = rank_of(value) - rank_of(given) - len(missing)
        if missing and rank_of(given) <= len(kept):
            given = ops.Unsqueeze(given, int64([axis - offset for axis in missing])).output(0)
    return ops.Broadcast(given, shape, broadcast_spec="NUMPY").output(0)


def _set_at_run_time(node: PaddleNodeContext, value: Output) -> ConversionResult:
    axes = [normalize_axis(axis, rank_of(value)) for axis in node.get_attribute("axes")]
    starts, ends, steps = (
        node.integers(f"{name}s", f"{name.capitalize()}sTensorList") for name in ("start", "end", "step")
    )
    # The places of the elements in the flat tensor are cut out like the elements themselves.
    count = ops.ReduceProd(ops.ShapeOf(value), int64([0]), False)
    places = ops.Reshape(ops.Range(int64(0), count, int64(1), Type.i64), ops.ShapeOf(value), False)
    cut = ops.Slice(places, starts, ends, steps, int64(axes))
    updates = _updates(node, value, axes, ops.ShapeOf(cut).output(0))
    flat = ops.ScatterUpdate(
        ops.Reshape(value, int64([-1]), False), ops.Reshape(cut, int64([-1]), False),
        ops.Reshape(updates, int64([-1]), False), int64(0),
    )  # fmt: skip
    return ops.Reshape(flat, ops.ShapeOf(value), False)
