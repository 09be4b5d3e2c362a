"""C expressions of element-wise operations, and of conversions between element types.

Rounding to narrow floats happens when the result is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from hetero import ops
from hetero.core.packing import as_numbers
from hetero.core.types import Type
from hetero.graph import Node, constant_array
from hetero_opencl.kernels.common.literals import FLOATS, literal
from hetero_opencl.kernels.common.sub_byte_types import element_of, is_number, rounded
from hetero_opencl.kernels.elementwise.custom import custom_expression, expression_unsupported_reason
from hetero_opencl.kernels.elementwise.functions import UNSIGNED
from hetero_opencl.lowering.custom import has_custom_expression

# Takes a node, the C type in which it computes, and the names of its input variables.
Expression = Callable[..., str]


def _call(function: str) -> Expression:
    return lambda node, kind, *inputs: f"{function}({', '.join(inputs)})"


def _call_by_type(for_floats: str, for_integers: str) -> Expression:
    """Return an expression that calls a function. If its name ends in an underscore, the C type is appended."""

    def call(node: Node, kind: str, *inputs: str) -> str:
        name = for_floats if kind in FLOATS else for_integers
        return f"{name}{kind if name.endswith('_') else ''}({', '.join(inputs)})"

    return call


def _infix(operator: str) -> Expression:
    return lambda node, kind, a, b: f"({a} {operator} {b})"


def _wrapping(operator: str) -> Expression:
    """Return arithmetic that wraps around; signed overflow is undefined in C."""

    def arithmetic(node: Node, kind: str, a: str, b: str) -> str:
        if kind in FLOATS:
            return f"({a} {operator} {b})"
        wide = UNSIGNED[kind]
        return f"(({kind})(({wide}){a} {operator} ({wide}){b}))"

    return arithmetic


def _numbers(text: str) -> Expression:
    """Return an expression of x, y, z. Numbers followed by # become literals of the C type."""

    def make(node: Node, kind: str, *inputs: str) -> str:
        words = text.replace("#", "f" if kind == "float" else "")
        return words.format(**dict(zip("xyz", inputs)))

    return make


def _integer_literal(kind: str, value: float) -> str:
    """Return a literal for a number, saturated to the range of an integer C type."""
    limits = np.iinfo(_DTYPES[kind])
    return f"(({kind}){int(min(max(value, limits.min), limits.max)) & (2**64 - 1)}UL)"


_DTYPES: dict[str, Any] = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "float": np.float32, "double": np.float64,
}  # fmt: skip


def _divide(node: ops.Divide, kind: str, a: str, b: str) -> str:
    if kind in FLOATS:
        return f"({a} / {b})"
    return f"{'floor_' if node.m_pythondiv else ''}quotient_{kind}({a}, {b})"


# Common powers; pow is many times slower.
_SIMPLER_POWERS = {
    -1.0: "(1.0# / {x})", -0.5: "(1.0# / sqrt({x}))", 0.5: "sqrt({x})", 1.0: "{x}", 2.0: "({x} * {x})",
    3.0: "({x} * {x} * {x})",
}  # fmt: skip


def _power(node: ops.Power, kind: str, a: str, b: str) -> str:
    if kind not in FLOATS:
        return f"whole_power_{kind}({a}, {b})"
    exponent = constant_array(node.input_value(1))
    if exponent is not None and exponent.size == 1:
        simpler = _SIMPLER_POWERS.get(float(exponent.reshape(())))
        if simpler:
            return _numbers(simpler)(node, kind, a)
    return f"pow({a}, {b})"


def _clamped(x: str, low: str, high: str) -> str:
    """Return x between two bounds. NaN stays NaN, which fmin and fmax replace by a bound."""
    return f"({x} < {low} ? {low} : ({x} > {high} ? {high} : {x}))"


