"""Element-wise arithmetic, comparison and logic, activation functions, and conversions between element types."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np
from onnx import TensorProto

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.activation import celu, hard_sigmoid, leaky_relu, selu, swish
from hetero.frontend.numerics.elementwise import reciprocal
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.onnx.tensors import element_type
from hetero.frontend.translation.translators import Attr, OptionalInput, Row, Translation
from hetero.frontend.translation.values import (
    axis_length,
    flatten,
    int64,
    multiply_by,
    normalize_axis,
    prelu_broadcasting,
    rank_of,
    scalar_like,
)
from hetero.graph import Op, Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError


def _power(base: Output, exponent: Output) -> Op:
    if base.element_type is exponent.element_type:
        return ops.Power(base, exponent)
    if base.element_type.is_real():
        return ops.Power(base, ops.Convert(exponent, base.element_type))
    # An integer base and an exponent of another type: computed in the exponent's type, returned in the base's.
    return ops.Convert(ops.Power(ops.Convert(base, exponent.element_type), exponent), base.element_type)


rows({
    "Abs": Row(ops.Abs), "Acos": Row(ops.Acos), "Acosh": Row(ops.Acosh), "Asin": Row(ops.Asin),
    "Asinh": Row(ops.Asinh), "Atan": Row(ops.Atan), "Atanh": Row(ops.Atanh), "BitwiseNot": Row(ops.BitwiseNot),
    "Ceil": Row(ops.Ceiling), "Cos": Row(ops.Cos), "Cosh": Row(ops.Cosh), "Erf": Row(ops.Erf), "Exp": Row(ops.Exp),
    "Floor": Row(ops.Floor), "Identity": Row(lambda value: value), "IsNaN": Row(ops.IsNaN, since=9),
    "Log": Row(ops.Log), "Neg": Row(ops.Negative), "Not": Row(ops.LogicalNot),
    "Reciprocal": Row(reciprocal), "Round": Row(ops.Round, since=11),
    "Sign": Row(ops.Sign), "Sin": Row(ops.Sin), "Sinh": Row(ops.Sinh), "Sqrt": Row(ops.Sqrt), "Tan": Row(ops.Tan),
    "Tanh": Row(ops.Tanh), "Where": Row(ops.Select, since=9),
    "IsInf": Row(
        ops.IsInf, since=10, detect_negative=Attr("detect_negative", 1), detect_positive=Attr("detect_positive", 1)
    ),
    "BitCast": Row(ops.BitCast, since=26, destination_type=Attr("to", dtype=element_type)),
})  # fmt: skip

# They broadcast like numpy from operator set 7 on, and by the attributes broadcast and axis before.
_BINARY = {
    "Add": Row(ops.Add, since=7), "And": Row(ops.LogicalAnd, since=7), "BitwiseAnd": Row(ops.BitwiseAnd, since=7),
    "BitwiseOr": Row(ops.BitwiseOr, since=7), "BitwiseXor": Row(ops.BitwiseXor, since=7),
    "Div": Row(ops.Divide, since=7, m_pythondiv=False),  # the quotient of integers is truncated toward 0
    "Equal": Row(ops.Equal, since=7), "Greater": Row(ops.Greater, since=7),
    "GreaterOrEqual": Row(ops.GreaterEqual, since=7), "Less": Row(ops.Less, since=7),
    "LessOrEqual": Row(ops.LessEqual, since=7), "Mul": Row(ops.Multiply, since=7), "Or": Row(ops.LogicalOr, since=7),
    "Pow": Row(_power, since=7), "Sub": Row(ops.Subtract, since=7), "Xor": Row(ops.LogicalXor, since=7),
}  # fmt: skip
rows(_BINARY)


@translator(*_BINARY)
def binary_1(node: OnnxNodeContext) -> Translation:
    """Before operator set 7, the attribute axis says where the second input begins in the first."""
    row, first, second = _BINARY[node.get_op_type()], node.get_input(0), node.get_input(1)
    if not node.get_attribute("broadcast", 0) or not node.has_attribute("axis"):
        return row(node)
    axis, ranks = node.get_attribute("axis"), (rank_of(first), rank_of(second))
    trailing = ranks[0] - normalize_axis(axis, ranks[0]) - ranks[1]
    if trailing < 0:
        raise FrontendError(f"an input of rank {ranks[1]} does not fit at axis {axis} of one of rank {ranks[0]}")
    if trailing:
        second = ops.Unsqueeze(second, int64(range(ranks[1], ranks[1] + trailing))).output(0)
    return row.make(node, [first, second])


def _fold(operation: type[Op], *values: Output) -> Output:
    return reduce(lambda first, second: operation(first, second).output(0), values)


def _cast(value: Output, target: Type, **rounding: Any) -> Op:
    narrow = target.is_real() and target.bitwidth <= 8
    if narrow or Type.string in (value.element_type, target):
        return ops.Cast(value, target, **rounding)
    return ops.Convert(value, target)


def _type_named(name: str) -> Type:
    if name not in dict(TensorProto.DataType.items()):
        raise FrontendError(f"there is no element type {name}")
    return element_type(TensorProto.DataType.Value(name))


_ROUNDING: dict[str, Any] = {"saturate": Attr("saturate", 1), "round_mode": Attr("round_mode", "up")}
rows({
    "Max": Row(partial(_fold, ops.Maximum)), "Min": Row(partial(_fold, ops.Minimum)),
    "Sum": Row(partial(_fold, ops.Add)),
    "Mean": Row(lambda *values: ops.Divide(_fold(ops.Add, *values), scalar_like(values[0], len(values)))),
    # In operator set 1 the target type is a string.
    "Cast": [
        Row(_cast, target=Attr("to", dtype=_type_named), **_ROUNDING),
        Row(_cast, since=6, target=Attr("to", dtype=element_type), **_ROUNDING),
    ],
    "CastLike": Row(lambda value, like, **rounding: _cast(value, like.element_type, **rounding), since=15, **_ROUNDING),
})  # fmt: skip


# With fmod the result has the sign of the dividend, else of the divisor.
rows({"Mod": Row(lambda x, y, fmod: (ops.Mod if fmod else ops.FloorMod)(x, y), 0, 1, fmod=Attr("fmod", 0), since=10)})


@translator("BitShift", since=11)
def bit_shift(node: OnnxNodeContext) -> Translation:
    operations = {"LEFT": ops.BitwiseLeftShift, "RIGHT": ops.BitwiseRightShift}
    direction = node.get_attribute("direction")
    if direction not in operations:
        raise FrontendError(f"direction must be LEFT or RIGHT, but is {direction}")
    return operations[direction](node.get_input(0), node.get_input(1))


def thresholded_relu(value: Output, alpha: float) -> Op:
    return ops.Select(ops.Greater(value, scalar_like(value, alpha)), value, scalar_like(value, 0))


def _shrink(value: Output, limit: float, bias: float) -> Op:
    offset = scalar_like(value, bias)
    below = ops.Select(ops.Less(value, scalar_like(value, -limit)), ops.Add(value, offset), scalar_like(value, 0))
    return ops.Select(ops.Greater(value, scalar_like(value, limit)), ops.Subtract(value, offset), below)


def along_axis_and_later(operation: Callable[[Output, int], Op], value: Output, axis: int) -> Op:
    """Apply the operation to the rows of the value flattened at the axis, as before operator set 13."""
    axis = normalize_axis(axis, rank_of(value))
    if all(dimension == 1 for dimension in value.partial_shape[axis + 1 :]):
        return operation(value, axis)
    return ops.Reshape(operation(flatten(value, axis), 1), ops.ShapeOf(value), False)


def _hardmax(value: Output, axis: int) -> Op:
    """Return 1 at the first largest element along the axis, 0 elsewhere."""
    axis = normalize_axis(axis, rank_of(value))
    best = ops.TopK(value, int64(1), axis, "max", "value", "i64").output(1)
    length = axis_length(value, axis)
    return ops.OneHot(ops.Squeeze(best, int64([axis])), length, scalar_like(value, 1), scalar_like(value, 0), axis)


def _clip(value: Output, low: Output | None, high: Output | None) -> Translation:
    if low is None and high is None:
        return value
    bounds = (low, high)
    known = [exact_value(bound) if bound else np.array(limit) for bound, limit in zip(bounds, (-math.inf, math.inf))]
    numbers = [k.item() for k in known if k is not None and k.size == 1]
    if value.element_type.is_real() and len(numbers) == 2 and numbers[0] <= numbers[1]:
        return ops.Clamp(value, *numbers)
    for operation, bound in zip((ops.Maximum, ops.Minimum), bounds):
        if bound is not None:
            value = operation(value, bound).output(0)
    return value


_ALPHA, _BETA = Attr("alpha", 1.0), Attr("beta", 1.0)
_AXIS, _FIRST_AXIS = Attr("axis", -1), Attr("axis", 1)
_LOWEST, _LARGEST = (float(limit) for limit in (np.finfo(np.float32).min, np.finfo(np.float32).max))

rows({
    "Celu": Row(celu, since=12, alpha=_ALPHA), "Elu": Row(ops.Elu, alpha=_ALPHA),
    "Clip": [
        Row(ops.Clamp, 0, min_value=Attr("min", -math.inf), max_value=Attr("max", math.inf)),
        Row(ops.Clamp, 0, since=6, min_value=Attr("min", _LOWEST), max_value=Attr("max", _LARGEST)),
        Row(_clip, 0, OptionalInput(1), OptionalInput(2), since=11),
    ],
    "Gelu": Row(ops.Gelu, since=20, approximation_mode=Attr("approximate", "none", values={"none": "erf"})),
    "HardSigmoid": Row(hard_sigmoid, slope=Attr("alpha", 0.2), offset=Attr("beta", 0.5)),
    "HardSwish": Row(ops.HSwish, since=14), "LeakyRelu": Row(leaky_relu, slope=Attr("alpha", 0.01)),
    "Mish": Row(ops.Mish, since=18), "Relu": Row(ops.Relu), "Sigmoid": Row(ops.Sigmoid),
    # Like PRelu-1, PRelu takes a slope of rank 1 as one slope for each channel before operator set 7.
    "PRelu": [Row(ops.PRelu), Row(prelu_broadcasting, since=7)],
    "Selu": [
        Row(selu, alpha=Attr("alpha", 1.6732), scale=Attr("gamma", 1.0507)),
        Row(selu, since=6, alpha=Attr("alpha", 1.6732631921768188), scale=Attr("gamma", 1.0507010221481323)),
    ],
    "Shrink": Row(_shrink, since=9, limit=Attr("lambd", 0.5), bias=Attr("bias", 0.0)),
    "Softplus": Row(ops.SoftPlus), "Softsign": Row(ops.SoftSign), "Swish": Row(swish, since=24, beta=_ALPHA),
    "SwiGLU": Row(lambda value, gate, alpha: ops.Multiply(swish(value, alpha), gate), since=28, alpha=_ALPHA),
    "ThresholdedRelu": Row(thresholded_relu, alpha=_ALPHA),  # version 1 was an experimental operator
    "Softmax": [
        Row(partial(along_axis_and_later, ops.Softmax), axis=_FIRST_AXIS), Row(ops.Softmax, since=13, axis=_AXIS)
    ],
    "LogSoftmax": [
        Row(partial(along_axis_and_later, ops.LogSoftmax), axis=_FIRST_AXIS),
        Row(ops.LogSoftmax, since=13, axis=_AXIS),
    ],
    "Hardmax": [Row(partial(along_axis_and_later, _hardmax), axis=_FIRST_AXIS), Row(_hardmax, since=13, axis=_AXIS)],
    # Experimental operators that ONNX has removed, which old files still contain.
    "Affine": Row(
        lambda value, alpha, beta: ops.Add(multiply_by(value, alpha), scalar_like(value, beta)),
        alpha=_ALPHA, beta=Attr("beta", 0.0),
    ),
    "Scale": Row(multiply_by, factor=Attr("scale", 1.0)),
    "ScaledTanh": Row(
        lambda value, alpha, beta: multiply_by(ops.Tanh(multiply_by(value, beta)), alpha), alpha=_ALPHA, beta=_BETA
    ),
    "ParametricSoftplus": Row(
        lambda value, alpha, beta: multiply_by(ops.SoftPlus(multiply_by(value, beta)), alpha), alpha=_ALPHA, beta=_BETA
    ),
})  # fmt: skip
