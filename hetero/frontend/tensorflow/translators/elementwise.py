"""Arithmetic, functions of elements, activation functions, comparison, logic, selection and bias addition."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from hetero import ops
from hetero.frontend.numerics import elementwise
from hetero.frontend.numerics.activation import leaky_relu, selu
from hetero.frontend.numerics.complex_numbers import divide_complex, exp_complex, multiply_complex
from hetero.frontend.tensorflow.layout import ImageLayout
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation, Translator
from hetero.frontend.translation.values import int64, per_channel, rank_of, reshape, scalar_like
from hetero.graph import Node, Op, Output


def _add_all(*values: Output) -> Output:
    return reduce(lambda left, right: ops.Add(left, right).output(0), values)


def _floor_of_quotient(left: Output, right: Output) -> Op:
    """Return the floor of a rounded quotient of real numbers, as TensorFlow's kernel does: 1 // 0.1 is 10."""
    quotient = ops.Divide(left, right)
    return ops.Floor(quotient) if left.element_type.is_real() else quotient


def _zero_where_zero(factor: Output, result: Op) -> Op:
    """Return the result with zeros where the factor is 0, even if the result is infinite or NaN there."""
    zero = scalar_like(factor, 0)
    return ops.Select(ops.Equal(factor, zero), zero, result)


def _to_bool(value: Output) -> Op:
    """A scalar is true if it is not 0, another tensor if it is not empty."""
    if value.partial_shape.rank == 0:
        return ops.NotEqual(value, scalar_like(value, 0))
    return ops.NotEqual(ops.ReduceProd(ops.ShapeOf(value), int64([0]), False), int64(0))


rows(
    {
        "Abs": Row(ops.Abs), "Acos": Row(ops.Acos), "Acosh": Row(ops.Acosh), "Asin": Row(ops.Asin),
        "Asinh": Row(ops.Asinh), "Atan": Row(ops.Atan), "Atan2": Row(elementwise.atan2), "Atanh": Row(ops.Atanh),
        "BitwiseAnd": Row(ops.BitwiseAnd), "BitwiseOr": Row(ops.BitwiseOr), "BitwiseXor": Row(ops.BitwiseXor),
        "Ceil": Row(ops.Ceiling), "Cos": Row(ops.Cos), "Cosh": Row(ops.Cosh), "Erf": Row(ops.Erf),
        "Erfc": Row(elementwise.erfc), "Expm1": Row(elementwise.expm1), "Floor": Row(ops.Floor),
        "FloorDiv": Row(_floor_of_quotient), "FloorMod": Row(ops.FloorMod), "Inv": Row(elementwise.reciprocal),
        "Invert": Row(ops.BitwiseNot), "IsFinite": Row(ops.IsFinite), "IsInf": Row(ops.IsInf),
        "IsNan": Row(ops.IsNaN), "LeftShift": Row(ops.BitwiseLeftShift), "Log": Row(ops.Log),
        "Log1p": Row(elementwise.log1p), "Maximum": Row(ops.Maximum), "Minimum": Row(ops.Minimum), "Mod": Row(ops.Mod),
        "Pow": Row(ops.Power), "Reciprocal": Row(elementwise.reciprocal), "RightShift": Row(ops.BitwiseRightShift),
        "Rint": Row(ops.Round),
        "Round": Row(lambda value: ops.Round(value) if value.element_type.is_real() else value),
        "Rsqrt": Row(elementwise.reciprocal_square_root),
        "Sign": Row(ops.Sign), "Sin": Row(ops.Sin), "Sinh": Row(ops.Sinh), "Sqrt": Row(ops.Sqrt),
        "SquaredDifference": Row(ops.SquaredDifference), "Tan": Row(ops.Tan), "Tanh": Row(ops.Tanh),
        "TruncateDiv": Row(elementwise.truncate_divide), "TruncateMod": Row(ops.Mod),
    }
)  # fmt: skip
# Activation functions.
rows(
    {
        "Elu": Row(ops.Elu, alpha=1.0), "LeakyRelu": Row(leaky_relu, slope=Attr("alpha", 0.2)), "Mish": Row(ops.Mish),
        "Relu": Row(ops.Relu), "Relu6": Row(ops.Clamp, min_value=0, max_value=6), "Selu": Row(selu),
        "Sigmoid": Row(ops.Sigmoid), "Softplus": Row(ops.SoftPlus), "Softsign": Row(ops.SoftSign),
        "Swish": Row(ops.Swish),
    }
)  # fmt: skip
# Comparison and logic.
rows(
    {
        "ApproximateEqual": Row(
            lambda x, y, tolerance: ops.Less(ops.Abs(ops.Subtract(x, y)), scalar_like(x, tolerance)),
            tolerance=Attr("tolerance", 1e-5, float),
        ),
        "Equal": Row(ops.Equal),
        "Greater": Row(ops.Greater), "GreaterEqual": Row(ops.GreaterEqual), "Less": Row(ops.Less),
        "LessEqual": Row(ops.LessEqual), "LogicalAnd": Row(ops.LogicalAnd), "LogicalNot": Row(ops.LogicalNot),
        "LogicalOr": Row(ops.LogicalOr), "LogicalXor": Row(ops.LogicalXor), "NotEqual": Row(ops.NotEqual),
        "ToBool": Row(_to_bool),
    }
)  # fmt: skip
rows(
    {
        "ClipByValue": Row(lambda value, low, high: ops.Minimum(ops.Maximum(value, low), high)),
        "DivNoNan": Row(lambda x, y: _zero_where_zero(y, ops.Divide(x, y))),
        "MulNoNan": Row(lambda x, y: _zero_where_zero(y, ops.Multiply(x, y))),
        "Xdivy": Row(lambda x, y: _zero_where_zero(x, ops.Divide(x, y))),
        "Xlogy": Row(lambda x, y: _zero_where_zero(x, ops.Multiply(x, ops.Log(y)))),
        "Xlog1py": Row(lambda x, y: _zero_where_zero(x, ops.Multiply(x, elementwise.log1p(y)))),
    }
)
# The same for complex numbers.
rows(
    {
        "AccumulateNV2": Row(_add_all), "Add": Row(ops.Add), "AddN": Row(_add_all), "AddV2": Row(ops.Add),
        "Neg": Row(ops.Negative), "Sub": Row(ops.Subtract),
    }
)  # fmt: skip


