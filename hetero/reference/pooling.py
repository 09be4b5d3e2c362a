"""Pooling: running maxima and sums over the offsets of the kernel, each a strided view of the padded data."""

from __future__ import annotations

import itertools
import math

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.convolution import window_slices
from hetero.reference.registry import evaluates


@evaluates(ops.MaxPool)
def max_pool(node: Node, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    padded, positions, begin = _padded(node, data, lowest(data.dtype))
    views = _views(node, positions)
    largest = padded[views[0]].copy()
    if node.output(0).get_target_inputs() and not node.output(1).get_target_inputs():
        for view in views[1:]:
            np.maximum(largest, padded[view], out=largest)
        return largest, np.broadcast_to(np.int64(0), largest.shape)  # nobody reads the indices
    indices = _indices(node, data.shape, padded.shape, begin)
    where = indices[views[0]].copy()
    for view in views[1:]:
        # Padding never wins, and of equal values the first.
        better = (indices[view] >= 0) & ((padded[view] > largest) | (where < 0))
        np.copyto(largest, padded[view], where=better)
        np.copyto(where, indices[view], where=better)
    return largest, np.maximum(where, 0)


@evaluates(ops.AvgPool)
def avg_pool(node: Node, data: np.ndarray) -> np.ndarray:
    source = data.astype(np.float32) if data.dtype.itemsize < 4 else data
    padded, positions, begin = _padded(node, source, 0)
    total = np.zeros((*data.shape[:2], *positions), source.dtype)
    for view in _views(node, positions):
        total += padded[view]
    # Without any padding, what a window of rounding_type ceil has beyond the end does not count (as in OpenVINO).
    every = not node.exclude_pad and any(map(any, node.resolve_pads(data.shape[2:])))
    count = math.prod(node.kernel_shape) if every else _counts(node, data.shape[2:], positions, begin)
    return total / count if source.dtype.kind == "f" else total // count


def _padded(node: Node, data: np.ndarray, value) -> tuple[np.ndarray, list[int], tuple[int, ...]]:
    """The data with all elements that a window meets, the number of windows on each axis and the padding in front."""
    begin, end = node.resolve_pads(data.shape[2:])
    positions, pads = [], [(0, 0), (0, 0)]
    for axis, length in enumerate(data.shape[2:]):
        stride = node.strides[axis]
        extent = (node.kernel_shape[axis] - 1) * node.dilations[axis] + 1
        room = length + begin[axis] + end[axis] - extent
        count = (room + (stride - 1 if node.rounding_type == "ceil" else 0)) // stride + 1
        positions.append(count)
        pads.append((begin[axis], max((count - 1) * stride + extent - length - begin[axis], end[axis])))
    return np.pad(data, pads, constant_values=value) if any(map(any, pads)) else data, positions, begin


def _views(node: Node, positions: list[int]) -> list[tuple[slice, ...]]:
    """For each element of the kernel the index of what it meets at all positions."""
    offsets = itertools.product(*map(range, node.kernel_shape))
    return [window_slices(offset, positions, node.strides, node.dilations) for offset in offsets]


def _indices(node: Node, shape: tuple[int, ...], padded: tuple[int, ...], begin: tuple[int, ...]) -> np.ndarray:
    """The index of each element in the data flattened from ``axis`` on, -1 in the padding."""
    axis = node.axis % len(shape)
    counted = np.arange(math.prod(shape[axis:]), dtype=np.int64).reshape(shape[axis:])
    indices = np.full(padded, -1, dtype=np.int64)
    inner = (slice(b, b + length) for b, length in zip(begin, shape[2:]))
    indices[(slice(None), slice(None), *inner)] = counted
    return indices


def _counts(node: Node, lengths: tuple[int, ...], positions: list[int], begin: tuple[int, ...]) -> np.ndarray:
    """How many elements of the data each window meets, at least 1."""
    counts = np.ones((), np.float32)
    for length, count, stride, size, front in zip(lengths, positions, node.strides, node.kernel_shape, begin):
        first = np.arange(count) * stride - front
        met = np.minimum(first + size, length) - np.maximum(first, 0)
        counts = np.multiply.outer(counts, np.maximum(met, 1).astype(np.float32))
    return counts


def lowest(dtype: np.dtype):
    """The lowest finite value of a type, which OpenVINO too takes for padding."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    if dtype.kind == "b":
        return False
    import ml_dtypes  # whose finfo knows bf16 beside numpy's types

    return ml_dtypes.finfo(dtype).min
