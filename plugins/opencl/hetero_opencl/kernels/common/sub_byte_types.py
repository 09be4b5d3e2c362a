"""Element types without a C type, stored one per byte: sub-byte integers and narrow floats.

Tables are derived from numpy's conversions, so that results are identical. ``numbers`` holds the float bits of each
code; ``starts`` holds the float bits of the smallest number that is rounded to each code from 1 on.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from hetero.core.packing import as_numbers
from hetero.core.types import Type
from hetero_opencl.kernels.common.definition import ELEMENTS, Element

_INTEGERS = (Type.i2, Type.i4, Type.u1, Type.u2, Type.u3, Type.u4, Type.u6)
_FLOATS = (
    Type.f4e2m1, Type.f6e2m3, Type.f6e3m2, Type.f8e4m3, Type.f8e5m2, Type.f8e8m0, Type.f8e4m3fnuz, Type.f8e5m2fnuz,
)  # fmt: skip
# The bits of infinity as a float; larger ones are NaN.
_INFINITY_BITS = 0x7F800000

_FLOAT_PRELUDE = """\
constant uint {name}_numbers[] = {{{numbers}}};
constant uint {name}_starts[] = {{{starts}}};
float {name}_number(const uchar code)
{{
    return as_float({name}_numbers[code & {mask}]);
}}
uchar {name}_code(const float number)
{{
    const uint bits = as_uint(number), size = bits & 0x7fffffff;
    if (size > {infinite} || (size == 0 && {zero_is_nan})) return {nan};
    int code = 0;
    for (int step = {first_step}; step; step >>= 1)
        if (code + step <= {count} && {name}_starts[code + step - 1] <= size) code += step;
    return bits >> 31 == 0 ? code : code ? code | {sign} : {negative_zero};
}}
"""
_NF4_PRELUDE = """\
constant float nf4_numbers[] = {{{numbers}}};
float nf4_number(const uchar code)
{{
    return nf4_numbers[code & 15];
}}
uchar nf4_code(const float number)
{{
    int best = 0;
    for (int code = 1; code < 16; ++code)
        if (fabs(number - nf4_numbers[code]) < fabs(number - nf4_numbers[best])) best = code;
    return best;
}}
"""


def is_number(kind: Type) -> bool:
    """Return whether kernels can load, compute with and store elements of a type."""
    return kind in ELEMENTS or kind in _INTEGERS or kind in _FLOATS or kind is Type.nf4


@functools.cache
def element_of(kind: Type) -> Element:
    """Return how kernels access elements of a type for which ``is_number`` holds. Types of this module lack LOAD16."""
    if kind in ELEMENTS:
        return ELEMENTS[kind]
    if kind in _INTEGERS:
        shift, value = 8 - kind.bitwidth, "char" if kind.is_signed() else "uchar"
        return Element(
            "uchar", value, f"(({value})((p)[i] << {shift}) >> {shift})", f"((p)[i] = (v) & {(1 << kind.bitwidth) - 1})"
        )
    prelude = _nf4_prelude() if kind is Type.nf4 else _float_prelude(kind)
    return Element("uchar", "float", f"{kind}_number((p)[i])", f"((p)[i] = {kind}_code(v))", prelude=prelude)


def elements_of(kinds: Iterable[Type]) -> dict[Type, Element]:
    return {kind: element_of(kind) for kind in kinds}


def rounded(kind: Type, text: str) -> str:
    """Return the expression ``text``, in the type of computation, rounded to what an element of the type can hold."""
    if kind is Type.f16:
        return f"half_rounded({text})"
    if kind is Type.bf16:
        return f"as_float((uint)bf16_bits({text}) << 16)"
    if kind in ELEMENTS:
        return text
    if kind in _INTEGERS:
        shift, value = 8 - kind.bitwidth, element_of(kind).value
        return f"(({value})(({text}) << {shift}) >> {shift})"
    return f"{kind}_number({kind}_code({text}))"


def _codes(kind: Type) -> np.ndarray:
    """Return all codes of a type, in order."""
    return np.arange(1 << kind.bitwidth, dtype=np.uint8).view(kind.to_dtype())


def _nf4_prelude() -> str:
    numbers = [f"{number!r}f" for number in as_numbers(_codes(Type.nf4)).tolist()]
    return _NF4_PRELUDE.format(numbers=", ".join(numbers))


def _float_prelude(kind: Type) -> str:
    dtype = kind.to_dtype()

    def code_of(bits: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return bits.astype(np.uint32).view(np.float32).astype(dtype).view(np.uint8)

    infinite, nan, negative_zero, zero = code_of(
        np.array([_INFINITY_BITS, _INFINITY_BITS + 1, 1 << 31, 0], np.int64)
    ).tolist()
    # Codes do not decrease with growing positive floats: find the start of each code by bisection up to infinity.
    codes = np.arange(1, infinite + 1)
    below, at = np.ones(infinite, np.int64), np.full(infinite, _INFINITY_BITS)
    while (at - below > 1).any():
        middle = (below + at) // 2
        reached = code_of(middle) >= codes
        at, below = np.where(reached, middle, at), np.where(reached, below, middle)
    return _FLOAT_PRELUDE.format(
        name=kind,
        numbers=", ".join(map(str, _codes(kind).astype(np.float32).view(np.uint32).tolist())),
        starts=", ".join(map(str, at.tolist())),
        mask=(1 << kind.bitwidth) - 1,
        infinite=_INFINITY_BITS,
        zero_is_nan=int(zero == nan),
        nan=nan,
        count=infinite,
        first_step=1 << (infinite.bit_length() - 1),
        # The sign bit of negative numbers, or NaN if the type has none.
        sign=nan if zero == nan else 1 << (kind.bitwidth - 1),
        negative_zero=negative_zero,
    )
