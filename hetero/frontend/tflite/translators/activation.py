"""Activation functions, softmax and log-softmax."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.activation import prelu_broadcasting
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import scalar_like

_UNARY = {"HARD_SWISH": ops.HSwish, "LOGISTIC": ops.Sigmoid, "RELU": ops.Relu, "TANH": ops.Tanh}
_RANGES = {"RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0), "RELU_0_TO_1": (0.0, 1.0)}


@translator(*_UNARY)
@computes_in_float
def unary(node: TfliteNodeContext) -> Translation:
    return _UNARY[node.get_op_type()](node.get_input(0))


@translator(*_RANGES)
@computes_in_float
def clamp(node: TfliteNodeContext) -> Translation:
    return ops.Clamp(node.get_input(0), *_RANGES[node.get_op_type()])


@translator("ELU")
@computes_in_float
def elu(node: TfliteNodeContext) -> Translation:
    return ops.Elu(node.get_input(0), 1.0)


@translator("GELU")
@computes_in_float
def gelu(node: TfliteNodeContext) -> Translation:
    return ops.Gelu(node.get_input(0), "tanh" if node.get_attribute("approximate", False) else "erf")


@translator("LEAKY_RELU")
@computes_in_float
def leaky_relu(node: TfliteNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.PRelu(value, scalar_like(value, node.get_attribute("alpha", 0.0)))


@translator("PRELU")
@computes_in_float
def prelu(node: TfliteNodeContext) -> Translation:
    return prelu_broadcasting(node.get_input(0), node.get_input(1))


@translator("SOFTMAX")
@computes_in_float
def softmax(node: TfliteNodeContext) -> Translation:
    value, beta = node.get_input(0), np.float32(node.get_attribute("beta", 1.0))
    return ops.Softmax(value if beta == 1 else ops.Multiply(value, scalar_like(value, beta)), -1)


@translator("LOG_SOFTMAX")
@computes_in_float
def log_softmax(node: TfliteNodeContext) -> Translation:
    return ops.LogSoftmax(node.get_input(0), -1)
