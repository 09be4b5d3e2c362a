"""StableHLO DOT_GENERAL and CONVOLUTION."""

from __future__ import annotations

from dataclasses import fields

from hetero.frontend.numerics.xla import ConvolutionSpec, DotDimensions, convolution, dot_general
from hetero.frontend.tflite.node_context import TfliteNodeContext, translator
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import convert_to
from hetero.graph import Output


@translator("STABLEHLO_DOT_GENERAL")
@computes_in_float
def stablehlo_dot_general(node: TfliteNodeContext) -> Translation:
    left, right = _operands(node)
    return dot_general(
        left, right, DotDimensions(**{field.name: node.get_attribute(field.name) for field in fields(DotDimensions)})
    )


def _operands(node: TfliteNodeContext) -> tuple[Output, Output]:
    """Return both operands; integers are converted to the result's type, which may be wider."""
    left, right = node.get_input(0), node.get_input(1)
    kind = node.output_tensor(0).element_type
    if not left.element_type.is_integer() or kind.is_dynamic():
        return left, right
    return convert_to(left, kind), convert_to(right, kind)


@translator("STABLEHLO_CONVOLUTION")
@computes_in_float
def stablehlo_convolution(node: TfliteNodeContext) -> Translation:
    names = [field.name for field in fields(ConvolutionSpec) if node.has_attribute(field.name)]
    spec = ConvolutionSpec(**{name: node.get_attribute(name) for name in names})
    return convolution(*_operands(node), spec)
