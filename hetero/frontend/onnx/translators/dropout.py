"""Dropout, which sets random elements to zero in training mode and else returns its input."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.random import uniform_like
from hetero.frontend.translation import Translation
from hetero.frontend.values import scalar_like
from hetero.graph import Constant
from hetero.ops.values import exact_value


@translator("Dropout")
def dropout_1(node: OnnxNodeContext) -> Translation:
    # Training mode is supported only as an input, from operator set 12 on. The mask has the data's element type.
    value = node.get_input(0)
    return [value, ops.Broadcast(scalar_like(value, 1), ops.ShapeOf(value)).output(0)] if node.has_output(1) else value


@translator("Dropout", since=10)
def dropout_10(node: OnnxNodeContext) -> Translation:
    # The mask is boolean.
    value = node.get_input(0)
    return [value, ops.Broadcast(True, ops.ShapeOf(value)).output(0)] if node.has_output(1) else value


@translator("Dropout", since=12)
def dropout(node: OnnxNodeContext) -> Translation:
    training = node.get_optional_input(2)
    if training is None or (exact_value(training) is not None and not exact_value(training).any()):
        return dropout_10(node)
    value = node.get_input(0)
    ratio = node.get_input(1) if node.has_input(1) else Constant(np.float32(0.5)).output(0)
    random = ops.Convert(uniform_like(node, value), ratio.element_type)
    mask = ops.LogicalOr(ops.LogicalNot(training), ops.GreaterEqual(random, ratio)).output(0)
    keep_probability = ops.Convert(ops.Subtract(scalar_like(ratio, 1), ratio), value.element_type)
    scaled = ops.Select(training, ops.Divide(value, keep_probability), value)
    result = ops.Select(mask, scaled, scalar_like(value, 0)).output(0)
    return [result, mask] if node.has_output(1) else [result]