def _clamp(node: ops.Clamp, kind: str, x: str) -> str:
    if kind in FLOATS:
        return _clamped(x, literal(kind, node.min_value), literal(kind, node.max_value))
    low, high = _integer_literal(kind, np.ceil(node.min_value)), _integer_literal(kind, np.floor(node.max_value))
    return f"min(max({x}, {low}), {high})"


def _round(node: ops.Round, kind: str, x: str) -> str:
    if kind not in FLOATS:
        return x
    return f"rint({x})" if node.mode == "half_to_even" else f"round({x})"


def _extreme(operator: str) -> Expression:
    """Return a minimum or maximum that propagates NaN, as in numpy."""

    def extreme(node: Node, kind: str, a: str, b: str) -> str:
        either = f" || {a} != {a}" if kind in FLOATS else ""
        return f"({a} {operator} {b}{either} ? {a} : {b})"

    return extreme


def _gelu(node: ops.Gelu, kind: str, x: str) -> str:
    if node.approximation_mode == "tanh":
        text = "(0.5# * {x} * (1.0# + tanh(0.7978845608028654# * ({x} + 0.044715# * {x} * {x} * {x}))))"
    else:
        text = "(0.5# * {x} * (1.0# + ERF({x} * 0.7071067811865476#)))".replace("ERF", _erf_name(kind))
    return _numbers(text)(node, kind, x)


def _erf_name(kind: str) -> str:
    return "smooth_erf" if kind == "float" else "erf"


def _is_infinite(node: ops.IsInf, kind: str, x: str) -> str:
    if node.detect_positive and node.detect_negative:
        return f"isinf({x})"
    if node.detect_positive or node.detect_negative:
        return f"({x} == {literal(kind, np.inf if node.detect_positive else -np.inf)})"
    return "0"


def _floats_or(for_floats: str, for_integers: str) -> Expression:
    """Return an expression of x with one form for floating-point numbers and one for integers."""
    floats = _numbers(for_floats)

    def make(node: Node, kind: str, x: str) -> str:
        if kind in FLOATS:
            return floats(node, kind, x)
        return f"(({kind})({for_integers.format(x=x, wide=UNSIGNED[kind])}))"

    return make


# For f8e8m0: the mantissa of a float (23 bits) from which on it is rounded up to the next power of two.
_THRESHOLDS = {"up": 1, "nearest": 1 << 22, "down": 1 << 23}


def converted(text: str, source: Type, target: Type) -> str:
    """Return the expression ``text`` of type ``source`` converted to ``target``, with numpy's semantics."""
    value = element_of(target).value
    if source is target and target.is_real():
        return text
    if target is Type.boolean:
        return f"({text} != 0)"
    if target.is_real() or target is Type.nf4:
        return f"(({value}){text})"
    if not source.is_real() and source is not Type.nf4:
        return f"(({value}){text})"
    # Out-of-range conversions are undefined in C. Through a wider integer they wrap around, as in numpy.
    if target is Type.u64:
        return f"({text} < 0 ? (ulong)(long){text} : (ulong){text})"
    wide = "long" if target in (Type.u32, Type.i64) else "int"
    return f"(({value})({wide}){text})"


def convert(node: Node, kind: str, data: str, *like: str) -> str:
    return converted(data, node.get_input_element_type(0), node.get_output_element_type(0))


def cast(node: ops.Cast, kind: str, data: str) -> str:
    source, target = node.get_input_element_type(0), node.destination_type
    if target is Type.f8e8m0:
        return f"power_of_two({data}, {_THRESHOLDS[node.round_mode]}, {int(node.saturate)})"
    number = converted(data, source, target)
    if node.saturate and target.is_real() and target.bitwidth <= 8:
        return f"saturated_float({number}, {_limit(target)!r}f)"
    return number


def fake_convert(node: ops.FakeConvert, kind: str, data: str, scale: str, shift: str = "0.0f") -> str:
    """Convert through f16 first, so that results are rounded as in the reference."""
    target = Type(node.destination_type)
    half = rounded(Type.f16, f"saturated_float(scaled({data}, {scale}, {shift}), {_limit(target)!r}f)")
    return f"(({rounded(target, half)} + {shift}) / {scale})"


