"""Basic arithmetic, activation functions, comparison, logic, selection and bias addition."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hetero import ops
from hetero.frontend.numerics.complex_numbers import multiply_complex
from hetero.frontend.tensorflow.layout import ImageLayout
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.translators.complex_numbers import divide_complex, exp_complex
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, per_channel, rank_of, reshape, scalar_like
from hetero.graph import Node, Output

# Functions of all inputs. Those of the first group are the same for both parts of complex numbers.
_LINEAR: dict[str, Callable[..., Any]] = {"Add": ops.Add, "AddV2": ops.Add, "Sub": ops.Subtract, "Neg": ops.Negative}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Abs": ops.Abs, "Div": partial(ops.Divide, m_pythondiv=False), "Elu": partial(ops.Elu, alpha=1.0),
    "Equal": ops.Equal, "Erf": ops.Erf, "Exp": ops.Exp, "Greater": ops.Greater, "GreaterEqual": ops.GreaterEqual,
    "Less": ops.Less, "LessEqual": ops.LessEqual, "Log": ops.Log, "LogicalAnd": ops.LogicalAnd,
    "LogicalNot": ops.LogicalNot, "LogicalOr": ops.LogicalOr, "Maximum": ops.Maximum, "Minimum": ops.Minimum,
    "Mul": ops.Multiply, "NotEqual": ops.NotEqual, "Pow": ops.Power, "RealDiv": ops.Divide, "Relu": ops.Relu,
    "Relu6": partial(ops.Clamp, min_value=0, max_value=6), "Sigmoid": ops.Sigmoid,
    "Softplus": ops.SoftPlus, "Sqrt": ops.Sqrt, "Square": lambda value: ops.Multiply(value, value),
    "SquaredDifference": ops.SquaredDifference, "Tanh": ops.Tanh,
}  # fmt: skip
_OF_COMPLEX: dict[str, Callable[..., Any]] = {
    "Div": divide_complex, "Exp": exp_complex, "Mul": multiply_complex, "RealDiv": divide_complex,
    "Square": lambda value: multiply_complex(value, value),
}  # fmt: skip
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@translator(*_LINEAR)
def linear(node: TensorflowNodeContext) -> Translation:
    return _LINEAR[node.get_op_type()](*node.get_inputs())


@translator(*_FUNCTIONS)
def function(node: TensorflowNodeContext) -> Translation:
    functions = _OF_COMPLEX if node.is_complex() else _FUNCTIONS
    return functions[node.get_op_type()](*node.get_inputs())


@translator("Rsqrt")
def reciprocal_square_root(node: TensorflowNodeContext) -> Translation:
    root = ops.Sqrt(node.get_input(0)).output(0)
    return ops.Divide(scalar_like(root, 1), root)


@translator("LeakyRelu")
def leaky_relu(node: TensorflowNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.PRelu(value, scalar_like(value, node.get_attribute("alpha", 0.2)))


@translator("Selu")
def selu(node: TensorflowNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Selu(value, scalar_like(value, _SELU_ALPHA), scalar_like(value, _SELU_SCALE))


@translator("Select")
def select(node: TensorflowNodeContext) -> Translation:
    """A vector of conditions selects along the first axis."""
    condition, then, otherwise = node.get_inputs()
    if condition.partial_shape.rank == 1 and (rank := rank_of(then)) > 1:
        return ops.Select(reshape(condition, (-1, *[1] * (rank - 1))), then, otherwise)
    return _select(node, condition, then, otherwise)


@translator("SelectV2")
def select_broadcasting(node: TensorflowNodeContext) -> Translation:
    return _select(node, *node.get_inputs())


def _select(node: TensorflowNodeContext, condition: Output, then: Output, otherwise: Output) -> Node:
    if node.is_complex():
        condition = ops.Unsqueeze(condition, int64([-1])).output(0)
    return ops.Select(condition, then, otherwise)


@translator("BiasAdd", "BiasAddV1")
def bias_add(node: TensorflowNodeContext) -> Translation:
    value, bias = node.get_inputs()
    return ops.Add(value, bias if ImageLayout.of(node).is_channels_last else per_channel(bias, rank_of(value)))
