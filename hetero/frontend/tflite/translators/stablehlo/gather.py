"""StableHLO's GATHER."""

from __future__ import annotations

import math

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.index_vectors import (
    flat_indices,
    index_columns,
    transposed,
    window_indices,
)
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, reshape
from hetero.graph import Output


@translator("STABLEHLO_GATHER")
@preserves_quantization
def stablehlo_gather(node: TfliteNodeContext) -> Translation:
    """Slices of ``slice_sizes`` that begin where index vectors say, moved to where they are within the operand.

    A Gather of rows: the axes that are indexed, but for those taken whole, are made one where there are several.
    """
    value, indices = node.get_input(0), node.get_input(1)
    sizes, named = node.get_attribute("slice_sizes"), list(node.get_attribute("start_index_map"))
    collapsed = node.get_attribute("collapsed_slice_dims")
    shape = value.partial_shape
    _check(node, value)
    starts = index_columns(indices, node.get_attribute("index_vector_dim"), len(named))
    batch = rank_of(starts[0])
    # What is taken whole begins at 0, so that no index counts; one axis is kept, as the vectors tell how many slices.
    indexed = [axis for axis in named if shape[axis] != sizes[axis]] or named[:1]
    lengths = [_length(value, axis) for axis in indexed]
    starts = [
        ops.Minimum(ops.Maximum(starts[named.index(axis)], int64(0)), int64(length - sizes[axis])).output(0)
        for axis, length in zip(indexed, lengths)
    ]
    windows = [sizes[axis] for axis in indexed]
    rows = flat_indices(window_indices(starts, windows, batch), lengths)
    made, axes = _rows_of(_parts(value, sizes, indexed), indexed, lengths, rows)
    # The dimensions of the result by the axes of the operand, those of the batch by numbers below 0.
    found = [-1 - place for place in reversed(range(batch))]
    found = [*axes[0], *found, *(axis for axis in indexed if sizes[axis] != 1), *axes[1]]
    return _arranged(made, found, node, batch, [axis for axis in range(len(sizes)) if axis not in collapsed])


def _check(node: TfliteNodeContext, value: Output) -> None:
    sizes, named, rank = node.get_attribute("slice_sizes"), node.get_attribute("start_index_map"), rank_of(value)
    if len(set(named)) != len(named) or any(not 0 <= axis < rank for axis in named):
        raise FrontendError(f"start_index_map {list(named)} does not name axes of {value.partial_shape}")
    # A length that is not known may be anything.
    longest = [length.max_length for length in value.partial_shape]
    if len(sizes) != rank or any(size < 0 or size > most >= 0 for size, most in zip(sizes, longest)):
        raise FrontendError(f"slice_sizes {list(sizes)} are not of slices of {value.partial_shape}")


def _length(value: Output, axis: int) -> int:
    length = value.partial_shape[axis]
    if length.is_dynamic:
        raise FrontendError(f"the length of axis {axis}, which is indexed, must be known")
    return length.get_length()


def _parts(value: Output, sizes: tuple[int, ...], indexed: list[int]) -> Output:
    """The value without what no slice takes, of axes that are not indexed."""
    cut = [axis for axis, length in enumerate(value.partial_shape) if axis not in indexed and length != sizes[axis]]
    if not cut:
        return value
    zeros, ones = int64([0] * len(cut)), int64([1] * len(cut))
    return ops.Slice(value, zeros, int64([sizes[axis] for axis in cut]), ones, int64(cut)).output(0)


def _rows_of(
    value: Output, indexed: list[int], lengths: list[int], rows: Output
) -> tuple[Output, tuple[list[int], list[int]]]:  # fmt: skip
    """The rows by their numbers, and the axes of the value that are in front of and behind their dimensions."""
    rest = [axis for axis in range(rank_of(value)) if axis not in indexed]
    if len(indexed) == 1:
        (place,) = indexed
        return ops.Gather(value, rows, int64(place)).output(0), (rest[:place], rest[place:])
    value = transposed(value, [*indexed, *rest])
    if not value.partial_shape.is_static:
        raise FrontendError(f"the shape {value.partial_shape}, of which several axes are indexed, must be known")
    value = reshape(value, [math.prod(lengths), *value.shape[len(indexed) :]])
    return ops.Gather(value, rows, int64(0)).output(0), ([], rest)


def _arranged(made: Output, found: list[int], node: TfliteNodeContext, batch: int, kept: list[int]) -> Output:
    """The dimensions in the order that ``offset_dims`` says, for the slices' axes that are kept, the batch between."""
    places = node.get_attribute("offset_dims")
    if len(places) != len(kept) or any(not 0 <= place < batch + len(kept) for place in places):
        raise FrontendError(f"offset_dims {list(places)} are not places of {len(kept)} dimensions of slices")
    numbers = iter(range(-batch, 0))
    wanted = [kept[places.index(place)] if place in places else next(numbers) for place in range(batch + len(kept))]
    gone = [place for place, axis in enumerate(found) if axis not in wanted]
    if gone:
        made = ops.Squeeze(made, int64(gone)).output(0)
        found = [axis for axis in found if axis in wanted]
    made = transposed(made, [found.index(axis) for axis in wanted if axis in found])
    missing = [place for place, axis in enumerate(wanted) if axis not in found]
    return ops.Unsqueeze(made, int64(missing)).output(0) if missing else made
