"""Element-wise operations as C expressions of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetero import ops
from hetero.graph import Node
from hetero.types import Type
from hetero_opencl.kernels.sources import C_TYPES

Expression = Callable[..., str]


def _horner(coefficients: Sequence[float]) -> str:
    text = f"{coefficients[-1]!r}f"
    for coefficient in reversed(coefficients[:-1]):
        text = f"({text} * s + {coefficient!r}f)"
    return text


# erf(x) is x · P(x²) / Q(x²) up to where it is 1 in f32. The coefficients are a least-squares fit of ours with errors
# weighted towards an even size: 3e-8 in exact arithmetic, 4e-7 when computed in f32.
ERF_END = 3.95
ERF_P = (1.12837907, 0.191660149, 0.0529017455, 0.00381781756, 0.000285762269, 2.03519369e-06)
ERF_Q = (1.0, 0.503186515, 0.114616573, 0.0150713249, 0.00117481104, 3.79867092e-05)

# The functions that expressions call besides those of OpenCL C, by name. Its own erf has branches, which keep compilers
# for CPUs from computing many at once: this one is a quotient of polynomials.
FUNCTIONS = {
    "smooth_erf": f"""\
float smooth_erf(const float x)
{{
    const float c = clamp(x, -{ERF_END}f, {ERF_END}f);
    const float s = c * c;
    return x != x ? x : clamp(c * {_horner(ERF_P)} / {_horner(ERF_Q)}, -1.0f, 1.0f);
}}
""",
    "floor_mod": """\
