"""Resizing of images."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.numerics.resize import resize_bilinear, resize_nearest
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation

translator("RESIZE_NEAREST_NEIGHBOR")(resize_nearest)


@translator("RESIZE_BILINEAR")
def resize_bilinear_rounded(node: TfliteNodeContext) -> Translation:
    """Results of integers are rounded, halves away from zero.

    Interpolation weights are exact, as in LiteRT's fast kernels. Those of its reference kernels have ten bits, which
    is too coarse for large images.
    """
    kind, resized = node.get_input(0).element_type, resize_bilinear(node)
    return resized if kind.is_real() else convert_to(ops.Round(resized, "half_away_from_zero").output(0), kind)
