"""Fourier transforms and complex numbers."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.complex_numbers import real_and_imaginary
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64


@translator("RFFT2D")
def rfft_2d(node: TfliteNodeContext) -> Translation:
    """Transforms the last two axes, truncated or zero-padded to the lengths in input 1."""
    return ops.RDFT(node.get_input(0), int64([-2, -1]), node.get_input(1))


@translator("REAL")
def real_part(node: TfliteNodeContext) -> Translation:
    return real_and_imaginary(node.get_input(0))[0]


@translator("IMAG")
def imaginary_part(node: TfliteNodeContext) -> Translation:
    return real_and_imaginary(node.get_input(0))[1]


@translator("COMPLEX_ABS")
def magnitude(node: TfliteNodeContext) -> Translation:
    return ops.ReduceL2(node.get_input(0), int64([-1]), False)
