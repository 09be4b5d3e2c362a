"""Complex numbers: real tensors with an additional last axis of the real and the imaginary part."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.translation.values import int64
from hetero.graph import Node, Output


def real_and_imaginary(value: Output) -> tuple[Output, Output]:
    """Split a complex value into its real and its imaginary part."""
    real, imaginary = (ops.Gather(value, int64(index), int64(-1)).output(0) for index in (0, 1))
    return real, imaginary


def complex_from_parts(real: Node | Output, imaginary: Node | Output) -> Output:
    """Join a real and an imaginary part into a complex value."""
    return ops.Concat([ops.Unsqueeze(part, int64([-1])) for part in (real, imaginary)], -1).output(0)


def multiply_complex(left: Output, right: Output) -> Output:
    """Multiply two complex values element by element."""
    (a, b), (c, d) = real_and_imaginary(left), real_and_imaginary(right)
    real = ops.Subtract(ops.Multiply(a, c), ops.Multiply(b, d))
    return complex_from_parts(real, ops.Add(ops.Multiply(a, d), ops.Multiply(b, c)))


def conjugate(value: Output) -> Output:
    """Negate the imaginary part."""
    return ops.Multiply(value, np.array([1, -1], value.element_type.to_dtype())).output(0)


def divide_complex(left: Output, right: Output) -> Output:
    """Divide two complex values element by element: x / y = x · conjugate(y) / |y|²."""
    square = ops.ReduceSum(ops.Multiply(right, right), int64([-1]), True)
    return ops.Divide(multiply_complex(left, conjugate(right)), square).output(0)


def exp_complex(value: Output) -> Output:
    """Return e^(a + bi) = e^a (cos b + i sin b)."""
    real, imaginary = real_and_imaginary(value)
    size = ops.Exp(real)
    return complex_from_parts(ops.Multiply(size, ops.Cos(imaginary)), ops.Multiply(size, ops.Sin(imaginary)))
