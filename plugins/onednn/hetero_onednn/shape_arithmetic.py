"""Operations on shapes: constants once the input shapes are known, so that no primitive computes them."""

from __future__ import annotations

from hetero import ops
from hetero.graph import Constant, Node

_OPERATIONS = (
    ops.Add, ops.Broadcast, ops.Ceiling, ops.Concat, ops.Convert, ops.Divide, ops.Equal, ops.Floor, ops.FloorMod,
    ops.Gather, ops.Greater, ops.GreaterEqual, ops.Identity, ops.Less, ops.LessEqual, ops.Maximum, ops.Minimum, ops.Mod,
    ops.Multiply, ops.NotEqual, ops.Range, ops.ReduceMax, ops.ReduceMin, ops.ReduceProd, ops.ReduceSum, ops.Reshape,
    ops.Select, ops.Slice, ops.Split, ops.Squeeze, ops.SqueezeV1, ops.StridedSlice, ops.Subtract, ops.Transpose,
    ops.Unsqueeze, ops.VariadicSplit,
)  # fmt: skip
# Larger computations are left to other devices, so that a question takes a bounded time.
_MAX_NODES = 256


def follows_from_shapes(node: Node) -> bool:
    """Return whether a node depends on nothing but constants and the shapes of values."""
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one in seen or isinstance(one, (Constant, ops.ShapeOf, ops.ShapeOfV1)):
            continue
        seen.add(one)
        if type(one) not in _OPERATIONS or len(seen) > _MAX_NODES:
            return False
        waiting += [value.node for value in one.input_values()]
    return True
