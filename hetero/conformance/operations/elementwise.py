"""Operations that compute each element by itself: arithmetic, functions, comparisons, bits and conversions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from hetero import Constant, Op, Output, Type, ops
from hetero.conformance.operations.case import ALL, FLOATS, INTEGERS, NUMBERS, Formula, Formulas, OperationCase

_ROWS = (3, 5)
# Units in the last place: of OpenCL's precise functions, of pow as OpenCL allows it, and of erf: the polynomial of
# OpenVINO is off by 12.
_ULPS, _POWER_ULPS, _ERF_ULPS = 4, 16, 16


def _number(x: Output, value: float) -> Constant:
    """Return a number of the element type of a value."""
    return Constant(np.array(value).astype(x.element_type.to_dtype()))


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a / b if a.dtype.kind == "f" else a // b


def _round_away(x: np.ndarray) -> np.ndarray:
    return np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0)


def _is_divisible(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return where the quotient of integers is defined: not by 0, and not the lowest one by -1."""
    lowest = np.iinfo(a.dtype).min
    return (b != 0) & ~((a == lowest) & (lowest < 0) & (b == -1))


def _is_power(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return exponent >= 0


def _is_shift(data: np.ndarray, bits: np.ndarray) -> np.ndarray:
    return (data >= 0) & (bits >= 0) & (bits < data.dtype.itemsize * 8)


_UNARY: Formulas = {ops.Abs: np.abs, ops.Negative: np.negative, ops.Sign: np.sign, ops.Relu: lambda x: np.maximum(x, 0)}
_UNARY_FLOAT: Formulas = {
    ops.Acos: np.arccos,
    ops.Acosh: np.arccosh,
    ops.Asin: np.arcsin,
    ops.Asinh: np.arcsinh,
    ops.Atan: np.arctan,
    ops.Atanh: np.arctanh,
    ops.Ceiling: np.ceil,
    ops.Cos: np.cos,
    ops.Cosh: np.cosh,
    ops.Exp: np.exp,
    ops.Floor: np.floor,
    ops.Log: np.log,
    ops.Sin: np.sin,
    ops.Sinh: np.sinh,
    ops.SoftPlus: lambda x: np.logaddexp(0, x),
    ops.Sqrt: np.sqrt,
    ops.Tan: np.tan,
    ops.Tanh: np.tanh,
}
# Compositions, whose intermediate results are rounded.
_ACTIVATIONS: Formulas = {
    ops.HSigmoid: lambda x: np.clip(x + 3, 0, 6) / 6,
    ops.HSwish: lambda x: x * (np.clip(x + 3, 0, 6) / 6),
    ops.Mish: lambda x: x * np.tanh(np.logaddexp(0, x)),
    ops.Sigmoid: _sigmoid,
    ops.SoftSign: lambda x: x / (1 + np.abs(x)),
    ops.Swish: lambda x: x * _sigmoid(x),
}
_CLASSES: Formulas = {ops.IsFinite: np.isfinite, ops.IsInf: np.isinf, ops.IsNaN: np.isnan}
_BINARY: Formulas = {
    ops.Add: np.add,
    ops.Maximum: np.maximum,
    ops.Minimum: np.minimum,
    ops.Multiply: np.multiply,
    ops.SquaredDifference: lambda a, b: np.square(a - b),
    ops.Subtract: np.subtract,
}
_QUOTIENTS: Formulas = {ops.Divide: _divide, ops.FloorMod: np.mod, ops.Mod: np.fmod}
_COMPARISONS: Formulas = {
    ops.Equal: np.equal,
    ops.Greater: np.greater,
    ops.GreaterEqual: np.greater_equal,
    ops.Less: np.less,
    ops.LessEqual: np.less_equal,
    ops.NotEqual: np.not_equal,
}
_LOGICAL: Formulas = {ops.LogicalAnd: np.logical_and, ops.LogicalOr: np.logical_or, ops.LogicalXor: np.logical_xor}
_BITWISE: Formulas = {ops.BitwiseAnd: np.bitwise_and, ops.BitwiseOr: np.bitwise_or, ops.BitwiseXor: np.bitwise_xor}
_SHIFTS: Formulas = {ops.BitwiseLeftShift: np.left_shift, ops.BitwiseRightShift: np.right_shift}


def _elementwise(
    formulas: Formulas,
    input_count: int,
    kinds: tuple[Type, ...],
    ulps: int = _ULPS,
    domain: Callable[..., np.ndarray] | None = None,
) -> list[OperationCase]:
    return [
        OperationCase(
            kind.type_info.name,
            kind,
            formula,
            (_ROWS,) * input_count,
            kinds,
            is_elementwise=True,
            domain=domain,
            ulps=ulps,
        )
        for kind, formula in formulas.items()
    ]


def _of_one(
    kinds: tuple[Type, ...], cases: Mapping[str, tuple[Callable[..., Op], Formula]], ulps: int
) -> list[OperationCase]:
    return [
        OperationCase(name, build, formula, (_ROWS,), kinds, is_elementwise=True, ulps=ulps)
        for name, (build, formula) in cases.items()
    ]


def _conversion(target: Type) -> OperationCase:
    """Return the conversion to a type, where it is defined: real numbers are within its range."""
    dtype = target.to_dtype()

    def is_defined(x: np.ndarray) -> np.ndarray:
        if dtype.kind not in "iu" or x.dtype.kind in "iub":
            return np.ones(x.shape, bool)
        limits = np.iinfo(dtype)
        values = x.astype(np.float64)
        return (values > float(limits.min) - 1) & (values < float(limits.max))

    return OperationCase(
        f"Convert to {target}", lambda x: ops.Convert(x, target), lambda x: x.astype(dtype), (_ROWS,), ALL,
        is_elementwise=True, domain=is_defined, ulps=1,
    )  # fmt: skip


ELEMENTWISE = (
    *_elementwise(_UNARY, 1, NUMBERS),
    *_elementwise(_UNARY_FLOAT, 1, FLOATS),
    *_elementwise({ops.Erf: _erf}, 1, FLOATS, _ERF_ULPS),
    *_elementwise(_ACTIVATIONS, 1, FLOATS, 0),
    *_elementwise(_CLASSES, 1, FLOATS),
    *_elementwise(_BINARY, 2, NUMBERS),
    *_elementwise(_QUOTIENTS, 2, NUMBERS, _ULPS, _is_divisible),
    *_elementwise({ops.Power: np.power}, 2, NUMBERS, _POWER_ULPS, _is_power),
    *_elementwise(_COMPARISONS, 2, ALL),
    *_elementwise(_LOGICAL, 2, (Type.boolean,)),
    *_elementwise({ops.LogicalNot: np.logical_not}, 1, (Type.boolean,)),
    *_elementwise(_BITWISE, 2, (*INTEGERS, Type.boolean)),
    *_elementwise({ops.BitwiseNot: np.invert}, 1, (*INTEGERS, Type.boolean)),
    *_elementwise(_SHIFTS, 2, INTEGERS, _ULPS, _is_shift),
    *_of_one(FLOATS, {
        "Elu": (lambda x: ops.Elu(x, 1.5), lambda x: np.where(x > 0, x, 1.5 * np.expm1(x))),
        "Gelu": (lambda x: ops.Gelu(x, "erf"), lambda x: x * ((1 + _erf(x / np.sqrt(2))) / 2)),
        "HardSigmoid": (
            lambda x: ops.HardSigmoid(x, _number(x, 0.2), _number(x, 0.5)), lambda x: np.clip(0.2 * x + 0.5, 0, 1),
        ),
        "Selu": (
            lambda x: ops.Selu(x, _number(x, 1.5), _number(x, 2.0)),
            lambda x: 2 * np.where(x > 0, x, 1.5 * np.expm1(x)),
        ),
    }, 0),
    *_of_one((Type.f32,), {
        "FakeQuantize": (
            lambda x: ops.FakeQuantize(x, *(_number(x, limit) for limit in (-1.28, 1.27) * 2), 256),
            lambda x: np.clip(np.rint(x * 100), -128, 127) / 100,
        ),
    }, 0),
    *_of_one(FLOATS, {
        "Round to even": (lambda x: ops.Round(x, "half_to_even"), np.rint),
        "Round away from zero": (lambda x: ops.Round(x, "half_away_from_zero"), _round_away),
    }, _ULPS),
    *_of_one(NUMBERS, {"Clamp": (lambda x: ops.Clamp(x, 1, 3), lambda x: np.clip(x, 1, 3))}, _ULPS),
    *_of_one(ALL, {"Convert": (lambda x: ops.Convert(x, Type.f32), lambda x: x.astype(np.float32))}, 1),
    *(_conversion(target) for target in (Type.f16, Type.i32, Type.i64, Type.u8, Type.boolean)),
    OperationCase("Add of a row", ops.Add, np.add, ((3, 5), (1, 5)), NUMBERS, batched=False),
    OperationCase(
        "Select", lambda a, b: ops.Select(ops.Less(a, b), a, b), lambda a, b: np.where(a < b, a, b),
        (_ROWS, _ROWS), ALL, is_elementwise=True, ulps=1,
    ),
)  # fmt: skip
