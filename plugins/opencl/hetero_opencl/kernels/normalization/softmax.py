"""Softmax and LogSoftmax."""

from __future__ import annotations

import math
from typing import NamedTuple

from hetero import ops
from hetero.core.lengths.length import hint_of
from hetero.core.types import Type
from hetero.graph import Node
from hetero_opencl.kernels.common.definition import (
    ELEMENTS,
    by_family,
    lowers,
    source,
    template,
    unsupported_non_float,
    wide_type,
)
from hetero_opencl.kernels.common.sharing import share
from hetero_opencl.lowering.lowering import Lowering

_Softmax = ops.Softmax | ops.SoftmaxV1 | ops.LogSoftmax
# Neighboring rows in a vector.
_WIDTH = 16


class _RowSizes(NamedTuple):
    """The number of rows, their length, and the step between elements of a row."""

    number: int
    length: int
    inner: int


def _rows_of(node: _Softmax) -> _RowSizes:
    shape = node.shape
    axis = node.axis % len(shape)
    length, inner = shape[axis], math.prod(shape[axis + 1 :])
    return _RowSizes(math.prod(shape[:axis]) * inner if length else 0, length, inner)


@lowers(ops.Softmax, ops.SoftmaxV1, ops.LogSoftmax, unsupported=unsupported_non_float)
@by_family
def softmax(lowering: Lowering, node: _Softmax) -> None:
    if node.get_element_type() is Type.f64:
        return _softmax_each(lowering, node, "exp")
    _softmax_each(lowering, node, "exp_of_negative", template("exponential"))


@softmax.on_gpus
def _softmax_together(lowering: Lowering, node: _Softmax) -> None:
    """Launch a softmax in which work-items share a row, and work-groups its parts if there are few rows."""
    (count, length, inner), wide = _rows_of(node), wide_type(node.get_element_type())
    lanes, together, slices = sharing = share(lowering.profile, count, length, inner != 1, wide.size, passes=3)
    if not count or lanes == 1:
        return _softmax_each(lowering, node, "exp")  # the library's is fast on GPUs
    data, output = node.input_value(0), node.output(0)
    part = -(-length // slices)
    slices = -(-length // part)
    macros = {"LANES": lanes, "ROWS": together, "ACROSS": int(inner != 1), "LOGARITHM": _is_logarithm(node)}
    text = source("shared_softmax", {"DATA": data.element_type}, **macros)
    sizes = [length, inner, slices, part, count]
    global_size, group = [-(-count // together) * slices * sharing.group], [sharing.group]
    lowering.note_decision(f"{slices} parts of {lanes} work-items for each of {hint_of(count)} rows")
    if slices == 1:
        return lowering.launch(text, "softmax_rows", [data, output, *sizes], global_size, group)
    found = lowering.scratch(2 * count * slices, wide.size)
    lowering.launch(text, "softmax_parts", [data, found, *sizes], global_size, group)
    lowering.launch(text, "softmax_of_parts", [data, found, output, *sizes], global_size, group)


def _softmax_each(lowering: Lowering, node: _Softmax, exponential: str, prelude: str = "") -> None:
    """Launch a softmax with a work-item for each row, or for neighboring ones in a vector."""
    (count, length, inner), kind = _rows_of(node), node.get_element_type()
    if not count:
        return
    narrow = int(ELEMENTS[kind].stored != ELEMENTS[kind].value)
    macros = {"LOGARITHM": _is_logarithm(node), "NARROW": narrow}
    text = prelude + source("softmax", {"DATA": kind}, EXP16=exponential, **macros)
    in_vectors = lowering.profile.vector_width > 1 and inner >= _WIDTH
    kernel, items = ("softmax_columns", count // inner * -(-inner // _WIDTH)) if in_vectors else ("softmax", count)
    lowering.launch_rows(text, kernel, [node.input_value(0), node.output(0), length, inner], items)


def _is_logarithm(node: Node) -> int:
    return int(isinstance(node, ops.LogSoftmax))
