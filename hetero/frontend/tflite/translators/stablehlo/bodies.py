"""Scalar bodies of StableHLO reductions, scatters and sorts, matched to an operation or applied to whole tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.graph import Constant, Node, Op, Output, Parameter, Result
from hetero.ops.elementwise.arithmetic import Broadcasting
from hetero.ops.elementwise.elementwise import Unary
from hetero.system.errors import FrontendError

_ELEMENTWISE = (
    Unary, Broadcasting, ops.Select, ops.Convert, ops.BitCast, ops.LogicalNot, ops.BitwiseNot, ops.IsNaN, ops.IsInf,
    ops.IsFinite,
)  # fmt: skip
_COMMUTATIVE = (ops.Add, ops.Multiply, ops.Maximum, ops.Minimum, ops.LogicalAnd, ops.LogicalOr)


class ScalarBody:
    """The body of an operator, a graph on scalars, as a function of whole tensors.

    ``inputs``: a scalar Parameter for each input. ``results``: the values of the outputs for these. Raises
    FrontendError if the body has an operation that is not element-wise, or another number of outputs than ``results``.
    """

    def __init__(self, node: TfliteNodeContext, kinds: Sequence[Type], results: int) -> None:
        self._graph, self._name = node.get_subgraph(0), node.name
        self.inputs = [Parameter(kind, []) for kind in kinds]
        model = self._graph.build(self.inputs, self.inputs).model
        for operation in model.get_ordered_ops():
            if not isinstance(operation, (Parameter, Result, Constant, *_ELEMENTWISE)):
                raise FrontendError(
                    f"its graph '{self._graph.name}' has {operation.get_type_name()} '{operation.friendly_name}'; "
                    "only element-wise operations are supported there"
                )
        self.results = [result.input_value(0) for result in model.results]
        if len(self.results) != results:
            raise FrontendError(f"its graph '{self._graph.name}' has {len(self.results)} outputs, not {results}")

    def __call__(self, inputs: Sequence[Output]) -> list[Output]:
        """Apply the body to tensors, which are broadcast; return its outputs."""
        return self._graph.inline(inputs, self._name)

    @property
    def operation(self) -> type[Op] | None:
        """The binary operation that the body consists of, if it is one of the known ones; else None."""
        node = self.results[0].node
        if len(self.results) != 1 or not isinstance(node, (*_COMMUTATIVE, ops.Subtract)):
            return None
        operands = [value.node for value in node.input_values()]
        swapped = operands == self.inputs[::-1] and isinstance(node, _COMMUTATIVE)
        return type(node) if operands == self.inputs or swapped else None


class ReductionBody(ScalarBody):
    """The body of a reduction, which combines two elements of each of one or more tensors. ``kinds``: their types."""

    def __init__(self, node: TfliteNodeContext, kinds: Sequence[Type]) -> None:
        super().__init__(node, [*kinds, *kinds], len(kinds))
        for kind, result in zip(kinds, self.results):
            if result.element_type is not kind:
                raise FrontendError(f"its graph outputs {result.element_type} for inputs of {kind}")

    def combine(self, lefts: Sequence[Output], rights: Sequence[Output]) -> list[Output]:
        """Combine tensors element by element; ``lefts`` may be scalars."""
        if self.operation:
            return [self.operation(lefts[0], rights[0]).output(0)]
        shape = ops.ShapeOf(rights[0])
        return [
            result if result.partial_shape == right.partial_shape else ops.Broadcast(result, shape).output(0)
            for result, right in zip(self([*lefts, *rights]), rights)
        ]

    def with_initial(self, initial: Sequence[Output], values: Sequence[Output]) -> list[Output]:
        """Combine tensors with the scalar initial values of a reduction."""
        if self.operation:
            return [combine_with_initial(self.operation, initial[0], values[0])]
        return self.combine(initial, values)


def combine_with_initial(operation: type[Op], initial: Output, value: Output) -> Output:
    """Combine a tensor with a scalar initial value; return it unchanged if that is the operation's neutral element."""
    if operation in _NEUTRAL and isinstance(initial.node, Constant):
        data = initial.node.data
        if data == np.asarray(_NEUTRAL[operation](data.dtype), data.dtype):
            return value
    return operation(initial, value).output(0)


# The neutral elements of operations, as functions of the element type.
_NEUTRAL: dict[type[Op], Callable[[np.dtype], float]] = {
    ops.Add: lambda dtype: 0, ops.Multiply: lambda dtype: 1,
    ops.Maximum: lambda dtype: np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf,
    ops.Minimum: lambda dtype: np.iinfo(dtype).max if dtype.kind in "iu" else np.inf,
    ops.LogicalAnd: lambda dtype: True, ops.LogicalOr: lambda dtype: False,
}  # fmt: skip


def same_function(left: Output, right: Output, correspondence: dict[Node, Node]) -> bool:
    """Return whether two values are the same function if nodes are replaced by their ``correspondence``."""
    stack, seen = [(left, right)], set()
    while stack:
        value, other = stack.pop()
        if (value, other) in seen or correspondence.get(value.node) is other.node:
            continue
        seen.add((value, other))
        if type(value.node) is not type(other.node) or value.get_index() != other.get_index():
            return False
        if isinstance(value.node, Constant) and isinstance(other.node, Constant):
            data, others = value.node.data, other.node.data
            if data.dtype != others.dtype or data.tobytes() != others.tobytes():
                return False
            continue
        if isinstance(value.node, Parameter) or value.node.attribute_values() != other.node.attribute_values():
            return False
        stack += zip(value.node.input_values(), other.node.input_values())
    return True
