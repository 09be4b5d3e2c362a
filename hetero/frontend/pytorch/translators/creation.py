"""Tensors that are made from numbers; triangles and diagonals of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.diagonals import diagonal_numbers, diagonal_of, triangle
from hetero.frontend.numerics.spacing import linspace
from hetero.frontend.pytorch.node_context import TorchNodeContext, promoted, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    int64,
    known_length,
    normalize_axis,
    rank_of,
    scalar_like,
)
from hetero.graph import Constant, Node, Output


@translator("aten::full", "aten::zeros", "aten::ones", "aten::full_like", "aten::zeros_like", "aten::ones_like",
            "aten::new_zeros", "aten::new_ones", "aten::new_full", "aten::scalar_tensor", "aten::empty",
            "aten::empty_strided", "aten::empty_like", "aten::new_empty", "aten::empty_permuted",
            "aten::zero")  # fmt: skip
def full(node: TorchNodeContext) -> Translation:
    name, kind = node.get_op_type(), node.output_type()
    number: Output | Constant
    if "fill_value" in node.arguments or name == "aten::scalar_tensor":
        number = node.converted("fill_value" if "fill_value" in node.arguments else "s", kind)
    else:
        number = Constant(np.array("ones" in name, kind.to_dtype()))
    if name == "aten::scalar_tensor":
        return number
    is_like = name.endswith("_like") or name == "aten::zero"
    shape = ops.ShapeOf(node.get_input("self")) if is_like else node.integers("size")
    return ops.Broadcast(number, shape)


@translator("aten::arange")
def number_range(node: TorchNodeContext) -> Translation:
    # torch counts the numbers in f64.
    result_type = node.output_type()
    kind = Type.f64 if result_type.is_real() else result_type
    default = {"start": 0, "step": 1}
    limits = [
        node.converted(name, kind) if node.arguments.get(name) is not None
        else Constant(np.array(default[name], kind.to_dtype())).output(0)
        for name in ("start", "end", "step")
    ]  # fmt: skip
    return ops.Convert(ops.Range(*limits, kind), result_type)


@translator("aten::linspace", "aten::logspace")
def spaced(node: TorchNodeContext) -> Translation:
    """Numbers from start to end at equal distances, or powers of ``base`` with these."""
    start, end = (node.converted(name, Type.f64) for name in ("start", "end"))
    numbers: Node = linspace(start, end, int64(node.get_attribute("steps")).output(0))
    if node.get_op_type() == "aten::logspace":
        numbers = ops.Power(Constant(np.float64(node.get_attribute("base", 10.0))), numbers)
    return ops.Convert(numbers, node.output_type())


@translator("aten::eye")
def eye(node: TorchNodeContext) -> Translation:
    height = node.get_attribute("n")
    numbers = diagonal_numbers(int64(height), int64(node.get_attribute("m", height)))
    return ops.Convert(ops.Equal(numbers, 0), node.output_type())


@translator("aten::tril_indices", "aten::triu_indices")
def triangle_indices(node: TorchNodeContext) -> Translation:
    """The rows and the columns of the elements of a triangle."""
    numbers = diagonal_numbers(int64(node.get_attribute("row")), int64(node.get_attribute("col")))
    compare = ops.LessEqual if node.get_op_type() == "aten::tril_indices" else ops.GreaterEqual
    return ops.Convert(ops.NonZero(compare(numbers, node.get_attribute("offset", 0))), node.output_type())


def _diagonal_matrix(value: Output, offset: int, first: int = -2, second: int = -1) -> Node:
    """Return matrices with vectors on their diagonal, which two axes of the result are."""
    rank = rank_of(value)
    size = int64(known_length(value, -1, "the length of a diagonal") + abs(offset))
    padding = [0] * (rank - 1) + [max(-offset, 0)], [0] * (rank - 1) + [max(offset, 0)]
    padded = ops.Unsqueeze(ops.Pad(value, *padding, "constant", scalar_like(value, 0)), [-1])
    matrices = ops.Select(ops.Equal(diagonal_numbers(size, size), int64(offset)), padded, scalar_like(value, 0))
    order = list(range(rank - 1))
    for axis, at in sorted(((normalize_axis(first, rank + 1), rank - 1), (normalize_axis(second, rank + 1), rank))):
        order.insert(axis, at)
    return ops.Transpose(matrices, int64(order))


_AXES: dict[str, Any] = {"first": Attr("dim1", 0), "second": Attr("dim2", 1)}

rows({
    "aten::tril": Row(triangle, "self", compare=ops.LessEqual, diagonal=Attr("diagonal", 0)),
    "aten::triu": Row(triangle, "self", compare=ops.GreaterEqual, diagonal=Attr("diagonal", 0)),
    "aten::diagonal": Row(diagonal_of, "self", offset=Attr("offset", 0), **_AXES),
    "aten::diagonal_copy": Row(diagonal_of, "self", offset=Attr("offset", 0), **_AXES),
    "aten::diag": Row(
        lambda value, offset: (diagonal_of if rank_of(value) == 2 else _diagonal_matrix)(value, offset),
        "self", offset=Attr("diagonal", 0),
    ),
    "aten::diagflat": Row(
        lambda value, offset: _diagonal_matrix(ops.Reshape(value, [-1], False).output(0), offset),
        "self", offset=Attr("offset", 0),
    ),
    "aten::diag_embed": Row(
        _diagonal_matrix, "self", offset=Attr("offset", 0), first=Attr("dim1", -2), second=Attr("dim2", -1)
    ),
})  # fmt: skip
rows({
    "aten::trace": Row(lambda value: ops.ReduceSum(diagonal_of(value, 0), [0], False), "self")
}, promoted)  # fmt: skip