def cast_unsupported_reason(node: ops.Cast) -> str | None:
    """Reject casts to f8e8m0 from types that float does not hold exactly: the exponent is taken from a float."""
    source = node.get_input_element_type(0)
    exact = source.bitwidth <= 16 or source is Type.f32
    if node.destination_type is Type.f8e8m0 and not exact:
        return f"no kernel casts {source} to f8e8m0"
    return None


def _limit(target: Type) -> float:
    return float(ml_dtypes.finfo(target.to_dtype()).max)


# For integers the result is rounded to the nearest integer.
_REAL: dict[type[Node], Expression] = {
    ops.Acos: _call("acos"), ops.Acosh: _call("acosh"), ops.Asin: _call("asin"), ops.Asinh: _call("asinh"),
    ops.Atan: _call("atan"), ops.Atanh: _call("atanh"), ops.Cos: _call("cos"), ops.Cosh: _call("cosh"),
    ops.Erf: lambda node, kind, x: f"{_erf_name(kind)}({x})",
    ops.ErfInv: lambda node, kind, x: f"inverse_erf_{kind}({x})",
    ops.Exp: _call("exp"), ops.Log: _call("log"), ops.Sin: _call("sin"), ops.Sinh: _call("sinh"),
    ops.Sqrt: _call("sqrt"), ops.Tan: _call("tan"), ops.Tanh: _call("tanh"),
    ops.Sigmoid: _numbers("(1.0# / (1.0# + exp(-({x}))))"),
    ops.Elu: lambda node, kind, x: f"({x} > 0 ? {x} : {literal(kind, node.alpha)} * expm1({x}))",
    ops.HSwish: _numbers(f"({{x}} * ({_clamped('({x} + 3.0#)', '0.0#', '6.0#')} / 6.0#))"),
    ops.HSigmoid: _numbers(f"({_clamped('({x} + 3.0#)', '0.0#', '6.0#')} / 6.0#)"),
}  # fmt: skip

