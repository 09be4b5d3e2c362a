"""Variables, of both versions of TensorFlow."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, Values, VariableHandle, rows, translator
from hetero.frontend.tensorflow.translators.indexing import slice_of
from hetero.frontend.translation.translators import Row, Translator, as_outputs
from hetero.frontend.translation.values import arange, int64, rank_of, reshape
from hetero.graph import Constant, Op, Output
from hetero.ops.movement.slicing import TO_THE_END

rows(
    {
        **dict.fromkeys(("VarHandleOp", "Variable", "VariableV2"), lambda node: _variable(node)),
        "ReadVariableOp": lambda node: node.variables.read(node.variable_name(0)),
        **dict.fromkeys(("AssignVariableOp", "Assign"), lambda node: _assign(node, node.get_input(1))),
        # All variables have the contents of the checkpoint.
        **dict.fromkeys(("VarIsInitializedOp", "IsVariableInitialized"), lambda node: Constant(np.array(True))),
    }
)


def _variable(node: TensorflowNodeContext) -> VariableHandle:
    """The file may declare more shapes than that of the contents: ``tf.Variable([], shape=[None])``."""
    shape = node.get_attribute("shape", None)
    if isinstance(shape, PartialShape) and shape.is_dynamic:
        node.variables.declare(node.resource_name, shape)
    return VariableHandle(node.resource_name, is_reference=node.get_op_type() != "VarHandleOp")


def _assign(node: TensorflowNodeContext, value: Output) -> Values:
    """Set the contents of a variable. Operators of TensorFlow 1 return them."""
    node.variables.assign(node.variable_name(0), value)
    has_output = not node.get_op_type().startswith("Resource") and not node.get_op_type().endswith("VariableOp")
    return value if has_output else []


def _update(row: Row) -> Translator:
    """Return the translator of an operation whose result from the contents of a variable replaces them."""

    def translate(node: TensorflowNodeContext) -> Values:
        contents = node.variables.read(node.variable_name(0))
        others = [node.get_input(index) for index in range(1, node.get_input_size())]
        return _assign(node, as_outputs(row.make(node, [contents, *others]))[0])

    return translate


def _scatter_rows(contents: Output, indices: Output, rows: Output, reduction: str) -> Op:
    """Update rows of a variable. A row may be a scalar."""
    if not rank_of(rows):
        row_shape = ops.Slice(ops.ShapeOf(contents), int64([1]), int64([TO_THE_END]), int64([1]))
        rows = ops.Broadcast(rows, ops.Concat([ops.ShapeOf(indices), row_shape], 0)).output(0)
    return ops.ScatterNDUpdate(contents, ops.Unsqueeze(indices, int64([-1])), rows, reduction)


_REDUCTIONS = {"Add": "sum", "Max": "max", "Min": "min", "Mul": "prod", "Sub": "sub", "Update": "none"}
rows(
    {
        "AssignAdd": Row(ops.Add), "AssignAddVariableOp": Row(ops.Add), "AssignSub": Row(ops.Subtract),
        "AssignSubVariableOp": Row(ops.Subtract),
    },
    _update,
)  # fmt: skip
for _prefix in ("Resource", ""):
    rows({f"{_prefix}Scatter{name}": Row(_scatter_rows, reduction=kind) for name, kind in _REDUCTIONS.items()}, _update)
    rows(
        {
            f"{_prefix}ScatterNd{name}": Row(ops.ScatterNDUpdate, reduction=kind)
            for name, kind in _REDUCTIONS.items()
            if name != "Mul"
        },
        _update,
    )


@translator("ResourceStridedSliceAssign", "StridedSliceAssign")
def assign_slice(node: TensorflowNodeContext) -> Values:
    """Replace a slice of a variable by input 4, which broadcasts."""
    contents = node.variables.read(node.variable_name(0))
    shape = ops.ShapeOf(contents)
    positions = ops.Reshape(arange(ops.ReduceProd(shape, int64([0]), False)), shape, False).output(0)
    replaced = slice_of(node, positions)
    rows = ops.Broadcast(node.get_input(4), ops.ShapeOf(replaced)).output(0)
    flat = ops.ScatterUpdate(
        reshape(contents, (-1,)), reshape(replaced.output(0), (-1,)), reshape(rows, (-1,)), int64(0)
    )
    return _assign(node, ops.Reshape(flat, shape, False).output(0))
