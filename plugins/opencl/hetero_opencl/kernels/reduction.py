"""Reductions: one kernel over merged axes, that combines terms by macros."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import C_TYPES, source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# The kernel has loops for so many kept and so many reduced axes, which is enough for twice the rank.
MOST_AXES = 4
# From this length on a run of neighbours is combined in vectors.
_LONG_RUN = 32
_WIDTH = 16


class Formula(NamedTuple):
    """What is combined, as OpenCL C: ``x`` is an element, or the result; ``elements`` their number."""

    identity: str
    combine: str
    term: str = "(x)"
    finish: str = "(x)"


_SUM, _PRODUCT = ("0", "((a) + (b))"), ("1", "((a) * (b))")
_ABSOLUTE = "((x) < 0 ? -(x) : (x))"
_LOGICAL = (ops.ReduceLogicalAnd, ops.ReduceLogicalOr)


def formula(node: Node) -> Formula:
    is_float = node.get_input_element_type(0) is Type.f32
    formulas = {
        ops.ReduceSum: Formula(*_SUM),
        ops.ReduceMean: Formula(*_SUM, finish="((x) / elements)" if is_float else "((x) / max(elements, 1))"),
        ops.ReduceProd: Formula(*_PRODUCT),
        ops.ReduceMax: Formula("-INFINITY" if is_float else "LONG_MIN", "max(a, b)"),
        ops.ReduceMin: Formula("INFINITY" if is_float else "LONG_MAX", "min(a, b)"),
        ops.ReduceL1: Formula(*_SUM, term="fabs(x)" if is_float else _ABSOLUTE),
        ops.ReduceL2: Formula(*_SUM, term="((x) * (x))", finish="sqrt(x)" if is_float else "root(x)"),
        ops.ReduceLogicalAnd: Formula("1", "((a) & (b))"),
        ops.ReduceLogicalOr: Formula("0", "((a) | (b))"),
    }
    return formulas[type(node)]


def refuse(node: Node) -> str | None:
    element_type, shape = node.get_input_element_type(0), node.get_input_partial_shape(0)
    is_boolean = element_type is Type.boolean
    if element_type not in C_TYPES or element_type is Type.u64 or is_boolean != isinstance(node, _LOGICAL):
        return f"no kernel does this to elements of type {element_type}"
    if not shape.has_rank:
        return "the rank of its data is not known"
    if len(shape) > 2 * MOST_AXES:
        return f"its data has {len(shape)} dimensions, and kernels take {2 * MOST_AXES}"
    return None


@lowers(
    ops.ReduceMean, ops.ReduceSum, ops.ReduceProd, ops.ReduceMax, ops.ReduceMin, ops.ReduceL1, ops.ReduceL2,
    ops.ReduceLogicalAnd, ops.ReduceLogicalOr, unless=refuse,
)  # fmt: skip
def reduce(lowering: Lowering, node: Node) -> None:
    data, output = node.input_value(0), node.output(0)
    shape = tuple(data.shape)
    kept, reduced = kept_and_reduced(shape, set(node.axes(len(shape))))
    is_float = data.element_type is Type.f32
    run = is_float and reduced[0][1] == 1 and reduced[0][0] >= _LONG_RUN
    # On a CPU vectors go across the columns too; on a GPU neighbouring work-items are neighbouring columns.
    columns = is_float and lowering.device.is_cpu and kept[0][1] == 1 and kept[0][0] >= _WIDTH
    width = _WIDTH if columns else 1
    count = math.prod(output.shape)
    if count:
        items = count // kept[0][0] * -(-kept[0][0] // width)
        elements = math.prod(length for length, _ in reduced)
        numbers = [number for axis in (*kept, *reduced) for number in axis]
        arguments = [lowering.buffer(data), lowering.buffer(output), *map(np.int32, (*numbers, elements))]
        lowering.launch_flat(_text(node, width, run), "reduce", arguments, items)


def _text(node: Node, width: int, run: bool) -> str:
    element_type = node.get_input_element_type(0)
    values = "long"  # for all integers: a mean or a root needs the whole sum, and what is more falls off at the end
    if element_type is Type.f32:
        values = "float16" if width > 1 else "float"
    macros = {
        "ELEMENT": C_TYPES[element_type],
        "VALUES": values,
        "WIDTH": width,
        "IDENTITY": formula(node).identity,
        "COMBINE(a, b)": formula(node).combine,
        "TERM(x)": formula(node).term,
        "FINISH(x)": formula(node).finish,
    }
    return source("reduction", **macros, **({"RUN": 1} if run else {}))


def kept_and_reduced(shape: tuple[int, ...], axes: set[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Lengths and strides of the axes that are kept and of those that are reduced, innermost first.

    Adjacent axes of a kind are merged, and both lists filled up with axes of length 1 to MOST_AXES.
    """
    merged: list[tuple[int, int, bool]] = []
    stride = 1
    for axis in reversed(range(len(shape))):
        length, is_reduced = shape[axis], axis in axes
        if length != 1:
            if merged and merged[-1][2] == is_reduced:
                before = merged.pop()
                merged.append((before[0] * length, before[1], is_reduced))
            else:
                merged.append((length, stride, is_reduced))
        stride *= length
    kept, reduced = ([(n, step) for n, step, is_reduced in merged if is_reduced is kind] for kind in (False, True))
    return kept + [(1, 0)] * (MOST_AXES - len(kept)), reduced + [(1, 0)] * (MOST_AXES - len(reduced))
