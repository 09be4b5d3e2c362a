"""Operations on shapes: constants once the input shapes are known, so that no primitive computes them.

If HETERO cuts a model between two of them, the second one reads a Parameter. So short inputs of integers or booleans
count as shapes, and their contents decide the program, as the shapes of inputs do.
"""

from __future__ import annotations

import math

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Parameter

_OPERATIONS = (
    ops.Add, ops.Broadcast, ops.Ceiling, ops.Concat, ops.Convert, ops.Divide, ops.Equal, ops.Floor, ops.FloorMod,
    ops.Gather, ops.Greater, ops.GreaterEqual, ops.Identity, ops.Less, ops.LessEqual, ops.Maximum, ops.Minimum, ops.Mod,
    ops.Multiply, ops.NotEqual, ops.Range, ops.ReduceMax, ops.ReduceMin, ops.ReduceProd, ops.ReduceSum, ops.Reshape,
    ops.Select, ops.Slice, ops.Split, ops.Squeeze, ops.SqueezeV1, ops.StridedSlice, ops.Subtract, ops.Transpose,
    ops.Unsqueeze, ops.VariadicSplit,
)  # fmt: skip
# Larger computations are left to other devices, so that a question takes a bounded time.
_MAX_NODES = 256
# Maximum number of elements of an input that counts as a shape.
_MAX_ELEMENTS = 8


def follows_from_shapes(node: Node) -> bool:
    """Return whether a node depends on nothing but constants and shapes."""
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        ancestor = waiting.pop()
        if ancestor in seen or isinstance(ancestor, (Constant, ops.ShapeOf, ops.ShapeOfV1)) or _is_shape(ancestor):
            continue
        seen.add(ancestor)
        if type(ancestor) not in _OPERATIONS or len(seen) > _MAX_NODES:
            return False
        waiting += [value.node for value in ancestor.input_values()]
    return True


def shape_parameters(model: Model) -> set[Node]:
    """Return the Parameters that operations on shapes read as a shape."""
    return {
        parameter
        for parameter in model.parameters
        if _is_shape(parameter) and any(type(t.node) in _OPERATIONS for t in parameter.output(0).get_target_inputs())
    }


def _is_shape(node: Node) -> bool:
    if not isinstance(node, Parameter) or node.get_element_type() not in (Type.i32, Type.i64, Type.boolean):
        return False
    shape = node.partial_shape
    return shape.is_static and math.prod(shape.to_shape()) <= _MAX_ELEMENTS
