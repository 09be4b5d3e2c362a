"""Reductions: one kernel over merged axes; macros define how elements are combined."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.lengths.length import about, hint_of
from hetero.core.types import Type
from hetero.graph import Node
from hetero.ops.reduction import Reduction
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.kernels.common.definition import (
    ELEMENTS,
    by_family,
    first_reason,
    implements,
    lowers,
    source,
    unsupported_inputs,
)
from hetero_opencl.kernels.common.sharing import share
from hetero_opencl.lowering.implementation import (
    ROWS,
    Blocks,
    Configuration,
    Implementation,
    KernelOperation,
    Signature,
    traffic,
)
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile, Family

# Lengths and strides.
Axes = list[tuple[int, int]]
# The kernel loops over this many kept and this many reduced axes, enough for tensors of twice the rank.
MAX_AXES = 4
# Contiguous runs of at least this length are reduced in vectors.
_LONG_RUN = 32
_WIDTH = 16
# Local memory for the part of a work-item: two i64.
_LOCAL_BYTES = 16


class Formula(NamedTuple):
    """OpenCL C of a reduction: ``x`` is an element in ``term`` and the result in ``finish``, ``elements`` their number.

    ``values`` is the C type of intermediate results, if it is not that of the elements.
    """

    identity: str
    combine: str
    term: str = "(x)"
    finish: str = "(x)"
    values: str | None = None


_SUM, _PRODUCT = ("0", "((a) + (b))"), ("1", "((a) * (b))")
_LOGICAL = (ops.ReduceLogicalAnd, ops.ReduceLogicalOr)
# As in numpy, NaN wins.
_LARGEST = "((((a) > (b)) | ((a) != (a))) ? (a) : (b))"
_SMALLEST = "((((a) < (b)) | ((a) != (a))) ? (a) : (b))"


def _float_formulas(limit: str) -> dict[type[Node], Formula]:
    """Return the formulas for floats. ``limit`` is the largest number, the result of max and min of no elements."""
    return {
        ops.ReduceSum: Formula(*_SUM),
        ops.ReduceMean: Formula(*_SUM, finish="((x) / max(elements, 1))"),
        ops.ReduceProd: Formula(*_PRODUCT),
        ops.ReduceMax: Formula("-INFINITY", _LARGEST, finish=f"(elements ? (x) : (VALUES)(-{limit}))"),
        ops.ReduceMin: Formula("INFINITY", _SMALLEST, finish=f"(elements ? (x) : (VALUES)({limit}))"),
        ops.ReduceL1: Formula(*_SUM, term="fabs(x)"),
        ops.ReduceL2: Formula(*_SUM, term="((x) * (x))", finish="sqrt(x)"),
    }


def _integer_formulas(kind: Type) -> dict[type[Node], Formula]:
    """Return the formulas for integers. Sums are unsigned 64-bit integers, which wrap around."""
    limits = np.iinfo(kind.to_dtype())
    smallest = "LONG_MIN" if kind is Type.i64 else str(limits.min)
    largest = f"{limits.max}{'' if kind.is_signed() else 'U'}L"
    mean = Formula(*_SUM, finish="((x) / max(elements, 1))", values="long")
    length = Formula(*_SUM, "((ulong)(x) * (ulong)(x))", "root(x)", "ulong")
    if kind.size == 8:
        # The square of a length of 64 bits has up to 128.
        length = Formula(*_SUM, "((double)(x) * (double)(x))", "sqrt(x)", "double")
        parts = "((VALUES)((x) / max(elements, 1), (x) % max(elements, 1)))"
        mean = Formula(*_SUM, parts, "mean_of((x).s0, (x).s1, max(elements, 1))", f"{ELEMENTS[kind].value}2")
    return {
        ops.ReduceSum: Formula(*_SUM, values="ulong"),
        ops.ReduceMean: mean,
        ops.ReduceProd: Formula(*_PRODUCT, values="ulong"),
        ops.ReduceMax: Formula(smallest, "max(a, b)"),
        ops.ReduceMin: Formula(largest, "min(a, b)"),
        ops.ReduceL1: Formula(*_SUM, "((x) < 0 ? 0 - (ulong)(x) : (ulong)(x))", values="ulong"),
        ops.ReduceL2: length,
    }


def formula(node: Node) -> Formula:
    kind = node.get_input_element_type(0)
    if isinstance(node, _LOGICAL):
        is_and = isinstance(node, ops.ReduceLogicalAnd)
        return Formula("1", "((a) & (b))", "((x) != 0)") if is_and else Formula("0", "((a) | (b))", "((x) != 0)")
    if kind.is_real():
        return _float_formulas("DBL_MAX" if kind is Type.f64 else "FLT_MAX")[type(node)]
    return _integer_formulas(kind)[type(node)]


def unsupported_rank(node: Node) -> str | None:
    shape = node.get_input_partial_shape(0)
    if shape.has_rank and len(shape) > 2 * MAX_AXES:
        return f"its data has {len(shape)} dimensions, but kernels support at most {2 * MAX_AXES}"
    return None


@lowers(
    ops.ReduceMean, ops.ReduceSum, ops.ReduceProd, ops.ReduceMax, ops.ReduceMin, ops.ReduceL1, ops.ReduceL2,
    ops.ReduceLogicalAnd, ops.ReduceLogicalOr, unsupported=first_reason(unsupported_inputs(0), unsupported_rank),
    estimate=lambda operation, profile: traffic(operation) / profile.bytes_per_second + profile.launch_seconds,
)  # fmt: skip
@by_family
def reduce(lowering: Lowering, node: Reduction) -> None:
    _reduce_each(lowering, node)


@reduce.on_gpus
def _reduce_together(lowering: Lowering, node: Reduction) -> None:
    """Launch a reduction in which work-items share a result, and work-groups its parts if there are few results."""
    kept, reduced = _axes(node)
    count, elements = math.prod(node.shape), math.prod(length for length, _ in reduced)
    is_across = reduced[0][1] != 1
    lanes, results, slices = sharing = share(lowering.profile, count, elements, is_across, _LOCAL_BYTES)
    if not count or lanes == 1:
        return _reduce_each(lowering, node)
    data, output, length = node.input_value(0), node.output(0), -(-elements // slices)
    macros = {"LANES": lanes, "RESULTS": results, "ACROSS": int(is_across), "SLICED": int(slices > 1)}
    macros["ONE_AXIS"] = int(reduced[0][0] == elements)
    text = _text(node, 1, False, {**macros, "TARGET": "VALUES" if slices > 1 else "DATA"})
    slices = -(-elements // length)
    target = lowering.scratch(count * slices, _LOCAL_BYTES) if slices > 1 else output
    numbers = [*_numbers(kept, reduced), elements, slices, length, count]
    lowering.note_decision(f"{slices} parts of {lanes} work-items for each of {hint_of(count)} results")
    global_size = -(-count // results) * slices * sharing.group
    lowering.launch(text, "reduce_shared", [data, target, *numbers], [global_size], [sharing.group])
    if slices > 1:
        lowering.launch(text, "combine_slices", [target, output, elements, slices], [count * lanes], [lanes])


def _reduce_each(lowering: Lowering, node: Reduction) -> None:
    """Launch a reduction with a work-item for each result, or for neighboring ones in a vector."""
    (kept, reduced), count = _axes(node), math.prod(node.shape)
    if not count:
        return
    in_vectors = node.get_input_element_type(0).is_real()
    run = in_vectors and reduced[0][1] == 1 and about(reduced[0][0]) >= _LONG_RUN
    columns = in_vectors and lowering.profile.vector_width > 1 and kept[0][1] == 1 and kept[0][0] >= _WIDTH
    width = _WIDTH if columns else 1
    elements = math.prod(length for length, _ in reduced)
    arguments: list[Argument] = [node.input_value(0), node.output(0), *_numbers(kept, reduced), elements]
    items = count // kept[0][0] * -(-kept[0][0] // width)
    lowering.launch_rows(_text(node, width, run), "reduce", arguments, items)


def _axes(node: Reduction) -> tuple[Axes, Axes]:
    shape = tuple(node.get_input_shape(0))
    # A scalar has no axes; those that the node names are ignored.
    return kept_and_reduced(shape, set(node.axes(len(shape)) or ()) if shape else set())


def _numbers(kept: Axes, reduced: Axes) -> list[int]:
    return [number for axis in (*kept, *reduced) for number in axis]


@implements(ops.ReduceMax, ops.ReduceMin)
class ReduceAllBlocks(Implementation):
    """The extreme of all elements in blocks of channels, whose order in memory does not matter."""

    family = Family.PROCESSOR

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        shape, axes = operation.source(0).shape, operation.main.axes(len(operation.source(0).shape))
        if operation.source(0).element_type not in (Type.f32, Type.f16, Type.bf16):
            return "it reduces floats"
        if len(shape) < 3 or axes is None or len(set(axes)) != len(shape):
            return "it reduces all axes"
        is_whole = shape[1] % profile.vector_width == 0
        return None if is_whole and math.prod(shape) >= _LONG_RUN else "there are only whole blocks of channels"

    def signatures(self, operation: KernelOperation, profile: DeviceProfile) -> Iterable[Signature]:
        yield Signature((Blocks(profile.vector_width), ROWS), ROWS)

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        data, blocks = operation.source(0), Blocks(lowering.profile.vector_width)
        count = math.prod(data.shape)
        axes = [(1, 0)] * MAX_AXES + [(count, 1)] + [(1, 0)] * (MAX_AXES - 1)
        arguments: list[Argument] = [lowering.buffer(data, blocks), operation.result]
        arguments += [*(number for axis in axes for number in axis), count]
        lowering.launch_rows(_text(operation.main, 1, True), "reduce", arguments, 1)


def _text(node: Node, width: int, run: bool, shared: Mapping[str, object] = MappingProxyType({"LANES": 1})) -> str:
    kind = node.get_input_element_type(0)
    wide = ELEMENTS[kind].value if kind.is_real() else "long" if kind.is_signed() else "ulong"
    macros: dict[str, object] = {} if kind.is_real() else {"WHOLE": wide}
    value = wide if width == 1 else f"{wide}{width}"
    if run:
        macros |= {"RUN": 1, **{f"VALUE{lanes}": f"{wide}{lanes}" for lanes in (2, 4, 8)}}
    parts = formula(node)
    macros |= {
        "VALUE": value,
        "VALUES": parts.values or value,
        "WIDTH": width,
        **shared,
        "IDENTITY": parts.identity,
        "COMBINE(a, b)": parts.combine,
        "TERM(x)": parts.term,
        "FINISH(x)": parts.finish,
    }
    prelude = ELEMENTS[Type.f64].prelude if parts.values == "double" else ""
    return prelude + source("reduction", {"DATA": kind}, **macros)


def kept_and_reduced(shape: tuple[int, ...], axes: set[int]) -> tuple[Axes, Axes]:
    """Return (length, stride) of the kept axes and of the reduced axes, innermost first.

    Adjacent axes of the same kind are merged, and both lists are padded to MAX_AXES with axes of length 1. Raises
    UnsupportedOperationError if there are more.
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
    if max(len(kept), len(reduced)) > MAX_AXES:
        raise UnsupportedOperationError(f"kernels support {2 * MAX_AXES} dimensions, but the data has {len(shape)}")
    return kept + [(1, 0)] * (MAX_AXES - len(kept)), reduced + [(1, 0)] * (MAX_AXES - len(reduced))
