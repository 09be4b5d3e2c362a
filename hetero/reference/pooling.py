"""Pooling: maxima and sums accumulated along one axis after the other, over strided views of the data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.core.types import lowest
from hetero.ops.windows import overlapping_elements
from hetero.reference.registry import Array, evaluates

_Pooling = ops.MaxPoolV1 | ops.MaxPoolV8 | ops.AvgPoolV1


@evaluates(ops.MaxPoolV1)
def max_pool_without_indices(node: ops.MaxPoolV1 | ops.MaxPoolV8, data: Array) -> Array:
    return _along_axes(node, data, np.maximum, lowest(data.dtype))


@evaluates(ops.MaxPool, ops.MaxPoolV8)
def max_pool(node: ops.MaxPoolV8, data: Array) -> tuple[Array, Array]:
    if node.output(0).get_target_inputs() and not node.output(1).get_target_inputs():
        largest = max_pool_without_indices(node, data)
        return largest, np.broadcast_to(np.int64(0), largest.shape)  # the indices are not used
    positions, (begin, _) = _positions(node, data), node.resolve_pads(data.shape[2:])
    axis = node.axis % data.ndim
    flat_indices = np.arange(math.prod(data.shape[axis:]), dtype=np.int64).reshape(data.shape[axis:])
    indices = np.broadcast_to(flat_indices, data.shape)
    largest = np.full((*data.shape[:2], *positions), lowest(data.dtype), data.dtype)
    where = np.full(largest.shape, -1, np.int64)
    windows = zip(data.shape[2:], positions, node.kernel_shape, node.strides, node.dilations, begin)
    for overlap in itertools.product(*(list(_overlaps(*window)) for window in windows)):
        outputs, elements = ((..., *slices) for slices in zip(*overlap))
        # Strictly larger, so that the first of equal values is selected; NaN is larger than all.
        better = (data[elements] > largest[outputs]) | (where[outputs] < 0)
        better |= (data[elements] != data[elements]) & (largest[outputs] == largest[outputs])
        np.copyto(largest[outputs], data[elements], where=better)
        np.copyto(where[outputs], indices[elements], where=better)
    # As in OpenVINO, a window that covers only padding gets the index of the first element of its channel.
    corner = indices[:, :, *[slice(1)] * len(positions)] if data.size else 0
    return largest, np.where(where < 0, corner, where)


@evaluates(ops.AvgPoolV1, ops.AvgPoolV14, ops.AvgPool)
def avg_pool(node: ops.AvgPoolV1, data: Array) -> Array:
    source = data.astype(np.float32) if data.dtype.itemsize < 4 else data
    total = _along_axes(node, source, np.add, 0)
    # As in OpenVINO, without any padding the elements of a window beyond the end (rounding_type ceil) do not count.
    counts_pads = not node.exclude_pad and any(map(any, node.resolve_pads(data.shape[2:])))
    if counts_pads:
        count = math.prod(node.kernel_shape)
    else:
        count = np.maximum(_along_axes(node, np.ones((1, 1, *data.shape[2:]), np.float32), np.add, 0), 1)
    return np.divide(total, count, out=total) if source.dtype.kind == "f" else total // count


@evaluates(ops.AdaptiveAvgPool)
def adaptive_avg_pool(node: ops.AdaptiveAvgPool, data: Array, output_shape: Array) -> Array:
    total = data.astype(np.float32) if data.dtype.itemsize < 4 else data
    count = np.ones((), np.int64)
    for axis, size in enumerate(output_shape.tolist(), 2):
        starts, ends = _parts(total.shape[axis], size)
        total = np.stack([total[(slice(None),) * axis + (slice(*part),)].sum(axis) for part in zip(starts, ends)], axis)
        count = np.multiply.outer(count, ends - starts)
    return total / count  # rounded once: a mean of means may be less than the integer that it should be


@evaluates(ops.AdaptiveMaxPool)
def adaptive_max_pool(node: ops.AdaptiveMaxPool, data: Array, output_shape: Array) -> tuple[Array, Array]:
    lengths, sizes = data.shape[2:], output_shape.tolist()
    parts = [list(zip(*_parts(length, size))) for length, size in zip(lengths, sizes)]
    flat_indices = np.arange(math.prod(lengths)).reshape(lengths)
    largest, where = np.empty((*data.shape[:2], *sizes), data.dtype), np.empty((*data.shape[:2], *sizes), np.int64)
    for position in itertools.product(*map(range, sizes)):
        part = tuple(slice(*parts[axis][index]) for axis, index in enumerate(position))
        elements = (slice(None), slice(None), *part)
        output: tuple[Any, ...] = (..., *position)
        values = data[elements].reshape(*data.shape[:2], flat_indices[part].size)
        first = values.argmax(-1)
        largest[output] = np.take_along_axis(values, first[..., None], -1)[..., 0]
        where[output] = flat_indices[part].reshape(-1)[first]
    return largest, where


def _parts(length: int, size: int) -> tuple[Array, Array]:
    """Return begin and end of each of ``size`` parts: ``floor(i·length / size)``, ``ceil((i + 1)·length / size)``."""
    index = np.arange(size)
    return index * length // size, -((index + 1) * -length // size)


def _positions(node: _Pooling, data: Array) -> tuple[int, ...]:
    return node.positions(PartialShape(data.shape[2:])).to_shape()


def _along_axes(node: _Pooling, data: Array, combine: Callable[..., Array], neutral: float) -> Array:
    """Combine the elements of each window, one spatial axis after the other, into a new array."""
    begin, _ = node.resolve_pads(data.shape[2:])
    for axis, count in enumerate(_positions(node, data)):
        window = node.kernel_shape[axis], node.strides[axis], node.dilations[axis], begin[axis]
        result = np.full((*data.shape[: axis + 2], count, *data.shape[axis + 3 :]), neutral, data.dtype)
        for outputs, elements in _overlaps(data.shape[axis + 2], count, *window):
            front = (slice(None),) * (axis + 2)
            target = result[(*front, outputs)]
            combine(target, data[(*front, elements)], out=target)
        data = result
    return data


def _overlaps(
    length: int, count: int, size: int, stride: int, dilation: int, begin: int
) -> Iterator[tuple[slice, slice]]:
    """Yield for each window element along an axis the positions at which it overlaps data, and that data."""
    for number in overlapping_elements(length, count, size, stride, dilation, begin):
        shift = number * dilation - begin
        first, last = max(-(shift // stride), 0), min((length - 1 - shift) // stride, count - 1)
        if first <= last:  # with a stride, the element may skip all data
            yield slice(first, last + 1), slice(first * stride + shift, last * stride + shift + 1, stride)
