"""Launches that convert values from one layout to another."""

from __future__ import annotations

import math

from hetero.core.lengths.length import choosing
from hetero.graph import Output, is_constant
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import WORDS, strided_copy
from hetero_opencl.kernels.common.definition import source, template
from hetero_opencl.kernels.common.view import View, view_of
from hetero_opencl.lowering.implementation import ROWS, Blocks, Layout, Permuted
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.profiles.profile import DeviceProfile

# Positions of a work-item, as in the .cl file.
_POSITIONS = 16


def convert(lowering: Lowering, value: Output, buffer: Buffer, layout: Layout, target: Layout) -> Buffer:
    """Launch the conversion of a value, which has this layout in a buffer, and return a buffer of the target layout."""
    shape, size = value.shape, value.element_type.size
    result = lowering.scratch(math.prod(target.storage_shape(shape)), size)
    if isinstance(target, Permuted):
        taken = view_of(value).transpose(*target.order)
        strided_copy(lowering, lowering.buffer(value, ROWS), taken, result, View.dense(taken.shape, size))
        return result
    blocks = target if isinstance(target, Blocks) else layout
    assert isinstance(blocks, Blocks), (layout, target)
    batch, channels, *spatial = shape
    length = math.prod(spatial)
    parts = -(-length // _POSITIONS)
    in_squares = blocks.size == 16 and size == 4
    text = source("layout_conversion", WORD=WORDS[size], BLOCK=blocks.size, SQUARES=int(in_squares))
    if in_squares:
        text = f"#define SQUARE uint16\n{template('transposition')}{text}"
    kernel = "rows_to_blocks" if blocks is target else "blocks_to_rows"
    count = -(-channels // blocks.size) * batch * parts
    lowering.launch_rows(text, kernel, [buffer, result, batch, channels, length, parts], count)
    return result


def conversion_seconds(value: Output, layout: Layout, target: Layout, profile: DeviceProfile) -> float:
    """Return the estimated time of a conversion; constants are converted before inference."""
    if layout == target or is_constant(value):
        return 0.0
    with choosing(*value.shape):
        if layout.is_row_major(value.shape) and target.is_row_major(value.shape):
            return 0.0
        # Elements are read or written one by one, which takes about twice the time of a copy.
        byte_size = 2 * math.prod(value.shape) * value.element_type.size
        return 2 * byte_size / profile.bytes_per_second + profile.launch_seconds
