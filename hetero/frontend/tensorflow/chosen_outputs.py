"""Outputs that the caller chooses, of the main graph or within functions that it calls, and what they need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hetero.core.types import Type
from hetero.frontend.tensorflow.control_flow.functional import JoinedFunctions
from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowModel, TensorflowNode
from hetero.frontend.tensorflow.decoding.attributes import FunctionName
from hetero.frontend.translation.model_context import MAX_NESTING
from hetero.system.errors import FrontendError

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def choose_outputs(model: TensorflowModel, names: Sequence[str]) -> None:
    """Make values the outputs of a model, and remove what they do not need, also from the functions that it calls.

    ``names``: as ``DecodedModel.choose_outputs`` takes them; a value within a function has the name of the node that
    calls it before its own: ``call/node:0``. If there are none, or one is not in the file, the outputs stay. A function
    of which only values within are needed comes without its changes of variables, as ``set_outputs`` has it.
    """
    by_name = model.keys_by_name()
    places = {
        name: _InnerValue((), by_name[name]) if name in by_name else _find(model, model.graph, name) for name in names
    }
    if not names or None in places.values():
        return
    calls = _Calls(model)
    outputs: dict[str, Reference] = {}
    for name, place in places.items():
        assert place is not None
        model.graph, outputs[name] = calls.expose(model.graph, place)
    model.set_outputs(outputs)
    model.graph = calls.prune(model.graph)
    model.functions = JoinedFunctions(calls.added, model.functions)


class _InnerValue(NamedTuple):
    """A value within functions. ``path``: the names of the nodes that call them, the outermost first."""

    path: tuple[str, ...]
    value: Reference


def _function_of(model: TensorflowModel, node: TensorflowNode | None) -> str | None:
    """Return the name of the function that a node calls, None for other nodes."""
    if node is None:
        return None
    if node.op_type in _CALLS:
        return next(iter(node.functions()), None)
    return node.op_type if node.op_type in model.functions else None


def _find(model: TensorflowModel, graph: TensorflowGraph, name: str, depth: int = 0) -> _InnerValue | None:
    """Return the place of the value ``call/…/node:0`` within the functions that a graph calls, None if it has none."""
    parts = name.split("/")
    for count in range(1, len(parts)):
        call, rest = "/".join(parts[:count]), "/".join(parts[count:])
        function = _function_of(model, graph.nodes.get(call))
        if function is None or depth > MAX_NESTING:
            continue
        inner = model.graph_of(function)
        assert isinstance(inner, TensorflowGraph)
        by_name = inner.values_by_name()
        place = _InnerValue((), by_name[rest]) if rest in by_name else _find(model, inner, rest, depth + 1)
        if place is not None:
            return _InnerValue((call, *place.path), place.value)
    return None


class _Calls:
    """The calls of functions in a model. ``added``: functions that return other values, by name."""

    def __init__(self, model: TensorflowModel) -> None:
        self._model = model
        self.added: dict[str, TensorflowGraph] = {}
        # How many outputs a function had before values within it were added.
        self._own_outputs: dict[str, int] = {}
        self._pruned: dict[tuple[str, frozenset[int]], str] = {}

    def _graph(self, name: str) -> TensorflowGraph:
        graph = self.added.get(name) or self._model.graph_of(name)
        assert isinstance(graph, TensorflowGraph)
        return graph

    def _add(self, graph: TensorflowGraph, name: str) -> str:
        """Add a function, and return the key that calls have for it: its name, with quotes if that is taken."""
        while name in self.added or name in self._model.functions:
            name += "'"
        self.added[name] = graph
        return name

    def expose(self, graph: TensorflowGraph, place: _InnerValue) -> tuple[TensorflowGraph, Reference]:
        """Return a graph that calls functions which also return the value of a place, and that value's reference."""
        if not place.path:
            return graph, place.value
        node = graph.nodes[place.path[0]]
        function = _function_of(self._model, node)
        assert function is not None
        inner, value = self.expose(self._graph(function), _InnerValue(place.path[1:], place.value))
        outputs = list(inner.outputs)
        if value not in outputs:
            outputs.append(value)
        name = self._add(replace(inner, outputs=outputs), function)
        self._own_outputs[name] = self._own_outputs.get(function, len(inner.outputs))
        nodes = {**graph.nodes, node.name: _call(node, name, len(outputs))}
        return replace(graph, nodes=nodes), Reference(node.name, outputs.index(value))

    def prune(self, graph: TensorflowGraph, depth: int = 0) -> TensorflowGraph:
        """Return a graph whose calls compute only the values that it reads."""
        if depth > MAX_NESTING:
            raise FrontendError(f"functions are nested more than {MAX_NESTING} deep")
        read: dict[str, set[int]] = defaultdict(set)
        for reference in [*graph.outputs, *(value for node in graph.nodes.values() for value in node.inputs)]:
            read[reference.node].add(reference.port)
        nodes = dict(graph.nodes)
        for name, node in graph.nodes.items():
            function = _function_of(self._model, node)
            if function is None or -1 in read[name]:
                continue
            pruned = self._pruned_function(function, frozenset(read[name]), depth)
            nodes[name] = _call(node, pruned, len(self._graph(pruned).outputs))
        return replace(graph, nodes=nodes)

    def _pruned_function(self, name: str, read: frozenset[int], depth: int) -> str:
        """Return the name of a function whose outputs are right where they are read."""
        if (name, read) not in self._pruned:
            graph = self._graph(name)
            kept = [reference for index, reference in enumerate(graph.outputs) if index in read]
            # Others stand in their places: an argument, which costs nothing.
            other = Reference(graph.inputs[0]) if graph.inputs else next(iter(kept), None)
            outputs = [
                reference if index in read or other is None else other for index, reference in enumerate(graph.outputs)
            ]
            has_own = not read or min(read) < self._own_outputs.get(name, len(outputs))
            control_outputs = graph.control_outputs if has_own else []
            added = self._pruned[name, read] = self._add(graph, name)
            part = self.added[added].part(outputs, control_outputs, graph.inputs)
            self.added[added] = self.prune(part, depth + 1)
        return self._pruned[name, read]


def _call(node: TensorflowNode, function: str, count: int) -> TensorflowNode:
    """Return a node that calls another function, with this number of outputs."""
    attributes = {"f": FunctionName(function), "Tout": [Type.dynamic] * count}
    op_type = node.op_type if node.op_type in _CALLS else _CALLS[0]
    return replace(node, op_type=op_type, attributes=attributes)