_EXPRESSIONS: dict[type[Node], Expression] = {
    **_REAL,
    ops.Abs: _floats_or("fabs({x})", "{x} < 0 ? 0 - ({wide}){x} : {x}"),
    ops.Ceiling: _floats_or("ceil({x})", "{x}"), ops.Floor: _floats_or("floor({x})", "{x}"),
    ops.Negative: _floats_or("(-{x})", "0 - ({wide}){x}"),
    ops.Relu: lambda node, kind, x: f"({x} < 0 ? ({kind})0 : {x})",
    ops.PRelu: lambda node, kind, x, slope: f"({x} > 0 ? {x} : {_wrapping('*')(node, kind, slope, x)})",
    ops.Sign: _floats_or("(isnan({x}) ? {x} : sign({x}))", "({x} > 0) - ({x} < 0)"),
    ops.Mish: lambda node, kind, x: f"({x} * tanh(log1p(exp({x}))))",
    ops.SoftPlus: _numbers("(fmax({x}, 0.0#) + log1p(exp(-fabs({x}))))"),
    ops.SoftSign: _numbers("({x} / (1.0# + fabs({x})))"),
    ops.HardSigmoid: _numbers(_clamped("({y} * {x} + {z})", "0.0#", "1.0#")),
    ops.Swish: lambda node, kind, x, *beta: _numbers("({x} / (1.0# + exp(-({y}))))")(
        node, kind, x, " * ".join((x, *beta))
    ),
    ops.Selu: _numbers("({z} * ({x} > 0 ? {x} : {y} * expm1({x})))"),
    ops.Round: _round, ops.Gelu: _gelu, ops.Clamp: _clamp,
    ops.FakeQuantize: lambda node, kind, *inputs: (
        f"fake_quantize_{kind}({', '.join(inputs)}, {literal(kind, node.levels - 1)})"
    ),
    ops.Convert: convert, ops.Cast: cast, ops.FakeConvert: fake_convert,
    ops.Add: _wrapping("+"), ops.Subtract: _wrapping("-"), ops.Multiply: _wrapping("*"), ops.Divide: _divide,
    ops.Maximum: _extreme(">"), ops.Minimum: _extreme("<"),
    ops.Mod: _call_by_type("fmod", "remainder_"), ops.FloorMod: _call_by_type("floor_mod_", "floor_mod_"),
    ops.Power: _power,
    ops.SquaredDifference: lambda node, kind, a, b: _wrapping("*")(node, kind, *[_wrapping("-")(node, kind, a, b)] * 2),
    ops.Equal: _infix("=="), ops.NotEqual: _infix("!="), ops.Greater: _infix(">"), ops.GreaterEqual: _infix(">="),
    ops.Less: _infix("<"), ops.LessEqual: _infix("<="),
    ops.LogicalAnd: _infix("&&"), ops.LogicalOr: _infix("||"), ops.LogicalXor: _infix("!="),
    ops.LogicalNot: lambda node, kind, x: f"(!{x})",
    ops.IsFinite: _call("isfinite"), ops.IsNaN: _call("isnan"), ops.IsInf: _is_infinite,
    ops.BitwiseAnd: _infix("&"), ops.BitwiseOr: _infix("|"), ops.BitwiseXor: _infix("^"),
    ops.BitwiseNot: lambda node, kind, x: (
        f"(!{x})" if node.get_input_element_type(0) is Type.boolean else f"(({kind})~{x})"
    ),
    ops.BitwiseLeftShift: _call_by_type("", "shifted_up_"), ops.BitwiseRightShift: _call_by_type("", "shifted_down_"),
    ops.Select: lambda node, kind, condition, a, b: f"({condition} ? {a} : {b})",
}  # fmt: skip

# Operations that are not supported for integers.
_FLOATS_ONLY = (ops.HardSigmoid, ops.FakeQuantize)

#: All built-in operations that have an expression.
OPERATIONS = tuple(_EXPRESSIONS)


def is_elementwise(node: Node) -> bool:
    """Return whether a node has an expression."""
    return type(node) in _EXPRESSIONS or has_custom_expression(node)


def expression(node: Node, inputs: Sequence[str]) -> str:
    """Return the C expression of a node from the names of its input variables."""
    make, element_type = _EXPRESSIONS.get(type(node), custom_expression), node.get_input_element_type(0)
    kind = element_of(element_type).value
    if type(node) not in _REAL or kind in FLOATS:
        return make(node, kind, *inputs)
    wide = "double" if element_type.size >= 4 else "float"
    number = make(node, wide, *(f"(({wide}){x})" for x in inputs))
    return f"(({kind})(long)rint({number}))"


def is_real_function(node: Node) -> bool:
    """Return whether a node computes a real function, which is rounded for integers."""
    return type(node) in _REAL


def unsupported_elementwise(node: Node) -> str | None:
    """Return the reason why an element-wise node is not supported, or None."""
    types = [value.element_type for value in (*node.input_values(), *node.outputs())]
    unsupported = [kind for kind in types if not is_number(kind)]
    if unsupported:
        return f"no kernel for elements of type {unsupported[0]}"
    if isinstance(node, _FLOATS_ONLY) and not types[0].is_real():
        return f"no kernel for {node.type_info.name} of {types[0]}"
    if has_custom_expression(node):
        return expression_unsupported_reason(node)
    return cast_unsupported_reason(node) if isinstance(node, ops.Cast) else None


def constant_number(array: np.ndarray, kind: Type) -> np.generic:
    """Return the only element of an array as a kernel argument, in the type in which kernels compute."""
    return as_numbers(array).astype(_DTYPES[element_of(kind).value]).flat[0]
