"""Tensors that are made from numbers."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation import Translation
from hetero.graph import Constant, Output
from hetero.types import Type


@translator("aten::full", "aten::zeros", "aten::ones", "aten::full_like", "aten::zeros_like", "aten::ones_like",
            "aten::new_zeros", "aten::new_ones", "aten::new_full", "aten::scalar_tensor", "aten::empty",
            "aten::empty_strided", "aten::empty_like", "aten::new_empty")  # fmt: skip
def full(node: TorchNodeContext) -> Translation:
    name, kind = node.get_op_type(), node.output_type()
    number: Output | Constant
    if "fill_value" in node.arguments or name == "aten::scalar_tensor":
        number = node.converted("fill_value" if "fill_value" in node.arguments else "s", kind)
    else:
        number = Constant(np.array("ones" in name, kind.to_dtype()))
    if name == "aten::scalar_tensor":
        return number
    shape = ops.ShapeOf(node.get_input("self")) if name.endswith("_like") else node.integers("size")
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
