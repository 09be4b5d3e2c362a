"""Elements taken from places that are known for each axis by itself."""

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


def gather_per_axis(lowering: Lowering, value: Output, places: Sequence[np.ndarray], output: Output) -> None:
    """Fill the output with the elements at all combinations of places, of which there is a vector for each axis."""
    shape, size = value.shape, value.element_type.size
    if not math.prod(output.shape):
        return
    # Of the first and the last axes often everything is taken: these need no table.
    chosen = [axis for axis, length in enumerate(shape) if not np.array_equal(places[axis], np.arange(length))]
    first, end = (chosen[0], chosen[-1] + 1) if chosen else (0, 0)
    inner = math.prod(shape[end:])
    word = widest_word(inner * size)
    words = inner * size // word
    strides = [math.prod(shape[axis + 1 : end]) * words for axis in range(first, end)]
    tables = places[first:end]
    axes = [(len(table), begin) for table, begin in zip(tables, np.cumsum([0, *map(len, tables)]))]
    offsets = [table * stride for table, stride in zip(tables, strides)]
    arrays = [np.array(axes[::-1], np.int32), np.concatenate([np.zeros(0), *offsets]).astype(np.int32)]
    numbers = map(np.int32, (end - first, math.prod(shape[first:end]) * words, words))
    arguments = [lowering.buffer(value), lowering.buffer(output), *map(lowering.constant, arrays), *numbers]
    text, count = source("gather_per_axis", WORD=WORDS[word]), math.prod(output.shape) * size // word
    lowering.launch_flat(text, "gather_per_axis", arguments, count)
