"""Activation functions that several formats define differently from OpenVINO's operations."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.values import reshape, scalar_like
from hetero.graph import Output


def prelu_broadcasting(value: Output, slope: Output) -> Output:
    """Return x where x > 0, else slope · x, with a slope that broadcasts as in numpy.

    PRelu-1 differs: it takes a slope of rank 1 as one slope for each channel.
    """
    if slope.partial_shape.has_rank:
        is_vector = len(slope.partial_shape) == 1
        return ops.PRelu(value, reshape(slope, (1, -1)) if is_vector else slope).output(0)
    zero = scalar_like(value, 0)
    negative = ops.Multiply(ops.Minimum(value, zero), slope)
    return ops.Add(ops.Maximum(value, zero), negative).output(0)
