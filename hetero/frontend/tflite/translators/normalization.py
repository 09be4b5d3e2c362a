"""Softmax, L2 normalization and local response normalization."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import apply_activation
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, multiply_by

# A lower bound of a vector's L2 norm, against division by zero.
_MIN_NORM = 1e-6


@translator("SOFTMAX")
@computes_in_float
def softmax(node: TfliteNodeContext) -> Translation:
    return ops.Softmax(multiply_by(node.get_input(0), node.get_attribute("beta", 1.0)), -1)


@translator("LOG_SOFTMAX")
@computes_in_float
def log_softmax(node: TfliteNodeContext) -> Translation:
    return ops.LogSoftmax(node.get_input(0), -1)


@translator("L2_NORMALIZATION")
@computes_in_float
def l2_normalization(node: TfliteNodeContext) -> Translation:
    return apply_activation(node, ops.NormalizeL2(node.get_input(0), int64([-1]), _MIN_NORM**2, "max"))


@translator("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(node: TfliteNodeContext) -> Translation:
    """OpenVINO's LRN divides alpha by the window size, TensorFlow's does not."""
    alpha, beta, bias = (node.get_attribute(name, dtype=float) for name in ("alpha", "beta", "bias"))
    size = 2 * node.get_attribute("radius") + 1
    return ops.LRN(node.get_input(0), int64([-1]), alpha * size, beta, bias, size)
