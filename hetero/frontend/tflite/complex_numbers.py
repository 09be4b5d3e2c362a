"""Complex numbers: values whose last axis, which the format does not count, has the real and the imaginary part."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.values import int64
from hetero.graph import Node, Output


def real_and_imaginary(value: Output) -> tuple[Output, Output]:
    """The real and the imaginary part."""
    real, imaginary = (ops.Gather(value, int64(place), int64(-1)).output(0) for place in (0, 1))
    return real, imaginary


def complex_from_parts(real: Node | Output, imaginary: Node | Output) -> Output:
    return ops.Concat([ops.Unsqueeze(part, int64([-1])) for part in (real, imaginary)], -1).output(0)


def multiply_complex(left: Output, right: Output) -> Output:
    (a, b), (c, d) = real_and_imaginary(left), real_and_imaginary(right)
    real = ops.Subtract(ops.Multiply(a, c), ops.Multiply(b, d))
    return complex_from_parts(real, ops.Add(ops.Multiply(a, d), ops.Multiply(b, c)))
