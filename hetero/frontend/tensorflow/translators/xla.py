"""Operators of XLA: products and convolutions whose axes are in attributes that are messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.numerics.xla import ConvolutionSpec, DotDimensions, convolution, dot_general
from hetero.frontend.protobuf import Message, Schema, decode
from hetero.frontend.tensorflow.messages import CONVOLUTION_DIMENSIONS, DOT_DIMENSIONS
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import constant_input
from hetero.graph import Output
from hetero.system.errors import FrontendError

_AXES = (
    "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension",
    "kernel_output_feature_dimension", "kernel_spatial_dimensions", "output_batch_dimension",
    "output_feature_dimension", "output_spatial_dimensions",
)  # fmt: skip
# The inputs of XlaConvV2 after the data and the filters.
_WINDOW = ("window_strides", "padding", "lhs_dilation", "rhs_dilation", "feature_group_count")


def _dimension_numbers(node: TensorflowNodeContext, schema: Schema) -> Message:
    """Return the message in the attribute, bytes that are a str if they are UTF-8."""
    value = node.get_attribute("dimension_numbers")
    return decode(memoryview(value.encode() if isinstance(value, str) else value), schema)


def _operands(node: TensorflowNodeContext) -> tuple[Output, Output]:
    """Return both operands as the type of the result."""
    kind = node.get_attribute("preferred_element_type", node.get_input(0).element_type)
    return convert_to(node.get_input(0), kind), convert_to(node.get_input(1), kind)


@translator("XlaDot", "XlaDotV2")
def xla_dot(node: TensorflowNodeContext) -> Translation:
    numbers = _dimension_numbers(node, DOT_DIMENSIONS)
    dimensions = DotDimensions(
        numbers.lhs_batch_dimensions,
        numbers.rhs_batch_dimensions,
        numbers.lhs_contracting_dimensions,
        numbers.rhs_contracting_dimensions,
    )
    return dot_general(*_operands(node), dimensions)


@translator("XlaConv", "XlaConvV2")
def xla_convolution(node: TensorflowNodeContext) -> Translation:
    numbers = _dimension_numbers(node, CONVOLUTION_DIMENSIONS)
    window = [np.ravel(constant_input(node, 2 + index, name)).tolist() for index, name in enumerate(_WINDOW)]
    fields: dict[str, Any] = {name: getattr(numbers, name) for name in _AXES}
    fields.update(zip(_WINDOW, window))
    if len(fields["feature_group_count"]) != 1:
        raise FrontendError(f"feature_group_count {fields['feature_group_count']} must be one number")
    (fields["feature_group_count"],) = fields["feature_group_count"]
    fields["batch_group_count"] = node.get_attribute("batch_group_count", 1, int)
    return convolution(*_operands(node), ConvolutionSpec(**fields))
