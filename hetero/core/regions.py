"""Regions of tensors: a slice for each axis."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.system.errors import TensorError


def region_of(shape: Sequence[int], begin: Sequence[int], end: Sequence[int]) -> tuple[slice, ...]:
    """Return the slice ``begin:end`` of each axis. Raises TensorError if it does not lie inside the shape."""
    begin, end = list(begin), list(end)
    fits = len(begin) == len(end) == len(shape)
    if not fits or not all(0 <= first <= last <= length for first, last, length in zip(begin, end, shape)):
        raise TensorError(f"there is no region from {begin} to {end} in a tensor of the shape {list(shape)}")
    return tuple(slice(int(first), int(last)) for first, last in zip(begin, end))


def smaller_region(region: Sequence[slice], shape: Sequence[int]) -> tuple[slice, ...]:
    """Cut a region to ``shape``, keeping its start. Raises TensorError if the region is smaller than the shape."""
    lengths = [part.stop - part.start for part in region]
    if len(shape) != len(lengths) or any(wanted > length for wanted, length in zip(shape, lengths)):
        raise TensorError(f"a region of the shape {lengths} cannot take the shape {list(shape)}")
    return tuple(slice(part.start, part.start + length) for part, length in zip(region, shape))
