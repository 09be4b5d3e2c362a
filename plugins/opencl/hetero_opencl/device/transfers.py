"""Copies of strided regions between device buffers and host arrays, in as few OpenCL commands as possible, the end of a
queue's commands, and copies of arrays to contiguous memory.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyopencl as cl

from hetero.core.tensor import Tensor
from hetero.plugin import Region

# An axis of two regions of the same shape: its size, and its strides in bytes in the target and in the source.
Axis = tuple[int, int, int]
Memory = cl.Buffer | np.ndarray
# Bytes of a row that are copied at a time: a cache line of most processors.
_LINE = 64


def finish(queue: cl.CommandQueue) -> None:
    """Wait until the commands of an in-order queue have ended. clFinish of Mesa's rusticl 22.3 returns before that."""
    cl.wait_for_events([cl.enqueue_marker(queue)])


def on_host(tensor: Tensor) -> np.ndarray:
    """Return a host copy of a tensor, which may be on a device."""
    array = np.empty(tensor.shape, tensor.element_type.to_dtype())
    tensor.copy_to(array)
    return array


def contiguous(array: np.ndarray) -> np.ndarray:
    """Return a C-contiguous array. For large transposed matrices ten times as fast as np.ascontiguousarray."""
    if array.flags.c_contiguous or array.ndim < 2 or array.strides[-2] != array.itemsize:
        return np.ascontiguousarray(array)
    copy, columns = np.empty(array.shape, array.dtype), _LINE // array.itemsize
    for begin in range(0, array.shape[-1], columns):
        copy[..., begin : begin + columns] = array[..., begin : begin + columns]
    return copy


@contextlib.contextmanager
def contiguous_target(array: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a contiguous array to write to; if ``array`` is not contiguous, copy the contents there at the end."""
    if array.flags.c_contiguous:
        yield array
    else:
        staging = np.empty(array.shape, array.dtype)
        yield staging
        np.copyto(array, staging)


def copy_region(
    queue: cl.CommandQueue, target: Memory, target_region: Region, source: Memory, source_region: Region
) -> None:
    """Start copying a region to another of the same shape and element type. They must not overlap.

    One of the two may be a contiguous host array as a whole; it must stay alive until ``finish`` returns.
    """
    row, axes = _merge(target_region, source_region)
    if row == 0 or any(count == 0 for count, _, _ in axes):
        return
    # A command copies a 3-D box. Axes before the last two need one command per index, and the last but one if that is
    # no axis of planes one after another.
    *outer, of_planes, of_rows = [(1, 0, 0)] * (2 - len(axes)) + axes
    if not _is_box(of_planes, of_rows, row):
        outer, of_planes = [*outer, of_planes], (1, 0, 0)
    (planes, *plane_pitches), (rows, *row_pitches) = of_planes, of_rows
    options: dict[str, Any] = {"dest": target, "src": source, "region": (row, rows, planes)}
    begins = [target_region.offset, source_region.offset]
    if isinstance(target, cl.Buffer) and isinstance(source, cl.Buffer):
        # PoCL 3.0 crashes if a box is copied from or to a sub-buffer.
        (options["dest"], target_root), (options["src"], source_root) = root_buffer(target), root_buffer(source)
        begins = [begins[0] + target_root, begins[1] + source_root]
        sides = ("dst", "src")
    else:
        options["is_blocking"] = False
        sides = ("host", "buffer") if isinstance(target, np.ndarray) else ("buffer", "host")
    for side, row_pitch, plane_pitch in zip(sides, row_pitches, plane_pitches):
        # The pitch of an axis of size 1 is 0, but OpenCL requires that of a dense box.
        options[f"{side}_pitches"] = (row_pitch or row, plane_pitch or rows * (row_pitch or row))
    for index in itertools.product(*(range(count) for count, _, _ in outer)):
        offsets = begins
        for i, (_, *strides) in zip(index, outer):
            offsets = [offset + i * stride for offset, stride in zip(offsets, strides)]
        for side, offset in zip(sides, offsets):
            options[f"{side}_origin"] = (offset, 0, 0)
        cl.enqueue_copy(queue, **options)


def root_buffer(buffer: cl.Buffer) -> tuple[cl.Buffer, int]:
    """Return the parent of a sub-buffer and the offset in it in bytes, or the buffer itself and 0."""
    try:
        parent = buffer.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT)
    except cl.LogicError:  # Intel's runtime returns an internal object for a buffer in shared virtual memory
        parent = None
    return (parent, buffer.offset) if isinstance(parent, cl.Buffer) else (buffer, 0)


def _is_box(planes: Axis, rows: Axis, row: int) -> bool:
    """Return whether OpenCL takes the strides of two axes as pitches of a box, whose rows have ``row`` bytes."""
    count = rows[0]
    pitches = [(plane, pitch or row) for plane, pitch in zip(planes[1:], rows[1:])]
    return all(plane == 0 or (plane >= count * pitch and plane % pitch == 0) for plane, pitch in pitches)


def _merge(target: Region, source: Region) -> tuple[int, list[Axis]]:
    """Return the size of the runs of bytes that are contiguous in both regions, and the axes over them, outer first."""
    row = target.dtype.itemsize
    axes: list[Axis] = []
    for count, *strides in reversed(list(zip(target.shape, target.strides, source.strides))):
        if count == 1:
            continue
        if not axes and strides == [row, row]:
            row *= count
        elif axes and all(stride == axes[0][0] * inner for stride, inner in zip(strides, axes[0][1:])):
            axes[0] = (axes[0][0] * count, *axes[0][1:])
        else:
            axes.insert(0, (count, strides[0], strides[1]))
    return row, axes
