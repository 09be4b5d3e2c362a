"""Constants, ranges and shapes."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.graph import Constant
from hetero.system.errors import FrontendError

# The attributes that may hold the value of a Constant, with the numpy type of those that are not tensors.
_VALUE_TYPES = {
    "value": None, "value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64,
    "value_string": np.str_, "value_strings": np.str_,
}  # fmt: skip


@translator("Constant")
def constant(node: OnnxNodeContext) -> Translation:
    for name, dtype in _VALUE_TYPES.items():
        if node.has_attribute(name):
            return Constant(np.asarray(node.get_attribute(name), dtype))
    raise FrontendError(f"it needs one of the attributes {', '.join(_VALUE_TYPES)}")


@translator("ConstantOfShape", since=9)
def constant_of_shape(node: OnnxNodeContext) -> Translation:
    value = node.get_attribute("value", np.zeros(1, np.float32))
    if value.size != 1:
        raise FrontendError(f"attribute value must have one element, but has {value.size}")
    return ops.Broadcast(Constant(value.reshape(())), node.get_input(0))


@translator("Range", since=11)
def value_range(node: OnnxNodeContext) -> Translation:
    start, stop, step = node.get_inputs()
    return ops.Range(start, stop, step, start.element_type)


@translator("Shape")
def shape(node: OnnxNodeContext) -> Translation:
    full_shape = ops.ShapeOf(node.get_input(0))
    start, end = node.get_attribute("start", 0), node.get_attribute("end", None)
    if start == 0 and end is None:
        return full_shape
    # Slice handles negative and out-of-range numbers like ONNX's start and end.
    end = np.iinfo(np.int64).max if end is None else end
    return ops.Slice(full_shape, np.array([start]), np.array([end]), np.array([1]), np.array([0]))


@translator("Size")
def size(node: OnnxNodeContext) -> Translation:
    return ops.ReduceProd(ops.ShapeOf(node.get_input(0)), np.array([0]), False)
