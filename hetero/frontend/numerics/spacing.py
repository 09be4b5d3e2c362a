"""Numbers at equal distances."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.translation.values import arange, int64, scalar_like
from hetero.graph import Op, Output


def linspace(start: Output, stop: Output, count: Output) -> Op:
    """Return ``count`` numbers, an i64 scalar, at equal distances from start to stop inclusive."""
    intervals = ops.Convert(ops.Maximum(ops.Subtract(count, int64(1)), int64(1)), start.element_type)
    step = ops.Divide(ops.Subtract(stop, start), intervals)
    return ops.Add(start, ops.Multiply(ops.Convert(arange(count), start.element_type), step))


def grid_coordinates(length: Output, like: Output, align: bool) -> Op:
    """Return ``length`` coordinates from -1 to 1: of pixel corners if ``align``, else of pixel centers.

    ``like``: a value of the element type of the result.
    """
    points = ops.Convert(arange(length), like.element_type)
    steps = ops.Maximum(ops.Subtract(length, int64(1)), int64(1)) if align else length
    step = ops.Divide(scalar_like(like, 2), ops.Convert(steps, like.element_type))
    first: Op = scalar_like(like, -1)
    if not align:
        first = ops.Add(first, ops.Divide(step, scalar_like(like, 2)))
    return ops.Add(ops.Multiply(points, step), first)
