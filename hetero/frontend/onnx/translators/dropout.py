"""Dropout: in training it sets elements to zero at random, else it does nothing."""

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
def dropout_by_attributes(node: OnnxNodeContext) -> Translation:
    # Without an input that says so it is never training. The mask is of the value's type.
    value = node.get_input(0)
    return [value, ops.Broadcast(scalar_like(value, 1), ops.ShapeOf(value)).output(0)] if node.has_output(1) else value


@translator("Dropout", since=10)
def dropout_with_boolean_mask(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    return [value, ops.Broadcast(True, ops.ShapeOf(value)).output(0)] if node.has_output(1) else value


@translator("Dropout", since=12)
def dropout(node: OnnxNodeContext) -> Translation:
    training = node.get_optional_input(2)
    if training is None or (exact_value(training) is not None and not exact_value(training).any()):
        return dropout_with_boolean_mask(node)
    value = node.get_input(0)
    ratio = node.get_input(1) if node.has_input(1) else Constant(np.float32(0.5)).output(0)
    drawn = uniform_like(node, value)
    kept = ops.LogicalOr(
        ops.LogicalNot(training), ops.GreaterEqual(ops.Convert(drawn, ratio.element_type), ratio)
    ).output(0)
    # What is kept is scaled up by as much as is dropped on average.
    share = ops.Convert(ops.Subtract(scalar_like(ratio, 1), ratio), value.element_type)
    scaled = ops.Select(training, ops.Divide(value, share), value)
    result = ops.Select(kept, scaled, scalar_like(value, 0)).output(0)
    return [result, kept] if node.has_output(1) else [result]
