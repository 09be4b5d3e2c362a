"""Variables, of both versions of TensorFlow: their contents during translation, and their operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

import numpy as np

from hetero import ops
from hetero.frontend.tensorflow.handles import Values, VariableHandle
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import rows, translator
from hetero.frontend.tensorflow.translators.indexing import slice_of
from hetero.frontend.translation.operator_table import Row
from hetero.frontend.translation.subgraph import ModelScope
from hetero.frontend.translation.translators import Translation, Translator, as_outputs
from hetero.frontend.translation.values import arange, int64, rank_of, reshape
from hetero.graph import Constant, Node, Op, Output
from hetero.ops.movement.slicing import TO_THE_END
from hetero.system.errors import FrontendError


class Variables:
    """The variables by name, each with its value after the operators translated so far.

    ``arrays``: their contents in the file. A variable that the model changes is a ReadValue at the beginning of an
    inference and an Assign at its end; others are constants. ``changed``: the names of the variables that it changes.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], changed: Set[str], scope: ModelScope) -> None:
        self._arrays, self._changed, self._scope = arrays, changed, scope
        self._values: dict[str, Output] = {}
        self.assigned: dict[str, None] = {}

    def read(self, name: str) -> Output:
        """Return the current value of a variable. Raises FrontendError if it has none."""
        if name not in self._values:
            self._values[name] = self._first_read(name)
        return self._values[name]

    def assign(self, name: str, value: Output) -> None:
        self._values[name] = value
        self.assigned[name] = None

    def sinks(self) -> list[Node]:
        """Return the Assign nodes that store the variables at the end of an inference."""
        return [self._scope.name(ops.Assign(self._values[name], name), f"{name}/assign") for name in self.assigned]

    def _first_read(self, name: str) -> Output:
        if name not in self._arrays:
            raise FrontendError(f"variable '{name}' has no value in the model's checkpoint")
        constant: Node = self._scope.name(Constant(self._arrays[name]), name)
        if name in self._changed:
            constant = self._scope.name(ops.ReadValue(constant, name), f"{name}/read")
        return constant.output(0)


class BodyVariables(Variables):
    """The variables as the body of an If or a Loop sees them.

    ``capture``: takes an outer value and a name, returns the value that represents it in the body.
    """

    def __init__(self, outer: Variables, capture: Callable[[Output, str], Output], scope: ModelScope) -> None:
        super().__init__({}, set(), scope)
        self._outer, self._capture = outer, capture
        # The outer value and its representation in the body, by variable name.
        self.captured: dict[str, tuple[Output, Output]] = {}

    def capture(self, name: str) -> tuple[Output, Output]:
        """Return the outer value of a variable and its representation in the body."""
        if name not in self.captured:
            value = self._outer.read(name)
            self.captured[name] = value, self._capture(value, name)
        return self.captured[name]

    def _first_read(self, name: str) -> Output:
        return self.capture(name)[1]


@translator("VarHandleOp", "Variable", "VariableV2")
def variable(node: TensorflowNodeContext) -> Values:
    return VariableHandle(node.resource_name, is_reference=node.get_op_type() != "VarHandleOp")


@translator("ReadVariableOp")
def read_variable(node: TensorflowNodeContext) -> Translation:
    return node.variables.read(node.variable_name(0))


@translator("AssignVariableOp", "Assign")
def assign(node: TensorflowNodeContext) -> Values:
    return _assign(node, node.get_input(1))


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


@translator("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(node: TensorflowNodeContext) -> Translation:
    """All variables have the contents of the checkpoint."""
    return Constant(np.array(True))
