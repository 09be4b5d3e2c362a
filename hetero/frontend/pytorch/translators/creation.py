"""Tensors that are made from numbers."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, int64, scalar_like
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
    kind, count = node.output_type(), node.get_attribute("steps")
    start, end = (node.converted(name, Type.f64) for name in ("start", "end"))
    step = ops.Divide(ops.Subtract(end, start), Constant(np.float64(max(count - 1, 1))))
    numbers: Node = ops.Add(start, ops.Multiply(ops.Convert(arange(int64(count)), Type.f64), step))
    if node.get_op_type() == "aten::logspace":
        numbers = ops.Power(Constant(np.float64(node.get_attribute("base", 10.0))), numbers)
    return ops.Convert(numbers, kind)


@translator("aten::eye")
def eye(node: TorchNodeContext) -> Translation:
    rows = node.get_attribute("n")
    offsets = diagonal_offsets(int64(rows), int64(node.get_attribute("m", rows)))
    return ops.Convert(ops.Equal(offsets, int64(0)), node.output_type())


@translator("aten::tril_indices", "aten::triu_indices")
def triangle_indices(node: TorchNodeContext) -> Translation:
    """The rows and the columns of the elements of a triangle."""
    offsets = diagonal_offsets(int64(node.get_attribute("row")), int64(node.get_attribute("col")))
    compare = ops.LessEqual if node.get_op_type() == "aten::tril_indices" else ops.GreaterEqual
    return ops.Convert(ops.NonZero(compare(offsets, int64(node.get_attribute("offset", 0)))), node.output_type())


@translator("aten::tril", "aten::triu")
def triangle(node: TorchNodeContext) -> Translation:
    value, diagonal = node.get_input("self"), node.get_attribute("diagonal", 0)
    compare = ops.LessEqual if node.get_op_type() == "aten::tril" else ops.GreaterEqual
    is_kept = compare(diagonal_offsets(axis_length(value, -2), axis_length(value, -1)), int64(diagonal))
    return ops.Select(is_kept, value, scalar_like(value, 0))


def diagonal_offsets(rows: Output | Constant, columns: Output | Constant) -> Node:
    """Return a matrix with the diagonal of each element: its column minus its row.

    It is computed at run time, so that no large constant is made from two numbers of a file.
    """
    return ops.Subtract(ops.Unsqueeze(arange(columns), int64([0])), ops.Unsqueeze(arange(rows), int64([1])))
