"""Angles of points in the plane, shared by the formats."""

from __future__ import annotations

import math

from hetero import ops
from hetero.frontend.translation.values import scalar_like
from hetero.graph import Node, Output


def angle_of(y: Output, x: Output) -> Node:
    """Return atan2(y, x): the atan of the smaller of |y|, |x| over the larger, then moved to the right octant."""
    abs_y, abs_x = ops.Abs(y), ops.Abs(x)
    larger = ops.Maximum(abs_y, abs_x)
    zero, one, right_angle = (scalar_like(y, number) for number in (0, 1, math.pi / 2))
    # Avoids infinity / infinity and 0 / 0.
    ratio = ops.Select(ops.Equal(abs_y, abs_x), one, ops.Divide(ops.Minimum(abs_y, abs_x), larger))
    octant = ops.Atan(ops.Select(ops.Equal(larger, zero), zero, ratio))
    acute = ops.Select(ops.Greater(abs_y, abs_x), ops.Subtract(right_angle, octant), octant)
    upper = ops.Select(_sign_bit(x), ops.Subtract(scalar_like(y, math.pi), acute), acute)
    return ops.Select(_sign_bit(y), ops.Negative(upper), upper)


def _sign_bit(value: Output) -> Node:
    """Return whether each element is negative; true for -0.0."""
    zero = scalar_like(value, 0)
    return ops.LogicalOr(ops.Less(value, zero), ops.Less(ops.Divide(scalar_like(value, 1), value), zero))
