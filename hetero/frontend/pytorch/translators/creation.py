"""Tensors that are made from numbers."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation import Translation
from hetero.graph import Constant, Node, Output
from hetero.types import Type


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
def arange(node: TorchNodeContext) -> Translation:
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
    numbers: Node = ops.Add(start, ops.Multiply(Constant(np.arange(count, dtype=np.float64)), step))
    if node.get_op_type() == "aten::logspace":
        numbers = ops.Power(Constant(np.float64(node.get_attribute("base", 10.0))), numbers)
    return ops.Convert(numbers, kind)


@translator("aten::eye")
def eye(node: TorchNodeContext) -> Translation:
    rows = node.get_attribute("n")
    return Constant(np.eye(rows, node.get_attribute("m", rows), dtype=node.output_type().to_dtype()))


@translator("aten::tril_indices", "aten::triu_indices")
def triangle_indices(node: TorchNodeContext) -> Translation:
    """The rows and the columns of the elements of a triangle."""
    find = np.tril_indices if node.get_op_type() == "aten::tril_indices" else np.triu_indices
    places = find(node.get_attribute("row"), node.get_attribute("offset", 0), node.get_attribute("col"))
    return Constant(np.stack(places).astype(node.output_type().to_dtype()))


@translator("aten::tril", "aten::triu")
def triangle(node: TorchNodeContext) -> Translation:
    value, diagonal = node.get_input("self"), node.get_attribute("diagonal", 0)
    rows, columns = (
        ops.Range(np.int64(0), ops.Gather(ops.ShapeOf(value), np.int64(axis), np.int64(0)), np.int64(1), "i64")
        for axis in (-2, -1)
    )
    distance = ops.Subtract(ops.Unsqueeze(columns, np.array([0])), ops.Unsqueeze(rows, np.array([1])))
    compare = ops.LessEqual if node.get_op_type() == "aten::tril" else ops.GreaterEqual
    kept = compare(distance, np.int64(diagonal))
    zero = np.array(0, (Type.boolean if value.element_type is Type.boolean else value.element_type).to_dtype())
    return ops.Select(kept, value, zero)
