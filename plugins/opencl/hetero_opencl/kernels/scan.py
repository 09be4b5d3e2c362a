"""Buffers of i32 that other families count with: filled, and summed up to each element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero.graph import Output
from hetero_opencl.kernels.sources import source
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


def filled(lowering: Lowering, count: int, value: int) -> Buffer:
    """A scratch buffer of i32 that all hold the value."""
    buffer = lowering.scratch(count)
    lowering.launch_flat(source("scan"), "fill", [buffer, np.int32(value)], count)
    return buffer


def exclusive_scan(lowering: Lowering, values: Buffer, count: int) -> tuple[Buffer, Buffer]:
    """For each of the values, i32, the sum of those before it; and the sum of all."""
    part = max(16, math.isqrt(count))
    parts = -(-count // part)
    sums, target, total = lowering.scratch(parts), lowering.scratch(count), lowering.scratch(1)
    text, length = source("scan"), np.int32(count)
    lowering.launch_flat(text, "part_sums", [values, sums, length, np.int32(part)], parts)
    lowering.launch_flat(text, "sum_parts", [sums, total, np.int32(parts)], 1)
    lowering.launch_flat(text, "sums_before", [values, sums, target, length, np.int32(part)], parts)
    return target, total


def make_dynamic_output(lowering: Lowering, value: Output, shape: Sequence[int], most: int, total: Buffer) -> Buffer:
    """A buffer for ``most`` elements of a value whose shape the device finds out: a scan's total where it is -1."""
    buffer, dimensions = lowering.found_shape(value, most)
    arguments = [lowering.constant(np.array(shape, np.int64)), total, dimensions]
    lowering.launch_flat(source("scan"), "write_shape", arguments, len(shape))
    return buffer
