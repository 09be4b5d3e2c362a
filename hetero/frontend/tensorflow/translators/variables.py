"""Variables, of both versions of TensorFlow."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tensorflow.handles import Values, VariableHandle
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import Translation
from hetero.graph import Constant

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


@translator("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(node: TensorflowNodeContext) -> Translation:
    """All variables have the contents of the checkpoint."""
    return Constant(np.array(True))


@translator("DisableCopyOnRead")
def nothing(node: TensorflowNodeContext) -> Translation:
    return []
