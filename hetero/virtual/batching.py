"""Batching of a model: a copy for a batch of N samples, if it is provable that the samples do not affect each other.

The shapes of the model with batch 1 and of its copy with batch N show where each value has its batch axis: the axis of
length 1 that has length N in the copy, with all other axes unchanged. The rules say, for types of operations, under
which condition each sample of the output depends on the same sample of the inputs only. A model with an operation
without a rule is not batched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from hetero.graph import Constant, Model, Node, Output, Parameter, is_terminal, port_name
from hetero.ops.checks import exact_value
from hetero.ops.convolution import AnyConvolution
from hetero.ops.elementwise.activation import PRelu
from hetero.ops.elementwise.arithmetic import BroadcastOp
from hetero.ops.elementwise.elementwise import Unary
from hetero.ops.recurrent import Recurrent
from hetero.system.errors import GraphError


class NotBatchable(Exception):
    """A model that cannot be batched, and why."""


class Batching:
    """The copy of a model for ``size`` samples. Raises NotBatchable."""

    def __init__(self, model: Model, size: int) -> None:
        self.model, self._copies = model.clone_with_nodes()
        self._size = size
        # The batch axes of values of the original that have one.
        self._axes: dict[Output, int] = {}
        # Values that depend on the batch size, such as shapes, and are the same for all samples.
        self._sizes: set[Output] = set()
        if model.is_dynamic():
            raise NotBatchable("its shapes are dynamic")
        if model.variables or model.sinks:
            raise NotBatchable("it has variables")
        for parameter in model.parameters:
            self._set_batch(parameter)
        try:
            for node in model.get_ordered_ops():
                self._visit(node)
            self.model.validate_nodes_and_infer_types()
        except GraphError as error:
            raise NotBatchable(f"it does not take {size} samples: {error}") from error
        for result in model.results:
            if self._axes.get(result.output(0)) != 0:
                raise NotBatchable(f"output '{port_name(result.output(0))}' has no batch axis")

    def _set_batch(self, parameter: Parameter) -> None:
        shape = parameter.output(0).get_shape()
        if not shape or shape[0] != 1 or parameter.layout.names(len(shape))[0] not in ("N", None):
            where = f"input '{port_name(parameter.output(0))}' has the shape {list(shape)}"
            raise NotBatchable(f"{where}, which does not begin with a batch of 1")
        cast(Parameter, self._copies[parameter]).partial_shape = [self._size, *shape[1:]]

    def _visit(self, node: Node) -> None:
        copy = self._copies[node]
        if type(node).__name__ == "Reshape":
            self._repair_pattern(node, copy)
        copy.infer()
        for mine, other in zip(node.outputs(), copy.outputs()):
            self._locate(mine, other)
        if is_terminal(node):
            return
        shape_inputs = getattr(node, "shape_inputs", ())
        data = [value for index, value in enumerate(node.input_values()) if index not in shape_inputs]
        batched = [value for value in data if value in self._axes]
        if node.type_info.name == "ShapeOf":
            self._sizes.update(node.outputs() if batched else ())
            return
        if any(value in self._sizes for value in data):
            if batched:
                self._refuse(node)
            self._sizes.update(node.outputs())
        outputs = [value for value in node.outputs() if value in self._axes]
        if batched:
            if len(outputs) < len(node.outputs()) or not self._is_separate(node):
                self._refuse(node)
        elif outputs and node.type_info.name not in ("Broadcast", "Tile"):
            self._refuse(node)
        elif not outputs and any(value in self._sizes for value in node.input_values()):
            self._sizes.update(node.outputs())

    def _locate(self, mine: Output, other: Output) -> None:
        """Find the batch axis of a value, by its shapes in the model and in the copy."""
        if mine.partial_shape.is_dynamic or other.partial_shape.is_dynamic:
            raise NotBatchable(f"the shape of '{mine.node.friendly_name}' is not known before an inference")
        before, after = mine.get_shape(), other.get_shape()
        if before == after:
            return
        changed = [axis for axis, lengths in enumerate(zip(before, after)) if lengths[0] != lengths[1]]
        if len(before) != len(after) or len(changed) != 1 or (before[changed[0]], after[changed[0]]) != (1, self._size):
            self._refuse(mine.node)
        self._axes[mine] = changed[0]

    def _repair_pattern(self, node: Node, copy: Node) -> None:
        """Replace a batch of 1 that a model has in the constant pattern of a Reshape."""
        pattern = node.input_value(1).node
        if not isinstance(pattern, Constant) or self._axes.get(node.input_value(0)) != 0:
            return
        lengths = pattern.data.reshape(-1)
        if lengths.size and lengths[0] == 1:
            repaired = np.concatenate([[self._size], lengths[1:]]).astype(lengths.dtype)
            copy.input(1).replace_source_output(Constant(repaired).output(0))

    def _is_separate(self, node: Node) -> bool:
        """Return whether each sample of the outputs depends on the same sample of the inputs only."""
        if isinstance(node, Unary) and not isinstance(node, PRelu):
            return True
        if isinstance(node, BroadcastOp):
            return self._is_aligned(node, range(node.get_input_size()))
        if isinstance(node, (AnyConvolution, Recurrent)):
            return self._all_first(node)
        rule = _RULES.get(node.type_info.name)
        return rule is not None and rule(self, node)

    # Conditions of the rules.

    def axis_of(self, node: Node, index: int = 0) -> int | None:
        """Return the batch axis of an input."""
        return self._axes.get(node.input_value(index))

    def _axis_of_output(self, node: Node) -> int:
        return self._axes[node.output(0)]

    def _all_first(self, node: Node) -> bool:
        """Return whether the batch axis is the first in the data and all outputs, and no weights have one."""
        values = [self._axes.get(value) for value in (*node.input_values(), *node.outputs())]
        return self.axis_of(node) == 0 and set(values) <= {0, None} and self._weights_are_shared(node)

    def _weights_are_shared(self, node: Node) -> bool:
        names = getattr(type(node), "input_names", ())
        states = ("X", "initial_hidden_state", "initial_cell_state", "sequence_lengths")
        return all(
            value not in self._axes or index == 0 or (index < len(names) and names[index] in states)
            for index, value in enumerate(node.input_values())
        )

    def _is_aligned(self, node: Node, indices: Iterable[int]) -> bool:
        """Return whether the batch axes of these inputs broadcast to that of the output, counted from the last axis."""
        rank, axis = len(node.get_output_shape(0)), self._axis_of_output(node)
        for index in indices:
            mine = self.axis_of(node, index)
            if mine is not None and rank - len(node.get_input_shape(index)) + mine != axis:
                return False
        return True

    def only_data(self, node: Node) -> bool:
        """Return whether only the first input is batched."""
        return all(value not in self._axes for value in node.input_values()[1:])

    def keeps_rows(self, node: Node) -> bool:
        """Return whether a reshaped value has the same elements before the batch axis, and so in each sample."""
        before = node.get_input_shape(0)[: self.axis_of(node)]
        return np.prod(before) == np.prod(node.get_output_shape(0)[: self._axis_of_output(node)])

    def excludes(self, node: Node, axes: Any) -> bool:
        """Return whether an operation on these axes of its first input alone leaves out the batch axis."""
        if axes is None or not self.only_data(node):
            return False
        rank = len(node.get_input_shape(0))
        return self.axis_of(node) not in {int(axis) % rank for axis in np.reshape(axes, -1)}

    def joins_other_axis(self, node: Node, axis: int) -> bool:
        """Return whether the inputs, all batched on one axis, are joined along another one."""
        axes = {self.axis_of(node, index) for index in range(node.get_input_size())}
        return axes == {self._axis_of_output(node)} and axis % len(node.get_output_shape(0)) not in axes

    def multiplies_rows(self, node: Any) -> bool:
        """Return whether the batch axis of a product is one of its leading axes, or the rows of the left matrix."""
        ranks = [len(node.get_input_shape(index)) for index in (0, 1)]
        axis, rank = self._axis_of_output(node), len(node.get_output_shape(0))
        if min(ranks) < 2:
            return False
        if axis < rank - 2:
            return self._is_aligned(node, (0, 1))
        rows = ranks[0] - 1 if node.transpose_a else ranks[0] - 2
        return axis == rank - 2 and self.axis_of(node) == rows and self.only_data(node)

    def gathers_within(self, node: Any) -> bool:
        """Return whether data of one sample are gathered, or each sample of the indices gathers from shared data."""
        axis = exact_value(node.input_value(2))
        if axis is None or getattr(node, "batch_dims", False):
            return False
        where = int(axis.reshape(-1)[0]) % len(node.get_input_shape(0))
        data, indices = self.axis_of(node), self.axis_of(node, 1)
        if data is not None:
            return indices is None and data != where
        return indices is not None and where + indices == self._axis_of_output(node)

    def slices_forward(self, node: Node) -> bool:
        """Return whether a slice has positive steps only; then it takes all samples in their order."""
        steps = exact_value(node.input_value(3))
        return steps is not None and bool((steps > 0).all()) and self.only_data(node)

    def pads_within(self, node: Node) -> bool:
        """Return whether no padding is added to or removed from the batch axis."""
        pads = [exact_value(node.input_value(index)) for index in (1, 2)]
        return self.only_data(node) and all(p is not None and p.reshape(-1)[self.axis_of(node)] == 0 for p in pads)

    def _refuse(self, node: Node) -> None:
        raise NotBatchable(f"{node.type_info.name} '{node.friendly_name}' may mix the samples of a batch")


def _axis(node: Any) -> Any:
    """Return the attribute axis."""
    return node.axis


def _axes_input(node: Node) -> Any:
    """Return the axes in input 1."""
    return exact_value(node.input_value(1))


def _along(axes_of: Callable[[Any], Any]) -> Callable[[Batching, Node], bool]:
    """Return the rule of an operation that computes along axes of its first input."""
    return lambda batching, node: batching.excludes(node, axes_of(node))


_ALONG_ATTRIBUTE = ("Softmax", "LogSoftmax", "TopK", "ShuffleChannels")
_ALONG_INPUT = (
    "MVN", "NormalizeL2", "LRN", "CumSum", "Split", "VariadicSplit", "ReduceMean", "ReduceSum", "ReduceProd",
    "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceLogicalAnd", "ReduceLogicalOr",
)  # fmt: skip
# The batch axis is the first one.
_FIRST_AXIS = (
    "MaxPool", "AvgPool", "AdaptiveAvgPool", "AdaptiveMaxPool", "GroupNormalization", "DepthToSpace", "SpaceToDepth",
    "PRelu",
)  # fmt: skip
_ELEMENTWISE = (
    "Convert", "ConvertLike", "Identity", "LogicalNot", "BitwiseNot", "IsFinite", "IsNaN", "IsInf", "Transpose",
)  # fmt: skip
# The shapes show that the batch axis is kept as it is.
_BY_SHAPE = ("Interpolate", "Tile")

_RULES: dict[str, Callable[[Batching, Any], bool]] = {
    **dict.fromkeys(_ALONG_ATTRIBUTE, _along(_axis)),
    **dict.fromkeys(_ALONG_INPUT, _along(_axes_input)),
    **dict.fromkeys(_FIRST_AXIS, Batching._all_first),
    **dict.fromkeys((*_ELEMENTWISE, *_BY_SHAPE), Batching.only_data),
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze"), Batching.keeps_rows),
    **dict.fromkeys(("Slice", "StridedSlice"), Batching.slices_forward),
    "BatchNormInference": Batching._all_first,
    "Broadcast": lambda batching, node: batching._is_aligned(node, [0]),
    "Concat": lambda batching, node: batching.joins_other_axis(node, node.axis),
    "Gather": Batching.gathers_within,
    "MatMul": Batching.multiplies_rows,
    "Pad": Batching.pads_within,
}
