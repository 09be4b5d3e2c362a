"""The C functions that element-wise expressions call besides those of OpenCL C."""

from __future__ import annotations

import re
from collections.abc import Sequence


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

# OpenCL's own erf has branches, which keep compilers for CPUs from computing many at once; smooth_erf is a quotient of
# polynomials. half_rounded is arithmetic for the same reason: by way of memory it takes seven times as long.
_OF_FLOATS = {
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
    // What is below 2^-14 has steps of 2^-24, as floats between 0.5 and 1 have.
    const float small = copysign((size + 0.5f) - 0.5f, x);
    const float normal = as_float((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000);
    return size < 65520.0f ? (size < 0x1p-14f ? small : normal) : x * INFINITY;
}
""",
    "scaled": """\
float scaled(const float x, const float scale, const float shift)
{
    // With the product rounded, which decides to which side a number between two of f8 goes.
#pragma OPENCL FP_CONTRACT OFF
    return x * scale - shift;
}
""",
    "power_of_two": """\
float power_of_two(const float x, const uint threshold, const int saturate)
{
    // The exponent of x, or one more where its mantissa reaches the threshold, as far as f8e8m0 goes.
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
_OF_BOTH = {
    "floor_mod": """\
K floor_mod_K(const K a, const K b)
{
    // Not a - b * floor(a / b), which is not a number for infinite b.
    const K rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
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

# K is an integer type, U the unsigned one that wraps around instead of overflowing. Processors stop at a division by
# 0, and at that of the least number by -1.
_OF_INTEGERS = {
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
    // Of the numbers with a negative exponent only 1 and -1 are whole.
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

#: The unsigned type that additions and products of each integer type are computed in.
UNSIGNED = {
    **dict.fromkeys(("char", "uchar", "short", "ushort", "int", "uint"), "uint"), "long": "ulong", "ulong": "ulong",
}  # fmt: skip


def _of_kind(texts: dict[str, str], kind: str) -> dict[str, str]:
    """The functions with a kind for K, by the beginnings of their calls."""
    words = {"K": kind, "U": UNSIGNED.get(kind, kind)}

    def told(text: str) -> str:
        return re.sub(r"(?<![A-Za-z0-9])[KU](?![A-Za-z0-9_])", lambda found: words[found.group()], text)

    return {told(f"{name}_K("): told(text) for name, text in texts.items()}


#: By the beginnings of their calls; what a function calls comes before it.
_FUNCTIONS = {f"{name}(": text for name, text in _OF_FLOATS.items()}
for _kind in ("float", "double"):
    _FUNCTIONS |= _of_kind(_OF_BOTH, _kind)
for _kind in UNSIGNED:
    _FUNCTIONS |= _of_kind(_OF_INTEGERS, _kind)


def functions_called(text: str) -> str:
    """The functions above that a text calls, and those that they call."""
    found = ""
    for call, function in reversed(_FUNCTIONS.items()):
        if call in text or call in found:
            found = function + found
    return found