def _or_of_complex(function: Callable[..., Output]) -> Callable[[Row], Translator]:
    """Return the convention of rows for which ``function`` computes the same of complex numbers."""
    return lambda row: lambda node: function(*node.get_inputs()) if node.is_complex() else row(node)


rows(
    {"Div": Row(elementwise.truncate_divide), "RealDiv": Row(ops.Divide)},
    _or_of_complex(divide_complex),
)
rows({"Exp": Row(ops.Exp)}, _or_of_complex(exp_complex))
rows({"Mul": Row(ops.Multiply)}, _or_of_complex(multiply_complex))
rows({"Square": Row(elementwise.square)}, _or_of_complex(lambda value: multiply_complex(value, value)))


@translator("Select")
def select(node: TensorflowNodeContext) -> Translation:
    """A vector of conditions selects along the first axis."""
    condition, then, otherwise = node.get_inputs()
    if condition.partial_shape.rank == 1 and (rank := rank_of(then)) > 1:
        return ops.Select(reshape(condition, (-1, *[1] * (rank - 1))), then, otherwise)
    return _select(node, condition, then, otherwise)


rows({"SelectV2": lambda node: _select(node, *node.get_inputs())})


def _select(node: TensorflowNodeContext, condition: Output, then: Output, otherwise: Output) -> Node:
    if node.is_complex():
        condition = ops.Unsqueeze(condition, int64([-1])).output(0)
    return ops.Select(condition, then, otherwise)


@translator("BiasAdd", "BiasAddV1")
def bias_add(node: TensorflowNodeContext) -> Translation:
    value, bias = node.get_inputs()
    return ops.Add(value, bias if ImageLayout.of(node).is_channels_last else per_channel(bias, rank_of(value)))
