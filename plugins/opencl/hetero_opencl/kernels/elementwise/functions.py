"""OpenCL C helper functions for element-wise expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence


def _horner(coefficients: Sequence[float], kind: str = "") -> str:
    """Return the value of a polynomial at ``s``, with coefficients in f32, or cast by ``kind``."""
    last, *others = (f"{kind}{number!r}" if kind else f"{number!r}f" for number in reversed(coefficients))
    for coefficient in others:
        last = f"({last} * s + {coefficient})"
    return last


# erf(x) is approximated by x · P(x²) / Q(x²) up to the point where it is 1 in f32. The coefficients are our own
# least-squares fit, weighted for an even error: 3e-8 in exact arithmetic, 4e-7 computed in f32.
ERF_END = 3.95
ERF_P = (1.12837907, 0.191660149, 0.0529017455, 0.00381781756, 0.000285762269, 2.03519369e-06)
ERF_Q = (1.0, 0.503186515, 0.114616573, 0.0150713249, 0.00117481104, 3.79867092e-05)

# OpenCL's erf has branches, which prevent vectorization on CPUs; smooth_erf is a rational function without branches.
# half_rounded is arithmetic for the same reason; a round trip through memory takes seven times as long.
_FLOAT_FUNCTIONS = {
    "smooth_erf": f"""\
float smooth_erf(const float x)
{{
    const float c = clamp(x, -{ERF_END}f, {ERF_END}f);
    const float s = c * c;
    return x != x ? x : clamp(c * {_horner(ERF_P)} / {_horner(ERF_Q)}, -1.0f, 1.0f);
}}
""",
    "half_rounded": """\