float floor_mod(const float a, const float b)
{
    // Not a - b * floor(a / b), which is not a number for infinite b.
    const float rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
""",
    "whole_power": """\
long whole_power(long base, long exponent)
{
    // Of the numbers with a negative exponent only 1 and -1 are whole.
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    long power = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) power *= base;
        base *= base;
    }
    return power;
}
""",
}


def _call(function: str) -> Expression:
    return lambda node, *inputs: f"{function}({', '.join(inputs)})"


def _infix(operator: str) -> Expression:
    return lambda node, a, b: f"({a} {operator} {b})"


def _number(value: float) -> str:
    """A float literal. The text is a part of the program, so that equal attributes mean equal programs."""
    return f"{value!r}f" if abs(value) < 3e38 else ("-INFINITY" if value < 0 else "INFINITY")


def _is_float(node: Node) -> bool:
    return node.get_input_element_type(0).is_real()


def _extreme(for_floats: str, for_integers: str) -> Expression:
    return lambda node, a, b: f"{for_floats if _is_float(node) else for_integers}({a}, {b})"


def _divide(node: Node, a: str, b: str) -> str:
    if _is_float(node):
        return f"({a} / {b})"
    if not node.m_pythondiv or not node.get_input_element_type(0).is_signed():
        return f"({a} / {b})"
    return f"({a} / {b} - ((({a} % {b}) != 0) && (({a} < 0) != ({b} < 0))))"


def _floor_mod(node: Node, a: str, b: str) -> str:
    if _is_float(node):
        return f"floor_mod({a}, {b})"
    if not node.get_input_element_type(0).is_signed():
        return f"({a} % {b})"
    return f"((({a} % {b}) + {b}) % {b})"


def _power(node: Node, a: str, b: str) -> str:
    return f"pow({a}, {b})" if _is_float(node) else f"whole_power({a}, {b})"


def _clamp(node: Node, x: str) -> str:
    if _is_float(node):
        return f"fmin(fmax({x}, {_number(node.min_value)}), {_number(node.max_value)})"
    return f"clamp((long){x}, (long){int(max(node.min_value, -(2**62)))}, (long){int(min(node.max_value, 2**62))})"


def _round(node: Node, x: str) -> str:
    return f"rint({x})" if node.mode == "half_to_even" else f"round({x})"


def _gelu(node: Node, x: str) -> str:
    if node.approximation_mode == "erf":
        return f"(0.5f * {x} * (1.0f + smooth_erf({x} * 0.70710678f)))"
    return f"(0.5f * {x} * (1.0f + tanh(0.79788456f * ({x} + 0.044715f * {x} * {x} * {x}))))"


def _convert(node: Node, x: str) -> str:
    if node.destination_type is Type.boolean:
        return f"({x} != 0)"
    return f"(({C_TYPES[node.destination_type]}){x})"


_SIGMOID = "(1.0f / (1.0f + exp(-({}))))"

_EXPRESSIONS: dict[type[Node], Expression] = {
    ops.Abs: lambda node, x: f"fabs({x})" if _is_float(node) else f"({x} < 0 ? -{x} : {x})",
    ops.Acos: _call("acos"), ops.Asin: _call("asin"), ops.Atan: _call("atan"), ops.Ceiling: _call("ceil"),
    ops.Cos: _call("cos"), ops.Cosh: _call("cosh"), ops.Erf: _call("smooth_erf"), ops.Exp: _call("exp"),
    ops.Floor: _call("floor"), ops.Log: _call("log"), ops.Sin: _call("sin"), ops.Sinh: _call("sinh"),
    ops.Sqrt: _call("sqrt"), ops.Tan: _call("tan"), ops.Tanh: _call("tanh"),
    ops.Negative: lambda node, x: f"(-{x})",
    ops.Relu: lambda node, x: f"fmax({x}, 0.0f)" if _is_float(node) else f"({x} > 0 ? {x} : 0)",
    ops.Sigmoid: lambda node, x: _SIGMOID.format(x),
    ops.PRelu: lambda node, x, slope: f"({x} > 0 ? {x} : {slope} * {x})",
    ops.Sign: lambda node, x: f"(isnan({x}) ? {x} : sign({x}))" if _is_float(node) else f"(({x} > 0) - ({x} < 0))",
    ops.Mish: lambda node, x: f"({x} * tanh(log1p(exp({x}))))",
    ops.SoftPlus: lambda node, x: f"({x} > 20.0f ? {x} : log1p(exp({x})))",
    ops.SoftSign: lambda node, x: f"({x} / (1.0f + fabs({x})))",
    ops.HSwish: lambda node, x: f"({x} * fmin(fmax({x} + 3.0f, 0.0f), 6.0f) / 6.0f)",
    ops.HSigmoid: lambda node, x: f"(fmin(fmax({x} + 3.0f, 0.0f), 6.0f) / 6.0f)",
    ops.HardSigmoid: lambda node, x, a, b: f"fmin(fmax({a} * {x} + {b}, 0.0f), 1.0f)",
    ops.Swish: lambda node, x, beta="1.0f": f"({x} * {_SIGMOID.format(f'{beta} * {x}')})",
    ops.Elu: lambda node, x: f"({x} > 0 ? {x} : {_number(node.alpha)} * expm1({x}))",
    ops.Selu: lambda node, x, a, scale: f"({scale} * ({x} > 0 ? {x} : {a} * expm1({x})))",
    ops.Round: _round, ops.Gelu: _gelu, ops.Clamp: _clamp, ops.Convert: _convert,
    ops.Add: _infix("+"), ops.Subtract: _infix("-"), ops.Multiply: _infix("*"), ops.Divide: _divide,
    ops.Maximum: _extreme("fmax", "max"), ops.Minimum: _extreme("fmin", "min"),
    ops.Mod: lambda node, a, b: f"fmod({a}, {b})" if _is_float(node) else f"({a} % {b})",
    ops.FloorMod: _floor_mod, ops.Power: _power,
    ops.SquaredDifference: lambda node, a, b: f"(({a} - {b}) * ({a} - {b}))",
    ops.Equal: _infix("=="), ops.NotEqual: _infix("!="), ops.Greater: _infix(">"), ops.GreaterEqual: _infix(">="),
    ops.Less: _infix("<"), ops.LessEqual: _infix("<="),
    ops.LogicalAnd: _infix("&&"), ops.LogicalOr: _infix("||"), ops.LogicalXor: _infix("!="),
    ops.LogicalNot: lambda node, x: f"(!{x})",
    ops.Select: lambda node, condition, a, b: f"({condition} ? {a} : {b})",
}  # fmt: skip

# Of these, only floating-point numbers make sense on the device.
_FLOATS_ONLY = (
    ops.Acos, ops.Asin, ops.Atan, ops.Ceiling, ops.Cos, ops.Cosh, ops.Erf, ops.Exp, ops.Floor, ops.Log, ops.Sin,
    ops.Sinh, ops.Sqrt, ops.Tan, ops.Tanh, ops.Sigmoid, ops.Mish, ops.SoftPlus, ops.SoftSign, ops.HSwish, ops.HSigmoid,
    ops.HardSigmoid, ops.Swish, ops.Elu, ops.Selu, ops.Round, ops.Gelu,
)  # fmt: skip


#: All operations that have an expression.
OPERATIONS = tuple(_EXPRESSIONS)


def is_elementwise(node: Node) -> bool:
    """Whether a node has an expression."""
    return type(node) in _EXPRESSIONS


def expression(node: Node, inputs: Sequence[str]) -> str:
    """The C expression of a node for the expressions of its inputs, each the name of a variable."""
    return _EXPRESSIONS[type(node)](node, *inputs)


def why_not_elementwise(node: Node) -> str | None:
    """Why an element-wise node has no expression on the device; None where it has."""
    types = [value.element_type for value in (*node.input_values(), *node.outputs())]
    strange = [t for t in types if t not in C_TYPES]
    if strange:
        return f"no kernel for elements of type {strange[0]}"
    if isinstance(node, _FLOATS_ONLY) and not _is_float(node):
        return f"no kernel for {node.type_info.name} of {types[0]}"
    if isinstance(node, ops.PRelu) and not node.get_input_partial_shape(0).has_rank:
        return "the rank of the data is not known"
    if getattr(node, "auto_broadcast", "numpy") != "numpy":
        return None if len({str(v.partial_shape) for v in node.input_values()}) == 1 else "auto_broadcast is none"
    return None
