"""Arithmetic, comparison and logic of two tensors, functions of the elements of one, and activations."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import activation, elementwise
from hetero.frontend.numerics.normalization import of_scalars_too
from hetero.frontend.paddle.node_context import PaddleNodeContext, PaddleTranslator, rows, translator
from hetero.frontend.translation.translators import Attr, ConversionResult, OptionalInput, Row
from hetero.frontend.translation.values import (
    convert_to,
    int64,
    multiply_by,
    prelu_broadcasting,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError


def operands(node: PaddleNodeContext) -> tuple[Output, Output]:
    """Return X and Y, in the type of X. With ``axis`` the one of lower rank has the axes of the other from it on."""
    x, y = node.get_input("X"), node.get_input("Y")
    axis = node.get_attribute("axis", -1)
    if axis >= 0:
        x, y = _from_axis(x, rank_of(y), axis), _from_axis(y, rank_of(x), axis)
    return x, convert_to(y, x.element_type)


def _from_axis(value: Output, rank: int, axis: int) -> Output:
    """Append axes to a value whose axes are those from ``axis`` on of a tensor of a higher rank."""
    own = rank_of(value)
    if not 0 < own < rank or axis + own >= rank:
        return value
    return ops.Unsqueeze(value, np.arange(own, rank - axis)).output(0)


def _converted(convert: Callable[[Output], Output]) -> Callable[[Row], PaddleTranslator]:
    """Return the convention of rows whose inputs are converted first."""
    return lambda operator: (
        lambda node: operator.make(node, [convert(node.get_input(port)) for port in operator.inputs])
    )


def _as_real(value: Output) -> Output:
    """Return integers as f32, as functions of them are."""
    return value if value.element_type.is_real() else convert_to(value, Type.f32)


def _mish(value: Output, threshold: float) -> Op:
    """Return x · tanh(softplus(x)), with a softplus that is x above the threshold."""
    if threshold >= 20:
        return ops.Mish(value)
    return ops.Multiply(value, ops.Tanh(activation.softplus(value, 1.0, threshold)))


def _hard_swish(value: Output, threshold: float, scale: float, offset: float) -> Op | Output:
    if (threshold, scale, offset) == (6, 6, 3):
        return ops.HSwish(value)
    gate = ops.Clamp(ops.Add(value, scalar_like(value, offset)), 0.0, threshold)
    return multiply_by(ops.Multiply(value, gate), 1 / scale)


def _gated_swish(value: Output, gate: Output | None) -> Op:
    """Return swish(x) · y; without y, x and y are the halves of the last axis."""
    value, gate = (value, gate) if gate is not None else ops.Split(value, int64(-1), 2).outputs()
    return ops.Multiply(ops.Swish(value), gate)


# Operators of X and Y in the type of X.
rows(
    {
        "elementwise_add": Row(elementwise.on_booleans(ops.Add, ops.LogicalOr)),
        "elementwise_sub": Row(ops.Subtract),
        "elementwise_mul": Row(elementwise.on_booleans(ops.Multiply, ops.LogicalAnd)),
        "elementwise_div": Row(elementwise.truncate_divide),
        "elementwise_floordiv": Row(elementwise.floor_divide),
        "elementwise_fmax": Row(elementwise.ignore_nan(ops.Maximum)),
        "elementwise_fmin": Row(elementwise.ignore_nan(ops.Minimum)),
        "elementwise_heaviside": Row(elementwise.heaviside),
        "elementwise_max": Row(ops.Maximum),
        "elementwise_min": Row(ops.Minimum),
        "elementwise_mod": Row(ops.FloorMod),
        "elementwise_pow": Row(ops.Power),
        "equal": Row(ops.Equal),
        "not_equal": Row(ops.NotEqual),
        "less_than": Row(ops.Less),
        "less_equal": Row(ops.LessEqual),
        "greater_than": Row(ops.Greater),
        "greater_equal": Row(ops.GreaterEqual),
        "bitwise_and": Row(ops.BitwiseAnd),
        "bitwise_or": Row(ops.BitwiseOr),
        "bitwise_xor": Row(ops.BitwiseXor),
    },
    lambda operator: lambda node: operator.make(node, operands(node)),
)
# Operators of conditions.
rows(
    {
        "logical_and": Row(ops.LogicalAnd, "X", "Y"),
        "logical_not": Row(ops.LogicalNot, "X"),
        "logical_or": Row(ops.LogicalOr, "X", "Y"),
        "logical_xor": Row(ops.LogicalXor, "X", "Y"),
    },
    _converted(lambda value: convert_to(value, Type.boolean)),
)
# Functions of real numbers, also of integers.
rows(
    {
        "atan2": Row(elementwise.atan2, "X1", "X2"),
        "exp": Row(ops.Exp, "X"),
        "expm1": Row(elementwise.expm1, "X"),
        "log1p": Row(elementwise.log1p, "X"),
        "log2": Row(elementwise.logarithm, "X", base=2),
        "log10": Row(elementwise.logarithm, "X", base=10),
        "reciprocal": Row(elementwise.reciprocal, "X"),
        "rsqrt": Row(elementwise.reciprocal_square_root, "X"),
    },
    _converted(_as_real),
)
rows(
    {
        "abs": Row(ops.Abs, "X"),
        "acos": Row(ops.Acos, "X"),
        "acosh": Row(ops.Acosh, "X"),
        "asin": Row(ops.Asin, "X"),
        "asinh": Row(ops.Asinh, "X"),
        "atan": Row(ops.Atan, "X"),
        "atanh": Row(ops.Atanh, "X"),
        "bitwise_not": Row(ops.BitwiseNot, "X"),
        "ceil": Row(ops.Ceiling, "X"),
        "cos": Row(ops.Cos, "X"),
        "cosh": Row(ops.Cosh, "X"),
        "erf": Row(ops.Erf, "X"),
        "floor": Row(ops.Floor, "X"),
        "increment": Row(lambda value, step: ops.Add(value, scalar_like(value, step)), "X", step=Attr("step", 1.0)),
        "isfinite_v2": Row(ops.IsFinite, "X"),
        "isinf_v2": Row(ops.IsInf, "X"),
        "isnan_v2": Row(ops.IsNaN, "X"),
        "lerp": Row(lambda x, y, weight: ops.Add(x, ops.Multiply(weight, ops.Subtract(y, x))), "X", "Y", "Weight"),
        "log": Row(ops.Log, "X"),
        "logit": Row(elementwise.logit, "X", epsilon=Attr("eps", 1e-6, values={0.0: None})),
        "round": Row(elementwise.round_to_decimals, "X", decimals=Attr("decimals", 0)),
        "sign": Row(ops.Sign, "X"),
        "sin": Row(ops.Sin, "X"),
        "sinh": Row(ops.Sinh, "X"),
        "sqrt": Row(ops.Sqrt, "X"),
        "square": Row(elementwise.square, "X"),
        "sum": Row(lambda *values: reduce(ops.Add, values)),
        "tan": Row(ops.Tan, "X"),
        "tanh": Row(ops.Tanh, "X"),
        "trunc": Row(elementwise.truncate, "X"),
    }
)
# Activations.
rows(
    {
        "brelu": Row(ops.Clamp, "X", min_value=Attr("t_min", 0.0), max_value=Attr("t_max", 24.0)),
        "elu": Row(ops.Elu, "X", alpha=Attr("alpha", 1.0)),
        "fused_softmax_mask": Row(lambda value, mask: ops.Softmax(ops.Add(value, mask), -1), "X", "Mask"),
        "gelu": Row(activation.gelu, "X", approximate=Attr("approximate", False)),
        "hard_shrink": Row(activation.hard_shrink, "X", limit=Attr("threshold", 0.5)),
        "hard_sigmoid": Row(activation.hard_sigmoid, "X", slope=Attr("slope", 0.2), offset=Attr("offset", 0.5)),
        "hard_swish": Row(
            _hard_swish, "X", threshold=Attr("threshold", 6.0), scale=Attr("scale", 6.0), offset=Attr("offset", 3.0)
        ),
        "leaky_relu": Row(activation.leaky_relu, "X", slope=Attr("alpha", 0.02)),
        "log_softmax": Row(of_scalars_too(ops.LogSoftmax), "X", axis=Attr("axis", -1)),
        "logsigmoid": Row(activation.log_sigmoid, "X"),
        "mish": Row(_mish, "X", threshold=Attr("threshold", 20.0)),
        "relu": Row(ops.Relu, "X"),
        "relu6": Row(ops.Clamp, "X", min_value=0.0, max_value=Attr("threshold", 6.0)),
        "selu": Row(
            activation.selu, "X", alpha=Attr("alpha", 1.6732632423543772), scale=Attr("scale", 1.0507009873554805)
        ),
        "sigmoid": Row(ops.Sigmoid, "X"),
        "silu": Row(activation.swish, "X", beta=Attr("beta", 1.0)),
        "softmax": Row(of_scalars_too(ops.Softmax), "X", axis=Attr("axis", -1)),
        "softplus": Row(activation.softplus, "X", beta=Attr("beta", 1.0), threshold=Attr("threshold", 20.0)),
        "softshrink": Row(activation.soft_shrink, "X", limit=Attr("lambda", 0.5)),
        "softsign": Row(ops.SoftSign, "X"),
        "stanh": Row(
            lambda value, inner, outer: multiply_by(ops.Tanh(multiply_by(value, inner)), outer),
            "X",
            inner=Attr("scale_a", 0.67),
            outer=Attr("scale_b", 1.7159),
        ),
        "swiglu": Row(_gated_swish, "x", OptionalInput("y")),
        "swish": Row(activation.swish, "X", beta=Attr("beta", 1.0)),
        "tanh_shrink": Row(lambda value: ops.Subtract(value, ops.Tanh(value)), "X"),
        "thresholded_relu": Row(activation.threshold, "X", limit=Attr("threshold", 1.0), other=Attr("value", 0.0)),
    }
)


@translator("isclose", "allclose")
def is_close(node: PaddleNodeContext) -> ConversionResult:
    """Return whether ``|x - y| <= atol + rtol · |y|``."""
    x, y = node.get_input("Input"), node.get_input("Other")
    rtol, atol = (node.scalar(name.lower(), name, y.element_type) for name in ("Rtol", "Atol"))
    limit = ops.Add(ops.Multiply(ops.Abs(y), rtol), atol)
    close = ops.LessEqual(ops.Abs(ops.Subtract(x, y)), limit)
    return close if node.get_op_type() == "isclose" else ops.ReduceLogicalAnd(close, np.arange(rank_of(x)), False)


@translator("equal_all")
def equal_all(node: PaddleNodeContext) -> ConversionResult:
    x, y = operands(node)
    return ops.ReduceLogicalAnd(ops.Equal(x, y), np.arange(rank_of(x)), False)


@translator("scale")
def scale(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    kind = value.element_type
    factor, bias = node.scalar("scale", "ScaleTensor", kind, 1.0), node.get_attribute("bias", 0.0)
    shift = scalar_like(value, bias) if kind.is_real() else scalar_like(value, int(bias))
    if not node.get_attribute("bias_after_scale", True):
        return ops.Multiply(ops.Add(value, shift) if bias else value, factor)
    data = getattr(factor.node, "data", None)
    scaled = value if data is not None and data.item() == 1 else ops.Multiply(value, factor).output(0)
    if not bias:
        return scaled if scaled is not value else ops.Multiply(value, factor)
    return ops.Add(scaled, shift)


rows(
    {
        "pow": lambda node: ops.Power(
            node.get_input("X"), node.scalar("factor", "FactorTensor", node.get_input("X").element_type, 1.0)
        ),
        "cast": lambda node: ops.Convert(
            node.get_input("X"), node.type_attribute("out_dtype") or node.output_variable().element_type
        ),
    }
)


@translator("clip")
def clip(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    low, high = (node.scalar(name.lower(), name, value.element_type) for name in ("Min", "Max"))
    if isinstance(low.node, Constant) and isinstance(high.node, Constant) and value.element_type.is_real():
        return ops.Clamp(value, low.node.data.item(), high.node.data.item())
    return ops.Minimum(ops.Maximum(value, low), high)


@translator("rrelu")
def randomized_leaky_relu(node: PaddleNodeContext) -> ConversionResult:
    """The slope is random in training, then the mean of its limits."""
    slope = (node.get_attribute("lower", 0.125) + node.get_attribute("upper", 1 / 3)) / 2
    return {"Out": activation.leaky_relu(node.get_input("X"), slope)}


@translator("prelu")
def prelu(node: PaddleNodeContext) -> ConversionResult:
    """One slope, one for each channel, or one for each element of a sample."""
    value, slope, mode = node.get_input("X"), node.get_input("Alpha"), node.get_attribute("mode", "all")
    rank = rank_of(value)
    if mode == "element":
        return prelu_broadcasting(value, reshape(slope, (1, *slope.partial_shape.to_shape()[-(rank - 1) :])))
    is_last = node.get_attribute("data_format", "NCHW") in ("NHWC", "NDHWC", "NLC")
    if mode == "all":
        return ops.PRelu(value, reshape(slope, (-1,)))
    if not is_last:
        return prelu_broadcasting(value, reshape(slope, (1, -1, *[1] * (rank - 2))))
    return prelu_broadcasting(value, reshape(slope, (1,) * (rank - 1) + (-1,)))


@translator("celu")
def celu(node: PaddleNodeContext) -> ConversionResult:
    alpha = node.get_attribute("alpha", 1.0)
    if alpha <= 0:
        raise FrontendError(f"alpha must be positive, but is {alpha}")
    return activation.celu(node.get_input("X"), alpha)


@translator("maxout")
def maxout(node: PaddleNodeContext) -> ConversionResult:
    """The largest of each ``groups`` channels that follow each other."""
    value, groups = node.get_input("X"), node.get_attribute("groups")
    rank = rank_of(value)
    axis = node.get_attribute("axis", 1) % rank
    lengths = value.partial_shape
    if lengths[axis].is_dynamic or lengths[axis].get_length() % groups:
        raise FrontendError(f"{lengths[axis]} channels are not groups of {groups}")
    if sum(length.is_dynamic for length in lengths) > 1:
        raise FrontendError("all lengths but one must be known")
    shape = [-1 if length.is_dynamic else length.get_length() for length in lengths]
    parts = reshape(value, (*shape[:axis], shape[axis] // groups, groups, *shape[axis + 1 :]))
    return ops.ReduceMax(parts, np.array([axis + 1]), False)


@translator("dropout")
def dropout(node: PaddleNodeContext) -> ConversionResult:
    """Scale the elements if training does not."""
    value = node.get_input("X")
    if node.get_attribute("dropout_implementation", "downgrade_in_infer") == "upscale_in_train":
        return value
    kept = 1 - (node.known_scalar("p") if node.has_input("p") else node.get_attribute("dropout_prob", 0.5))
    return multiply_by(value, kept)
