"""Conversions between element types as C expressions. Rounding to narrow floats happens when the result is stored."""

from __future__ import annotations

import ml_dtypes

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero_opencl.kernels.movement.sub_byte_types import element_of, rounded

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
