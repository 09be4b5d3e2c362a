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


def take_places(lowering: Lowering, value: Output, places: Sequence[np.ndarray], output: Output) -> None:
    """Fill the output with the elements at all combinations of places, of which there is a vector for each axis."""
    shape, size = value.shape, value.element_type.size
    if not math.prod(output.shape):
        return
    rank = len(shape)
    while rank and np.array_equal(places[rank - 1], np.arange(shape[rank - 1])):
        rank -= 1
    inner = math.prod(shape[rank:])
    word = widest_word(inner * size)
    words = inner * size // word
    strides = [math.prod(shape[axis + 1 : rank]) * words for axis in range(rank)]
    begins = np.cumsum([0, *map(len, places[:rank])])
    axes = [(len(places[axis]), begins[axis]) for axis in reversed(range(rank))]
    offsets = [places[axis] * stride for axis, stride in enumerate(strides)]
    tables = [np.array(axes, np.int32), np.concatenate([np.zeros(0), *offsets]).astype(np.int32)]
    arguments = [lowering.buffer(value), lowering.buffer(output), *map(lowering.constant, tables)]
    text, count = source("places", WORD=WORDS[word]), math.prod(output.shape) * size // word
    lowering.launch_flat(text, "take_places", [*arguments, np.int32(rank), np.int32(words)], count)
