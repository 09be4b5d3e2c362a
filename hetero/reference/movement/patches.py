"""Col2Im and ExtractImagePatches, with one strided view for each element of the patch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.ops.windows import resolve_pads
from hetero.reference.convolution.convolution import window_slices
from hetero.reference.registry import Array, evaluates


@evaluates(ops.Col2Im, in_f32=True)
def col2im(node: ops.Col2Im, data: Array, output_size: Array, kernel_size: Array) -> Array:
    size, kernel = output_size.reshape(-1).tolist(), kernel_size.reshape(-1).tolist()
    # Attributes may be missing if the number of spatial dimensions was not known at shape inference.
    strides, dilations = (values or (1,) * len(size) for values in (node.strides, node.dilations))
    begin, end = (values or (0,) * len(size) for values in (node.pads_begin, node.pads_end))
    padded = [sum(lengths) for lengths in zip(size, begin, end)]
    positions = _positions(padded, kernel, dilations, strides)
    batch = data.shape[0] if data.ndim == 3 else 1
    patches = data.reshape(batch, data.shape[-2] // math.prod(kernel), *kernel, *positions)
    image = np.zeros((*patches.shape[:2], *padded), data.dtype)
    for offset in itertools.product(*map(range, kernel)):
        element: tuple[Any, ...] = (slice(None), slice(None), *offset)
        image[window_slices(offset, positions, strides, dilations)] += patches[element]
    cropped = (slice(first, first + length) for first, length in zip(begin, size))
    return image[(slice(None) if data.ndim == 3 else 0, slice(None), *cropped)]


@evaluates(ops.ExtractImagePatches)
def extract_image_patches(node: ops.ExtractImagePatches, image: Array) -> Array:
    begin, end = resolve_pads(node, image.shape[2:], node.sizes, node.rates)
    padded = np.pad(image, [(0, 0), (0, 0), *zip(begin, end)]) if any((*begin, *end)) else image
    positions = _positions(padded.shape[2:], node.sizes, node.rates, node.strides)
    patches = np.empty((image.shape[0], *node.sizes, image.shape[1], *positions), image.dtype)
    if patches.size:
        for row, column in itertools.product(*map(range, node.sizes)):
            patches[:, row, column] = padded[window_slices((row, column), positions, node.strides, node.rates)]
    return patches.reshape(image.shape[0], math.prod(patches.shape[1:4]), *positions)


def _positions(
    lengths: Sequence[int], kernel: Sequence[int], dilations: Sequence[int], strides: Sequence[int]
) -> list[int]:
    """Return the number of kernel positions on each axis."""
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    return [max((length - covered) // step + 1, 0) for length, covered, step in zip(lengths, extents, strides)]
