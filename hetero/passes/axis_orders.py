"""Orders of axes, as Transpose takes them: place k of the result is axis ``order[k]`` of the data."""

from __future__ import annotations

import functools

Order = tuple[int, ...]


@functools.cache
def unchanged(rank: int) -> Order:
    return tuple(range(rank))


@functools.cache
def channels_first(rank: int) -> Order:
    """The order that brings NHWC to NCHW."""
    return (0, rank - 1, *range(1, rank - 1))


@functools.cache
def channels_last(rank: int) -> Order:
    """The order that brings NCHW to NHWC."""
    return (0, *range(2, rank), 1)


@functools.lru_cache(4096)
def inverse(order: Order) -> Order:
    """The order that undoes another."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


@functools.lru_cache(4096)
def then(first: Order, second: Order) -> Order:
    """One order for two Transposes, one after the other."""
    return tuple(first[axis] for axis in second)


@functools.lru_cache(4096)
def of_some_axes(order: Order, axes: Order) -> Order:
    """The order of a tensor that has only these of the axes."""
    return tuple(axes.index(axis) for axis in order if axis in axes)


@functools.lru_cache(4096)
def with_more_axes(order: Order, axes: Order, rank: int) -> Order:
    """An order of ``rank`` axes that leaves those of ``axes`` in the given one.

    Channels stay first or last where they are; any other axis stays behind the one before it.
    """
    if len(axes) == rank:
        return order
    for usual in (unchanged(rank), *((channels_first(rank), channels_last(rank)) if rank > 2 else ())):
        if of_some_axes(usual, axes) == order:
            return usual
    found = [axes[place] for place in order]
    for axis in range(rank):
        if axis not in axes:
            found.insert(found.index(axis - 1) + 1 if axis else 0, axis)
    return tuple(found)
