"""Gather with constant indices for each axis independently, as numpy's ``value[np.ix_(...)]``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero.graph import Output
from hetero_opencl.kernels.movement import WORDS, widest_word
from hetero_opencl.kernels.sources import source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


def gather_per_axis(lowering: Lowering, value: Output, indices: Sequence[np.ndarray], output: Output) -> None:
    """Launch ``output = value[np.ix_(*indices)]``; there is one vector of indices per axis."""
    shape, size = value.shape, value.element_type.size
    if not math.prod(output.shape):
        return
    # Leading and trailing axes that are taken whole need no index table.
    chosen = [axis for axis, length in enumerate(shape) if not np.array_equal(indices[axis], np.arange(length))]
    first, end = (chosen[0], chosen[-1] + 1) if chosen else (0, 0)
    inner = math.prod(shape[end:])
    word = widest_word(inner * size)
    words = inner * size // word
    strides = [math.prod(shape[axis + 1 : end]) * words for axis in range(first, end)]
    tables = indices[first:end]
    axes = [(len(table), begin) for table, begin in zip(tables, np.cumsum([0, *map(len, tables)]))]
    offsets = [table * stride for table, stride in zip(tables, strides)]
    arrays = [np.array(axes[::-1], np.int32), np.concatenate([np.zeros(0), *offsets]).astype(np.int32)]
    buffers, sizes = map(lowering.constant, arrays), (end - first, math.prod(shape[first:end]) * words, words)
    text, count = source("gather_per_axis", WORD=WORDS[word]), math.prod(output.shape) * size // word
    lowering.launch_flat(text, "gather_per_axis", [value, output, *buffers, *sizes], count)
