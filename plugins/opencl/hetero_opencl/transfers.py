"""Copies of strided regions between device buffers and host arrays, in as few OpenCL commands as possible."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

import numpy as np
import pyopencl as cl

from hetero.plugin import Region
from hetero.tensor import Tensor

# An axis of two regions of the same shape: its size, and its strides in bytes in the target and in the source.
Axis = tuple[int, int, int]


def on_host(tensor: Tensor) -> np.ndarray:
    """Return a host copy of a tensor, which may be on a device."""
    array = np.empty(tensor.shape, tensor.element_type.to_dtype())
    tensor.copy_to(array)
    return array


@contextlib.contextmanager
def contiguous(array: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a contiguous array to write to; if ``array`` is not contiguous, copy the contents there at the end."""
    if array.flags.c_contiguous:
        yield array
    else:
        staging = np.empty(array.shape, array.dtype)
        yield staging
        np.copyto(array, staging)


def copy_region(
    queue: cl.CommandQueue,
    target: cl.Buffer | np.ndarray,
    target_region: Region,
    source: cl.Buffer | np.ndarray,
    source_region: Region,
) -> None:
    """Start copying a region to another of the same shape and element type. They must not overlap.

    One of the two may be a contiguous host array as a whole; it must stay alive until the queue has finished.
    """
    row, axes = _merge(target_region, source_region)
    if row == 0 or any(count == 0 for count, _, _ in axes):
        return
    # A command copies a 3-D box. Axes before the last two need one command per index.
    *outer, (planes, *plane_pitches), (rows, *row_pitches) = [(1, 0, 0)] * (2 - len(axes)) + axes
    for target_offset, source_offset in _offsets(outer):
        origins = [(target_region.offset + target_offset, 0, 0), (source_region.offset + source_offset, 0, 0)]
        pitches = [_pitches(row, rows, *pair) for pair in zip(row_pitches, plane_pitches)]
        _copy_box(queue, target, source, (row, rows, planes), origins, pitches)


def root_buffer(buffer: cl.Buffer) -> tuple[cl.Buffer, int]:
    """Return the parent of a sub-buffer and the offset in it in bytes, or the buffer itself and 0."""
    try:
        parent = buffer.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT)
    except cl.LogicError:  # Intel's runtime returns an internal object for a buffer in shared virtual memory
        parent = None
    return (parent, buffer.get_info(cl.mem_info.OFFSET)) if parent else (buffer, 0)


def _merge(target: Region, source: Region) -> tuple[int, list[Axis]]:
    """Return the size of the runs of bytes that are contiguous in both regions, and the axes over them, outer first."""
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
    """Yield the byte offsets of every index of the axes in the target and in the source."""
    for index in itertools.product(*(range(count) for count, _, _ in axes)):
        yield tuple(sum(i * axis[side] for i, axis in zip(index, axes)) for side in (1, 2))


def _pitches(row: int, rows: int, row_pitch: int, plane_pitch: int) -> tuple[int, int]:
    """Replace the pitches that are 0, those of axes of size 1, by dense ones."""
    row_pitch = row_pitch or row
    return row_pitch, plane_pitch or rows * row_pitch


def _copy_box(queue, target, source, box, origins, pitches) -> None:
    if isinstance(target, cl.Buffer) and isinstance(source, cl.Buffer):
        # PoCL 3.0 crashes if a box is copied from or to a sub-buffer.
        (target, target_offset), (source, source_offset) = root_buffer(target), root_buffer(source)
        cl.enqueue_copy(
            queue, target, source, region=box,
            dst_origin=(target_offset + origins[0][0], 0, 0), src_origin=(source_offset + origins[1][0], 0, 0),
            dst_pitches=pitches[0], src_pitches=pitches[1],
        )  # fmt: skip
        return
    host = 0 if isinstance(target, np.ndarray) else 1
    cl.enqueue_copy(
        queue, target, source, region=box, is_blocking=False,
        host_origin=origins[host], buffer_origin=origins[1 - host],
        host_pitches=pitches[host], buffer_pitches=pitches[1 - host],
    )  # fmt: skip
