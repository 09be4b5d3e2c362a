"""2-D max, average and L2 pooling."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext, translator
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.translators.common import apply_activation, auto_pad, clamp_to_activation
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import channels_last, channels_second
from hetero.graph import Output


@translator("MAX_POOL_2D")
def max_pool(node: TfliteNodeContext) -> Translation:
    """Works on quantized integers directly: they have the order of the real values."""
    strides, kernel = _strides_and_kernel(node)
    data = channels_second(node.get_input(0))
    pooled = ops.MaxPool(data, strides, (1, 1), (0, 0), (0, 0), kernel, auto_pad=auto_pad(node))
    return _apply_activation(node, channels_last(pooled.output(0)))


@translator("AVERAGE_POOL_2D")
def average_pool(node: TfliteNodeContext) -> Translation:
    """Means exclude the padding. Means of integers are rounded, halves away from zero."""
    data = node.get_input(0)
    pooled = channels_last(_average(node, convert_to(channels_second(data), Type.f32)))
    if not data.element_type.is_real():
        pooled = convert_to(ops.Round(pooled, "half_away_from_zero").output(0), data.element_type)
    return _apply_activation(node, pooled)


@translator("L2_POOL_2D")
@computes_in_float
def l2_pool(node: TfliteNodeContext) -> Translation:
    """Root mean square."""
    data = channels_second(node.get_input(0))
    return apply_activation(node, channels_last(ops.Sqrt(_average(node, ops.Multiply(data, data).output(0)))))


def _average(node: TfliteNodeContext, value: Output) -> Output:
    strides, kernel = _strides_and_kernel(node)
    return ops.AvgPool(value, strides, (0, 0), (0, 0), kernel, True, "floor", auto_pad(node)).output(0)


def _strides_and_kernel(node: TfliteNodeContext) -> tuple[tuple[int, int], tuple[int, int]]:
    strides, kernel = ("stride_h", "stride_w"), ("filter_height", "filter_width")
    return tuple(map(node.get_attribute, strides)), tuple(map(node.get_attribute, kernel))


def _apply_activation(node: TfliteNodeContext, value: Output) -> Output:
    return clamp_to_activation(node, value) if node.is_quantized else apply_activation(node, value)
