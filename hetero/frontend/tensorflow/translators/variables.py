"""Variables, of both versions of TensorFlow."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tensorflow.handles import Values, VariableHandle
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.translators.slicing import slice_of
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, int64, rank_of, reshape
from hetero.graph import Constant
from hetero.ops.movement.slicing import TO_THE_END

# The operation between a variable's contents and the value that is assigned.
_UPDATES = {
    "AssignAddVariableOp": ops.Add, "AssignAdd": ops.Add, "AssignSubVariableOp": ops.Subtract,
    "AssignSub": ops.Subtract,
}  # fmt: skip


@translator("VarHandleOp", "Variable", "VariableV2")
def variable(node: TensorflowNodeContext) -> Values:
    return VariableHandle(node.resource_name, is_reference=node.get_op_type() != "VarHandleOp")


@translator("ReadVariableOp")
def read_variable(node: TensorflowNodeContext) -> Translation:
    return node.variables.read(node.variable_name(0))


@translator("AssignVariableOp", "Assign", *_UPDATES)
def assign(node: TensorflowNodeContext) -> Values:
    """Operators of TensorFlow 1 return the new contents."""
    name, value = node.variable_name(0), node.get_input(1)
    if update := _UPDATES.get(node.get_op_type()):
        value = update(node.variables.read(name), value).output(0)
    node.variables.assign(name, value)
    return [] if node.get_op_type().endswith("VariableOp") else value


_REDUCTIONS = {"Update": "none", "Add": "sum", "Sub": "sub", "Mul": "prod", "Max": "max", "Min": "min"}
_SCATTERS = {
    f"{prefix}{kind}{change}": reduction
    for prefix in ("Resource", "")
    for kind in ("Scatter", "ScatterNd")
    for change, reduction in _REDUCTIONS.items()
    if (kind, change) != ("ScatterNd", "Mul")
}


@translator(*_SCATTERS)
def scatter(node: TensorflowNodeContext) -> Values:
    """Update rows of a variable, or with Nd in the operator's name elements at coordinates. A row may be a scalar."""
    name, indices, rows = node.variable_name(0), node.get_input(1), node.get_input(2)
    contents = node.variables.read(name)
    if "Nd" not in node.get_op_type():
        if not rank_of(rows):
            row_shape = ops.Slice(ops.ShapeOf(contents), int64([1]), int64([TO_THE_END]), int64([1]))
            rows = ops.Broadcast(rows, ops.Concat([ops.ShapeOf(indices), row_shape], 0)).output(0)
        indices = ops.Unsqueeze(indices, int64([-1])).output(0)
    value = ops.ScatterNDUpdate(contents, indices, rows, _SCATTERS[node.get_op_type()]).output(0)
    node.variables.assign(name, value)
    return [] if node.get_op_type().startswith("Resource") else value


@translator("ResourceStridedSliceAssign", "StridedSliceAssign")
def assign_slice(node: TensorflowNodeContext) -> Values:
    """Replace a slice of a variable by input 4, which broadcasts."""
    name = node.variable_name(0)
    contents = node.variables.read(name)
    shape = ops.ShapeOf(contents)
    positions = ops.Reshape(arange(ops.ReduceProd(shape, int64([0]), False)), shape, False).output(0)
    replaced = slice_of(node, positions)
    rows = ops.Broadcast(node.get_input(4), ops.ShapeOf(replaced)).output(0)
    flat = ops.ScatterUpdate(
        reshape(contents, (-1,)), reshape(replaced.output(0), (-1,)), reshape(rows, (-1,)), int64(0)
    )
    value = ops.Reshape(flat, shape, False).output(0)
    node.variables.assign(name, value)
    return [] if node.get_op_type().startswith("Resource") else value


@translator("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(node: TensorflowNodeContext) -> Translation:
    """All variables have the contents of the checkpoint."""
    return Constant(np.array(True))


@translator("DisableCopyOnRead")
def nothing(node: TensorflowNodeContext) -> Translation:
    return []
