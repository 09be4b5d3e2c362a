"""Lists of tensors that may differ in their first dimension, which are concatenated or read one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowNode
from hetero.frontend.tensorflow.node_context import Handle, Value, Values
from hetero.frontend.translation.subgraph import ModelScope, Subgraph
from hetero.frontend.translation.values import axis_length, convert_to, int64, reshape
from hetero.frontend.translation.variables import Variables
from hetero.graph import Constant, Output
from hetero.ops.movement.slicing import TO_THE_END
from hetero.system.errors import FrontendError


@dataclass(frozen=True)
class UnequalList(Handle):
    """A list. ``values``: its elements, one after the other along their first axis; ``lengths``: i64, of each."""

    values: Output
    lengths: Output

    def captured(self, scope: ModelScope) -> UnequalList:
        return UnequalList(scope.capture(self.values, "values"), scope.capture(self.lengths, "lengths"))

    @classmethod
    def empty(cls, count: Output, element_type: Type, element_shape: PartialShape) -> UnequalList:
        """Return a list of elements of length 0. ``count``: a vector of one i64. ``element_shape``: see ``fits``."""
        rest = PartialShape(list(element_shape)[1:]).to_shape()
        lengths = ops.Broadcast(int64(0), count).output(0)
        return cls(Constant(np.zeros((0, *rest), element_type.to_dtype())).output(0), lengths)

    @staticmethod
    def fits(element_shape: PartialShape) -> bool:
        """Return whether only the first dimension of the elements is unknown."""
        is_tensor = element_shape.has_rank and len(element_shape) > 0
        return is_tensor and element_shape[0].is_dynamic and PartialShape(list(element_shape)[1:]).is_static

    def limits(self, index: Output) -> tuple[Output, Output]:
        """Return where an element begins and ends in the values, as vectors of one number."""
        at = reshape(convert_to(index, Type.i64), [1])
        before = ops.Slice(self.lengths, int64([0]), at, int64([1]), int64([0]))
        begin = ops.ReduceSum(before, int64([0]), True).output(0)
        return begin, ops.Add(begin, ops.Gather(self.lengths, at, int64(0))).output(0)


def _rows(values: Output, begin: Any, end: Any) -> Output:
    return ops.Slice(values, begin, end, int64([1]), int64([0])).output(0)


def _set(items: UnequalList, index: Output, item: Output, grows: bool) -> UnequalList:
    at = reshape(convert_to(index, Type.i64), [1])
    if grows:
        items = _resized(items, ops.Maximum(ops.Add(at, int64([1])), axis_length(items.lengths, [0])).output(0))
    begin, end = items.limits(index)
    values = [_rows(items.values, int64([0]), begin), item, _rows(items.values, end, int64([TO_THE_END]))]
    lengths = ops.ScatterUpdate(items.lengths, at, axis_length(item, [0]), int64(0))
    return UnequalList(ops.Concat(values, 0).output(0), lengths.output(0))


def _push(items: UnequalList, item: Output) -> UnequalList:
    values = ops.Concat([items.values, item], 0)
    return UnequalList(values.output(0), ops.Concat([items.lengths, axis_length(item, [0])], 0).output(0))


def _resized(items: UnequalList, count: Output) -> UnequalList:
    """New elements have the length 0. ``count``: a vector of one i64."""
    missing = ops.Relu(ops.Subtract(count, axis_length(items.lengths, [0])))
    kept = _rows(items.lengths, int64([0]), count)
    lengths = ops.Concat([kept, ops.Broadcast(int64(0), missing)], 0).output(0)
    return UnequalList(_rows(items.values, int64([0]), ops.ReduceSum(kept, int64([0]), True)), lengths)


def _pop(items: UnequalList) -> Values:
    begin, end = items.limits(ops.Subtract(axis_length(items.lengths, 0), int64(1)).output(0))
    others = UnequalList(_rows(items.values, int64([0]), begin), _rows(items.lengths, int64([0]), int64([-1])))
    return [others, _rows(items.values, begin, end)]


_Translate = Callable[..., Values]
# By operator. The arguments are the list, then the others of the operator, as for lists of equal elements.
_TRANSLATORS: dict[str, _Translate] = {
    **dict.fromkeys(
        ("TensorListConcat", "TensorListConcatV2", "TensorArrayConcatV3"), lambda items: [items.values, items.lengths]
    ),
    **dict.fromkeys(
        ("TensorListGetItem", "TensorArrayReadV3"), lambda items, index: _rows(items.values, *items.limits(index))
    ),
    **dict.fromkeys(
        ("TensorListLength", "TensorArraySizeV3"), lambda items: convert_to(axis_length(items.lengths, 0), Type.i32)
    ),
    "TensorArrayWriteV3": lambda items, index, item: _set(items, index, item, False),
    "TensorListPopBack": _pop,
    "TensorListPushBack": _push,
    "TensorListResize": lambda items, count: _resized(items, reshape(convert_to(count, Type.i64), [1])),
    "TensorListSetItem": lambda items, index, item, grows=False: _set(items, index, item, grows),
}


def translate_unequal(op_type: str, arguments: Sequence[Value], grows: bool) -> Values:
    """Return the result of an operator whose first argument is an UnequalList. Raises FrontendError."""
    if op_type not in _TRANSLATORS:
        raise FrontendError(
            "it is not supported for a list whose elements may have different lengths, because they are concatenated"
        )
    options = {"grows": grows} if op_type == "TensorListSetItem" else {}
    return _TRANSLATORS[op_type](*arguments, **options)


# Operators that read one element of a list, that read all one after the other, and that change the list, their output
# 0. A loop returns it at the index of its input.
_READING = ("TensorArrayReadV3", "TensorListGetItem", "TensorListPopBack")
_CONCATENATING = ("TensorArrayConcatV3", "TensorListConcat", "TensorListConcatV2")
_CHANGING = ("TensorArrayWriteV3", "TensorListPopBack", "TensorListPushBack", "TensorListResize", "TensorListSetItem")
_PASSING = ("Identity", *_CHANGING)
_LOOPS = ("While", "StatelessWhile")


def may_differ(graph: TensorflowGraph, functions: Mapping[str, TensorflowGraph], created: Reference) -> bool:
    """Return whether the elements of a list that is created in a graph may differ in their first dimension.

    They may if an operator of the graph concatenates them, or if all that read the list read one element at a time.
    """
    reached = [_Place(graph, created)]
    readers, seen = {id(graph): _readers(graph)}, {(id(graph), created)}
    operators: set[str] = set()
    for place in reached:
        if place.graph is graph and place.list_ in graph.outputs:
            operators.add("")  # It is unknown what the caller does.
        if id(place.graph) not in readers:
            readers[id(place.graph)] = _readers(place.graph)
        for node, index in readers[id(place.graph)].get(place.list_, ()):
            if node.op_type in _CONCATENATING and place.graph is graph:
                return True
            operators.add(node.op_type)
            for follower in _followers(place.graph, node, index, functions):
                key = id(follower.graph), follower.list_
                if key not in seen:
                    seen.add(key)
                    reached.append(follower)
    return not operators.isdisjoint(_READING) and operators <= {*_PASSING, *_LOOPS, *_TRANSLATORS}


class _Place(NamedTuple):
    """A value that is a list, in the graph that it belongs to."""

    graph: TensorflowGraph
    list_: Reference


def _readers(graph: TensorflowGraph) -> dict[Reference, list[tuple[TensorflowNode, int]]]:
    """Return the nodes that read each value, with the index of their input."""
    readers: dict[Reference, list[tuple[TensorflowNode, int]]] = defaultdict(list)
    for node in graph.nodes.values():
        for index, value in enumerate(node.inputs):
            readers[value].append((node, index))
    return readers


def _followers(
    graph: TensorflowGraph, node: TensorflowNode, index: int, functions: Mapping[str, TensorflowGraph]
) -> Iterator[_Place]:
    """Yield the lists that a list becomes by a node of which it is an input."""
    if node.op_type in _PASSING:
        yield _Place(graph, Reference(node.name))
    elif node.op_type in _LOOPS:
        yield _Place(graph, Reference(node.name, index))
        for inner in (functions[name] for name in node.functions() if name in functions):
            if index < len(inner.inputs):
                yield _Place(inner, Reference(inner.inputs[index]))


class WithLengths(Subgraph):
    """A function of a loop, of which some inputs are UnequalLists: their lengths are more inputs.

    ``returns_lists``: whether it is the body, which returns as many values as it takes.
    """

    def __init__(self, function: Subgraph, lists: Sequence[int], returns_lists: bool) -> None:
        self._function, self._lists, self._returns_lists, self.name = function, lists, returns_lists, function.name
        self.input_names = [*function.input_names, *(f"{function.input_names[index]}/lengths" for index in lists)]

    def translate_into(
        self, scope: ModelScope, variables: Variables, inputs: Sequence[Value], prefix: str = ""
    ) -> list[Value]:
        results = self._function.translate_into(scope, variables, self.joined(inputs), prefix)
        return self.separated(results) if self._returns_lists else results

    def inline(self, inputs: Sequence[Value], name: str) -> list[Value]:
        results = self._function.inline(self.joined(inputs), name)
        return self.separated(results) if self._returns_lists else results

    def joined(self, values: Sequence[Value]) -> list[Value]:
        """Return values with the lists in the place of their elements and lengths."""
        count = len(values) - len(self._lists)
        joined = list(values[:count])
        for index, lengths in zip(self._lists, values[count:]):
            elements = joined[index]
            assert isinstance(elements, Output) and isinstance(lengths, Output)
            joined[index] = UnequalList(elements, lengths)
        return joined

    def separated(self, values: Sequence[Value]) -> list[Value]:
        """Return values with the elements of the lists in the place of these, and their lengths after all others."""
        separated = list(values)
        for index in self._lists:
            items = values[index]
            if not isinstance(items, UnequalList):
                raise FrontendError("its body returns another value for a list of elements of different lengths")
            separated[index] = items.values
            separated.append(items.lengths)
        return separated
