"""Reductions over any axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import C_TYPES, source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


class Rule(NamedTuple):
    """How numbers are combined, in C: the start, one more number x, two partial results, and the end."""

    start: str
    take: str
    join: str
    end: str = "(sum)"


_LOWEST = {"float": "-INFINITY", "int": "INT_MIN", "long": "LONG_MIN", "char": "CHAR_MIN", "short": "SHRT_MIN"}
_HIGHEST = {
    "float": "INFINITY", "int": "INT_MAX", "long": "LONG_MAX", "char": "CHAR_MAX", "short": "SHRT_MAX",
    "uchar": "UCHAR_MAX", "ushort": "USHRT_MAX", "uint": "UINT_MAX", "ulong": "ULONG_MAX",
}  # fmt: skip


def _rule(node: Node, kind: str) -> Rule:
    smallest, largest = ("fmin", "fmax") if kind == "float" else ("min", "max")
    absolute = "fabs(x)" if kind == "float" else "(x < 0 ? -x : x)"
    return {
        ops.ReduceSum: Rule("0", "(sum + x)", "(sum + x)"),
        ops.ReduceMean: Rule("0", "(sum + x)", "(sum + x)", "(sum / length)"),
        ops.ReduceProd: Rule("1", "(sum * x)", "(sum * x)"),
        ops.ReduceMax: Rule(_LOWEST.get(kind, "0"), *[f"{largest}((S)(sum), (S)(x))"] * 2),
        ops.ReduceMin: Rule(_HIGHEST[kind], *[f"{smallest}((S)(sum), (S)(x))"] * 2),
        ops.ReduceL1: Rule("0", f"(sum + {absolute})", "(sum + x)"),
        ops.ReduceL2: Rule("0", "(sum + x * x)", "(sum + x)", "sqrt((float)sum)"),
        ops.ReduceLogicalAnd: Rule("1", "(sum && x)", "(sum && x)"),
        ops.ReduceLogicalOr: Rule("0", "(sum || x)", "(sum || x)"),
    }[type(node)]


def _refusal(node: Node) -> str | None:
    if node.get_input_element_type(0) not in C_TYPES:
        return f"no kernel for elements of type {node.get_input_element_type(0)}"
    return None if node.get_input_partial_shape(0).has_rank else "the rank of the data is not known"


@lowers(
    ops.ReduceSum, ops.ReduceMean, ops.ReduceProd, ops.ReduceMax, ops.ReduceMin, ops.ReduceL1, ops.ReduceL2,
    ops.ReduceLogicalAnd, ops.ReduceLogicalOr, unless=_refusal,
)  # fmt: skip
def reduction(lowering: Lowering, node: Node) -> None:
    shape = node.get_input_shape(0)
    axes = node.axes(len(shape))
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    kept = _merged([(shape[a], strides[a]) for a in range(len(shape)) if a not in axes])
    reduced = _merged([(shape[a], strides[a]) for a in axes_in_order(axes)]) or [(1, 1)]
    kind = C_TYPES[node.get_input_element_type(0)]
    rule = _rule(node, kind)
    text = source(
        "reduction", KEPT=len(kept), REDUCED=len(reduced), FLOATS=int(kind == "float"), T=kind, R=kind,
        S=kind if kind == "float" else "long", START=rule.start, **{
            "TAKE(sum, x)": rule.take, "JOIN(sum, x)": rule.join, "END(sum)": rule.end,
        },
    )  # fmt: skip
    numbers = [n for pairs in (kept, reduced) for part in zip(*pairs) for n in part]
    length = int(np.prod([size for size, _ in reduced]))
    arguments = [lowering.buffer(node.input_value(0)), lowering.buffer(node.output(0))]
    arguments += [lowering.constant(np.array(numbers, np.int32)), np.int32(length)]
    lowering.launch_flat(text, "reduction", arguments, int(np.prod(node.shape)))


def axes_in_order(axes: tuple[int, ...]) -> list[int]:
    """Each axis once, from the first to the last."""
    return sorted(set(axes))


def _merged(axes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Lengths and strides of as few axes as visit the same elements in the same order."""
    merged: list[tuple[int, int]] = []
    for length, stride in axes:
        if length == 1:
            continue
        if merged and merged[-1][1] == length * stride:
            merged[-1] = (merged[-1][0] * length, stride)
        else:
            merged.append((length, stride))
    return merged
