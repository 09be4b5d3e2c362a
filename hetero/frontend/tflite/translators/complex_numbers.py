"""Complex numbers and Fourier transforms.

A complex tensor is a real one with an additional last axis: real part, imaginary part. The shapes and axes in the file
do not count that axis.
"""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64
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


@translator("REAL", "IMAG")
def real_or_imaginary_part(node: TfliteNodeContext) -> Translation:
    return real_and_imaginary(node.get_input(0))[node.get_op_type() == "IMAG"]


@translator("COMPLEX_ABS")
def magnitude(node: TfliteNodeContext) -> Translation:
    return ops.ReduceL2(node.get_input(0), int64([-1]), False)


@translator("RFFT2D")
def rfft_2d(node: TfliteNodeContext) -> Translation:
    """Transforms the last two axes, truncated or zero-padded to the lengths in input 1."""
    return ops.RDFT(node.get_input(0), int64([-2, -1]), node.get_input(1))
