"""Complex numbers and Fourier transforms.

A complex tensor is a real one with an additional last axis: real part, imaginary part. The shapes and axes in the file
do not count that axis.
"""

from __future__ import annotations

from hetero import ops
from hetero.frontend.numerics.complex_numbers import real_and_imaginary
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64


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