float half_rounded(const float x)
{
    const uint bits = as_uint(x);
    const float size = fabs(x);
    // Below 2^-14 the step is 2^-24, that of floats between 0.5 and 1.
    const float small = copysign((size + 0.5f) - 0.5f, x);
    const float normal = as_float((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000);
    return size < 65520.0f ? (size < 0x1p-14f ? small : normal) : x * INFINITY;
}
""",
    "scaled": """\
float scaled(const float x, const float scale, const float shift)
{
    // The product is rounded first, as this decides ties between two f8 numbers.
#pragma OPENCL FP_CONTRACT OFF
    return x * scale - shift;
}
""",
    "power_of_two": """\
float power_of_two(const float x, const uint threshold, const int saturate)
{
    // The exponent of x, plus one if the mantissa reaches the threshold, within the range of f8e8m0.
    const uint bits = as_uint(x) & 0x7fffffff;
    if (bits > 0x7f800000) return NAN;
    int exponent = bits >> 23;
    uint mantissa = bits & 0x7fffff;
    if (exponent == 0 && bits != 0) {
        const int shift = clz(mantissa) - 8;
        exponent = 1 - shift;
        mantissa = mantissa << shift & 0x7fffff;
    }
    const int code = exponent + (mantissa >= threshold);
    const int held = bits == 0 ? 0 : clamp(code, 0, 254);
    if (bits != 0 && held != code && !saturate) return NAN;
    return as_float(held ? (uint)held << 23 : 1u << 22);
}
""",
}

# K is float or double.
_REAL_FUNCTIONS = {
    "floor_mod": """\
K floor_mod_K(const K a, const K b)
{
    // Not a - b * floor(a / b), which is NaN for infinite b.
    const K rest = fmod(a, b);
    if (rest == 0)
        return copysign((K)0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
""",
    "saturated": """\
K saturated_K(const K x, const K limit)
{
    return x > limit ? limit : x < -limit ? -limit : x;
}
""",
    "fake_quantize": """\
K fake_quantize_K(const K x, const K input_low, const K input_high, const K output_low, const K output_high,
                  const K steps)
{
    const K level = rint((x - input_low) / (input_high - input_low) * steps);
    const K between = level / steps * (output_high - output_low) + output_low;
    return x <= fmin(input_low, input_high) ? output_low : x > fmax(input_low, input_high) ? output_high : between;
}
""",
}

# Rational functions of the quantile of the normal distribution: M. Wichura, "Algorithm AS 241", Applied Statistics 37,
# 1988. The center is |x| <= 0.85, the others are tails.
_QUANTILES = {
    "center": (
        (3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
         45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
        (1.0, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077, 21213.794301586595867,
         39307.89580009271061, 28729.085735721942674, 5226.495278852545925),
    ),
    "near": (
        (1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
         1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4),
        (1.0, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455, 0.14810397642748007459,
         0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9),
    ),
    "far": (
        (6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123,
         0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
        (1.0, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525, 7.868691311456132591e-4,
         1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15),
    ),
}  # fmt: skip


def _quantile(part: str) -> str:
    over, under = (_horner(coefficients, "(K)") for coefficients in _QUANTILES[part])
    return f"{over} / {under}"


_REAL_FUNCTIONS["inverse_erf"] = f"""\
K inverse_erf_K(const K x)
{{
    const K root = (K)0.7071067811865476;
    K s = (K)0.180625 - x * x / 4;
    if (fabs(x) <= (K)0.85)
        return root * x / 2 * {_quantile("center")};
    const K tail = sqrt(-log((1 - fabs(x)) / 2));
    if (isinf(tail))
        return copysign(tail, x);
    s = tail - (tail <= 5 ? (K)1.6 : 5);
    const K size = tail <= 5 ? {_quantile("near")} : {_quantile("far")};
    return copysign(root * size, x);
}}
"""

# K is an integer type, U the unsigned type that wraps around instead of overflowing. CPUs trap on a division by 0, and
# on that of the lowest number by -1.
_INTEGER_FUNCTIONS = {
    "quotient": """\
K quotient_K(const K a, const K b)
{
    const int negates = (K)-1 < 0 && b == (K)-1;
    const K divisor = negates ? (K)1 : b;
    return b == 0 ? 0 : negates ? (K)(0 - (U)a) : a / (b == 0 ? (K)1 : divisor);
}
""",
    "remainder": """\
K remainder_K(const K a, const K b)
{
    return (K)((U)a - (U)quotient_K(a, b) * (U)b) * (b != 0);
}
""",
    "floor_quotient": """\
K floor_quotient_K(const K a, const K b)
{
    return quotient_K(a, b) - (remainder_K(a, b) != 0 && (a < 0) != (b < 0));
}
""",
    "floor_mod": """\
K floor_mod_K(const K a, const K b)
{
    const K rest = remainder_K(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? (K)((U)rest + (U)b) : rest;
}
""",
    "whole_power": """\
K whole_power_K(const K base, K exponent)
{
    // With a negative exponent only the powers of 1 and -1 are not 0.
    if (exponent < 0) return base == 1 ? 1 : base == (K)-1 ? (exponent & 1 ? (K)-1 : 1) : 0;
    U power = 1, square = base;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) power *= square;
        square *= square;
    }
    return power;
}
""",
    "shifted_up": """\
K shifted_up_K(const K x, const K places)
{
    return places >= 0 && places < 8 * (int)sizeof(K) ? (K)((U)x << places) : 0;
}
""",
    "shifted_down": """\
K shifted_down_K(const K x, const K places)
{
    return places >= 0 && places < 8 * (int)sizeof(K) ? x >> places : x < 0 ? (K)-1 : 0;
}
""",
}

#: The unsigned type in which sums and products of each integer type are computed.
UNSIGNED = {
    **dict.fromkeys(("char", "uchar", "short", "ushort", "int", "uint"), "uint"), "long": "ulong", "ulong": "ulong",
}  # fmt: skip


def _instantiate(texts: dict[str, str], kind: str) -> dict[str, str]:
    """Instantiate templates for the C type ``kind``, keyed by the start of a call, such as ``quotient_int(``."""
    words = {"K": kind, "U": UNSIGNED.get(kind, kind)}

    def replace(text: str) -> str:
        return re.sub(r"(?<![A-Za-z0-9])[KU](?![A-Za-z0-9_])", lambda match: words[match.group()], text)

    return {replace(f"{name}_K("): replace(text) for name, text in texts.items()}


#: Functions by the beginnings of their calls. A function comes after those that it calls.
_FUNCTIONS = {f"{name}(": text for name, text in _FLOAT_FUNCTIONS.items()}
for _kind in ("float", "double"):
    _FUNCTIONS |= _instantiate(_REAL_FUNCTIONS, _kind)
for _kind in UNSIGNED:
    _FUNCTIONS |= _instantiate(_INTEGER_FUNCTIONS, _kind)


def functions_called(text: str) -> str:
    """Return the definitions of all functions that a text calls, directly or indirectly."""
    definitions = ""
    for call, function in reversed(_FUNCTIONS.items()):
        if call in text or call in definitions:
            definitions = function + definitions
    return definitions


#: Functions without branches, which vectors can be passed to as well.
_VECTOR_FUNCTIONS = ("smooth_erf(", "fake_quantize_float(")


def vector_form(text: str) -> str | None:
    """Return an expression of float variables for vectors, or None if it calls a function without a vector form."""
    scalar = functions_called(text)
    for call in _VECTOR_FUNCTIONS:
        text, scalar = text.replace(call, _of_vectors(call)), scalar.replace(_FUNCTIONS[call], "")
    return None if scalar else text


def vector_functions_called(text: str, width: int) -> str:
    """Return the definitions of the functions that expressions of ``vector_form`` call."""
    called = [call for call in _VECTOR_FUNCTIONS if _of_vectors(call) in text]
    texts = (_FUNCTIONS[call].replace(call, _of_vectors(call)) for call in called)
    return "".join(re.sub(r"\bfloat\b", f"float{width}", text) for text in texts)


def _of_vectors(call: str) -> str:
    return call.replace("(", "_vector(")
