"""Values of the work-items of a wave: a number that all have, or an array with one for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from hetero_opencl.estimate.llvm_ir import Instruction

# The value of a work-item, or those of all in an i64 array. Floats are not computed: all are 0.
Value = int | np.ndarray

_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "ashr": lambda a, b: a >> b,
}
_COMPARED: dict[str, Callable[[Value, Value], Value]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def is_uniform(value: Value) -> bool:
    return not isinstance(value, np.ndarray)


def choose(mask: Value, chosen: Value, other: Value) -> Value:
    """Return ``chosen`` for the work-items of the mask, and ``other`` for the rest."""
    if not isinstance(mask, np.ndarray):
        return chosen if mask else other
    if is_uniform(chosen) and is_uniform(other) and chosen == other:
        return chosen
    return np.where(mask != 0, chosen, other)


def wrapped(value: Value, scalar: str) -> Value:
    """Return a value as a signed integer of its type; i1 is 0 or 1."""
    bits = int(scalar[1:])
    if bits == 1:
        return value & 1
    if bits >= 64:
        return value
    half = 1 << (bits - 1)
    return cast(Value, ((value + half) & (2 * half - 1)) - half)


def unsigned(value: Value, scalar: str) -> Value:
    bits = int(scalar[1:]) if scalar != "ptr" else 64
    return value & ((1 << bits) - 1) if bits < 64 else value


def compute(instruction: Instruction, values: list[Value]) -> Value:
    """Return the result of an integer instruction without memory. Unknown ones give 0."""
    opcode, _, predicate = instruction.opcode.partition(" ")
    scalar = instruction.type.scalar
    if opcode == "icmp":
        if predicate[0] == "u":
            values = [unsigned(value, scalar) for value in values]
        result = _COMPARED[predicate if predicate in ("eq", "ne") else predicate[1:]](*values)
        return result.astype(np.int64) if isinstance(result, np.ndarray) else int(result)
    if opcode == "fcmp":  # of zeros
        return int(predicate in ("oeq", "ole", "oge", "ord", "ueq", "ule", "uge", "true"))
    if instruction.type.is_float or instruction.type.count > 1:
        return 0
    if opcode in _BINARY:
        return wrapped(_BINARY[opcode](*values), scalar)
    if opcode in ("sdiv", "srem"):
        return wrapped(_divided(opcode, *values), scalar)
    if opcode in ("udiv", "urem", "lshr"):
        a, b = unsigned(values[0], scalar), unsigned(values[1], scalar)
        if opcode == "lshr":
            return wrapped(a >> b, scalar)
        return wrapped(_divided("sdiv" if opcode == "udiv" else "srem", a, b), scalar)
    if opcode == "select":
        return choose(*values)
    if opcode == "trunc":
        return wrapped(values[0], scalar)
    if opcode == "zext":
        return unsigned(values[0], instruction.source)
    if opcode in ("sext", "freeze", "bitcast", "addrspacecast", "ptrtoint", "inttoptr"):
        return values[0]
    return 0


def _divided(opcode: str, a: Value, b: Value) -> Value:
    """Return the quotient rounded towards zero, or the remainder. A divisor of 0 gives 0."""
    b = choose(cast(Value, b == 0), 1, b)
    size = cast(Value, np.abs(a) // np.abs(b))
    quotient = choose(cast(Value, (a < 0) != (b < 0)), -size, size)
    return quotient if opcode == "sdiv" else a - quotient * b


def minimum(a: Value, b: Value) -> Value:
    return np.minimum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else min(a, b)


def maximum(a: Value, b: Value) -> Value:
    return np.maximum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else max(a, b)
