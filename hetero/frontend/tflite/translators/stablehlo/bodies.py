"""Graphs of scalars that StableHLO's reductions, scatters and sorts have: recognised, or run over whole tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.graph import Constant, Node, Op, Output, Parameter, Result
from hetero.ops.arithmetic import Broadcasting
from hetero.ops.elementwise import Unary
from hetero.types import Type

# What computes each element from those at the same place.
_ELEMENTWISE = (
    Unary, Broadcasting, ops.Select, ops.Convert, ops.BitCast, ops.LogicalNot, ops.BitwiseNot, ops.IsNaN, ops.IsInf,
    ops.IsFinite,
)  # fmt: skip
_COMMUTATIVE = (ops.Add, ops.Multiply, ops.Maximum, ops.Minimum, ops.LogicalAnd, ops.LogicalOr)


class ScalarBody:
    """The graph of an operator, its only one, as a function of whole tensors instead of scalars.

    ``inputs``: a scalar Parameter for each input; ``results``: what it makes of them. Raises FrontendError where it
    has an operation that is not element-wise, or takes or gives other than it should.
    """

    def __init__(self, node: TfliteNodeContext, kinds: Sequence[Type], results: int) -> None:
        self._graph, self._name = node.get_subgraph(0), node.name
        self.inputs = [Parameter(kind, []) for kind in kinds]
        model = self._graph.build(self.inputs, self.inputs).model
        for part in model.get_ordered_ops():
            if not isinstance(part, (Parameter, Result, Constant, *_ELEMENTWISE)):
                raise FrontendError(
                    f"its graph '{self._graph.name}' has {part.get_type_name()} '{part.friendly_name}', but can be "
                    "translated only of element-wise operations"
                )
        self.results = [result.input_value(0) for result in model.results]
        if len(self.results) != results:
            raise FrontendError(f"its graph '{self._graph.name}' has {len(self.results)} outputs, not {results}")

    def __call__(self, inputs: Sequence[Output]) -> list[Output]:
        """The outputs for tensors whose shapes are broadcast."""
        return self._graph.inline(inputs, self._name)

    @property
    def operation(self) -> type[Op] | None:
        """The known operation of the two inputs that the only output is; None where it is something else."""
        node = self.results[0].node
        read = [value.node for value in node.input_values()]
        known = read == self.inputs and isinstance(node, (*_COMMUTATIVE, ops.Subtract))
        swapped = read == self.inputs[::-1] and isinstance(node, _COMMUTATIVE)
        return type(node) if len(self.results) == 1 and (known or swapped) else None


class ReductionBody(ScalarBody):
    """The graph of a reduction: what two values each of one or more tensors become, in a type for each."""

    def __init__(self, node: TfliteNodeContext, kinds: Sequence[Type]) -> None:
        super().__init__(node, [*kinds, *kinds], len(kinds))
        for kind, result in zip(kinds, self.results):
            if result.element_type is not kind:
                raise FrontendError(f"its graph makes {result.element_type} of {kind}")

    def combine(self, lefts: Sequence[Output], rights: Sequence[Output]) -> list[Output]:
        """The tensors combined; ``lefts`` may be scalars."""
        if self.operation:
            return [self.operation(lefts[0], rights[0]).output(0)]
        shape = ops.ShapeOf(rights[0])
        return [
            made if made.partial_shape == right.partial_shape else ops.Broadcast(made, shape).output(0)
            for made, right in zip(self([*lefts, *rights]), rights)
        ]

    def with_initial(self, first: Sequence[Output], values: Sequence[Output]) -> list[Output]:
        """The tensors combined with the scalars that a reduction begins with."""
        if self.operation:
            return [combine_with_initial(self.operation, first[0], values[0])]
        return self.combine(first, values)


def combine_with_initial(operation: type[Op], first: Output, value: Output) -> Output:
    """A scalar combined with a tensor, which is left as it is where that is known to change nothing."""
    if operation in _NEUTRAL and isinstance(first.node, Constant):
        data = first.node.data
        if data == np.asarray(_NEUTRAL[operation](data.dtype), data.dtype):
            return value
    return operation(first, value).output(0)


def _least(dtype: np.dtype) -> float | int:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _largest(dtype: np.dtype) -> float | int:
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


# What changes nothing when it is combined with something, by the element type.
_NEUTRAL = {
    ops.Add: lambda dtype: 0, ops.Multiply: lambda dtype: 1, ops.Maximum: _least, ops.Minimum: _largest,
    ops.LogicalAnd: lambda dtype: True, ops.LogicalOr: lambda dtype: False,
}  # fmt: skip


def same_function(left: Output, right: Output, stands_for: dict[Node, Node]) -> bool:
    """Whether two values are the same function, of nodes that stand for each other."""
    waiting, seen = [(left, right)], set()
    while waiting:
        one, other = waiting.pop()
        if (one, other) in seen or stands_for.get(one.node) is other.node:
            continue
        seen.add((one, other))
        if type(one.node) is not type(other.node) or one.get_index() != other.get_index():
            return False
        if isinstance(one.node, Constant):
            data = (one.node.data, other.node.data)
            if data[0].dtype != data[1].dtype or data[0].tobytes() != data[1].tobytes():
                return False
            continue
        if isinstance(one.node, Parameter):
            return False
        attributes = [attribute.name for attribute in type(one.node).attributes_declared]
        if any(getattr(one.node, name) != getattr(other.node, name) for name in attributes):
            return False
        waiting += zip(one.node.input_values(), other.node.input_values())
    return True
