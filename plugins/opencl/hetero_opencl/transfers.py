"""Copies of regions, between buffers of the device and arrays of the host, in as few commands as OpenCL allows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pyopencl as cl

from hetero.plugin import Region
from hetero.tensor import Tensor

# An axis of two regions of one shape: how many, and the bytes from one to the next in the target and in the source.
Axis = tuple[int, int, int]


def on_host(tensor: Tensor) -> np.ndarray:
    """The elements of a tensor, wherever it is, in an array of their own."""
    array = np.empty(tensor.shape, tensor.element_type.to_dtype())
    tensor.copy_to(array)
    return array


def copy_region(
    queue: cl.CommandQueue,
    target: cl.Buffer | np.ndarray,
    target_region: Region,
    source: cl.Buffer | np.ndarray,
    source_region: Region,
) -> None:
    """Begin to copy a region to another of the same shape and element type, which must not overlap.

    One of the two may be an array of the host, whole and contiguous, that is needed until the queue is done.
    """
    row, axes = _merge(target_region, source_region)
    if row == 0 or any(count == 0 for count, _, _ in axes):
        return
    # A command copies a box of rows: the axes before the last two take one command for each of their indices.
    *outer, (planes, *plane_pitches), (rows, *row_pitches) = [(1, 0, 0)] * (2 - len(axes)) + axes
    for shift in _offsets(outer):
        origins = [(target_region.offset + shift[0], 0, 0), (source_region.offset + shift[1], 0, 0)]
        pitches = [_pitches(row, rows, *pair) for pair in zip(row_pitches, plane_pitches)]
        _copy_box(queue, target, source, (row, rows, planes), origins, pitches)


def whole_of(buffer: cl.Buffer) -> tuple[cl.Buffer, int]:
    """The buffer that a buffer is a part of, or itself, and where in it the part begins, in bytes."""
    try:
        parent = buffer.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT)
    except cl.LogicError:  # Intel's runtime tells an object of its own for a buffer in shared virtual memory
        parent = None
    return (parent, buffer.get_info(cl.mem_info.OFFSET)) if parent else (buffer, 0)


def _merge(target: Region, source: Region) -> tuple[int, list[Axis]]:
    """Bytes that lie together in both regions, and the axes along which they repeat, the outermost first."""
    row, axes = target.dtype.itemsize, []
    for count, *strides in reversed(list(zip(target.shape, target.strides, source.strides))):
        if count == 1:
            continue
        if not axes and strides == [row, row]:
            row *= count
        elif axes and all(stride == axes[0][0] * inner for stride, inner in zip(strides, axes[0][1:])):
            axes[0] = (axes[0][0] * count, *axes[0][1:])
        else:
            axes.insert(0, (count, *strides))
    return row, axes


def _offsets(axes: list[Axis]) -> Iterator[tuple[int, int]]:
    for index in itertools.product(*(range(count) for count, _, _ in axes)):
        yield tuple(sum(i * axis[side] for i, axis in zip(index, axes)) for side in (1, 2))


def _pitches(row: int, rows: int, row_pitch: int, plane_pitch: int) -> tuple[int, int]:
    row_pitch = row_pitch or row
    return row_pitch, plane_pitch or rows * row_pitch


def _copy_box(queue, target, source, box, origins, pitches) -> None:
    if isinstance(target, cl.Buffer) and isinstance(source, cl.Buffer):
        # PoCL 3.0 crashes where a box is copied from or to a part of a buffer.
        (target, into), (source, out_of) = whole_of(target), whole_of(source)
        cl.enqueue_copy(
            queue, target, source, region=box,
            dst_origin=(into + origins[0][0], 0, 0), src_origin=(out_of + origins[1][0], 0, 0),
            dst_pitches=pitches[0], src_pitches=pitches[1],
        )  # fmt: skip
        return
    host = 0 if isinstance(target, np.ndarray) else 1
    cl.enqueue_copy(
        queue, target, source, region=box, is_blocking=False,
        host_origin=origins[host], buffer_origin=origins[1 - host],
        host_pitches=pitches[host], buffer_pitches=pitches[1 - host],
    )  # fmt: skip
