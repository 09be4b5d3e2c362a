"""A TensorFlow model as the file describes it, before its operators are translated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from hetero.frontend.source import Companion
from hetero.frontend.tensorflow.decoding.attributes import FunctionName
from hetero.frontend.translation.decoded import DecodedGraph, DecodedModel, DecodedNode
from hetero.frontend.translation.model_context import MAX_NESTING
from hetero.system.errors import FrontendError

# Operators that have an effect besides their outputs: they run even if nothing reads these.
# All that use a resource are of them, except those that only read it.
_CHANGES = ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min")
_PREFIXES_OF_ASSIGNMENTS = (
    "Assign", "Resource", "InitializeTable", "LookupTableImport", "LookupTableInsert", "LookupTableRemove",
    "StridedSliceAssign", *(f"Scatter{change}" for change in _CHANGES), *(f"ScatterNd{change}" for change in _CHANGES),
)  # fmt: skip
_READING = ("ResourceGather", "ResourceGatherNd")


class Reference(NamedTuple):
    """An output of a node: the node's name, and the index of the output."""

    node: str
    port: int = 0

    def __str__(self) -> str:
        """The name of the tensor in TensorFlow."""
        return f"{self.node}:{self.port}"


@dataclass
class TensorflowNode(DecodedNode):
    """A node. Its outputs are References to it. ``control_inputs``: the names of nodes that run before it."""

    inputs: list[Reference] = field(default_factory=list)
    outputs: Sequence[Reference] = ()
    control_inputs: list[str] = field(default_factory=list)

    @property
    def resource_name(self) -> str:
        """The name of the variable or table that it stands for, its ``shared_name``: nodes with one name share it."""
        return str(self.attributes.get("shared_name") or self.name)

    def functions(self) -> list[str]:
        """Return the names of the functions in its attributes: branches, the condition and the body of a loop."""
        names: list[str] = []
        for name in _FUNCTION_ATTRIBUTES:
            if name in self.attributes:
                value = self.attributes[name]
                values = value if isinstance(value, list) else [value]
                names += [function.name for function in values if is_function(function)]
        return names

    @property
    def is_assignment(self) -> bool:
        """True if it changes a variable or a table."""
        return self.op_type.startswith(_PREFIXES_OF_ASSIGNMENTS) and self.op_type not in _READING


# The attributes that name functions, in the order in which get_subgraph numbers them.
_FUNCTION_ATTRIBUTES = ("f", "then_branch", "else_branch", "cond", "body", "branches")


def is_function(value: Any) -> bool:
    return isinstance(value, FunctionName)


@dataclass
class TensorflowGraph(DecodedGraph):
    """A graph or a function of the library. The nodes are by name, in any order.

    ``inputs``: the names of the nodes that stand for its inputs, Placeholders, or _Arg nodes of a function.
    ``outputs``: an index of -1 means all outputs of the node. ``control_outputs``: the names of nodes that must run.
    """

    inputs: list[str]
    outputs: list[Reference]
    nodes: dict[str, TensorflowNode]
    control_outputs: list[str] = field(default_factory=list)

    def name_of(self, key: Reference | str) -> str:
        return key if isinstance(key, str) else str(key)

    def values_by_name(self) -> dict[str, Reference]:
        """Return all values by the names of their tensors, and the first ones of nodes by the names of these."""
        read = (reference for node in self.nodes.values() for reference in node.inputs)
        references = [*map(Reference, self.nodes), *read, *self.outputs]
        by_name = {str(reference): reference for reference in references if reference.port >= 0}
        return by_name | {name: Reference(name) for name in self.nodes}

    def part(
        self, outputs: Sequence[Reference], control_outputs: Sequence[str], others: Iterable[str]
    ) -> TensorflowGraph:
        """Return the graph with these outputs and only the nodes that they, or the ``others``, need."""
        worklist = [*(reference.node for reference in outputs), *control_outputs, *others]
        nodes: dict[str, TensorflowNode] = {}
        while worklist:
            name = worklist.pop()
            if name in self.nodes and name not in nodes:
                node = nodes[name] = self.nodes[name]
                worklist += [*(reference.node for reference in node.inputs), *node.control_inputs]
        return replace(self, outputs=list(outputs), nodes=nodes, control_outputs=list(control_outputs))


@dataclass
class TensorflowModel(DecodedModel):
    """A model. The arrays of ``variables`` are by the names of the variables.

    ``input_names`` and ``output_names``: the names that users have for the inputs and outputs of the graph, in order;
    empty if the file has no signature. ``initializers``: the names of nodes that initialize tables. ``tables``: the
    keys and values of tables that the checkpoint has. ``assets``: the files by the names of the nodes that hold
    their paths.
    """

    graph: TensorflowGraph
    functions: Mapping[str, TensorflowGraph] = field(default_factory=dict)
    variables: Mapping[str, np.ndarray] = field(default_factory=dict)
    input_names: list[str] = field(default_factory=list)
    output_names: list[str] = field(default_factory=list)
    initializers: list[str] = field(default_factory=list)
    tables: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    assets: Mapping[str, Companion] = field(default_factory=dict)

    def keys_by_name(self) -> dict[str, Reference]:
        return self.graph.values_by_name() | dict(zip(self.output_names, self.graph.outputs))

    def set_outputs(self, outputs: Mapping[str, Reference]) -> None:
        """Replace the outputs, and remove the nodes that they do not need.

        The graph's own outputs come with its changes of variables. Others come without, as in a session of TensorFlow:
        the changes that follow them train the model.
        """
        graph, references = self.graph, list(outputs.values())
        is_own = all(reference in graph.outputs for reference in references)
        control_outputs = graph.control_outputs if is_own else []
        self.output_names = list(outputs)
        self.graph = graph.part(references, control_outputs, [*graph.inputs, *self.initializers])


def execution_order(
    graph: TensorflowGraph, functions: Mapping[str, TensorflowGraph], effects: dict[str, bool]
) -> list[TensorflowNode]:
    """Return the nodes that the outputs or assignments of a graph need, each after those that it reads.

    Control inputs decide the order, and which assignments run. ``effects``: whether functions change variables, by
    their names, as far as it is known. Raises FrontendError if a node is missing or the graph has a cycle.
    """
    roots = [*(reference.node for reference in graph.outputs), *graph.control_outputs]
    order = list(_sorted(graph, roots))
    needed = {reference.node for reference in graph.outputs}
    for node in reversed(order):
        if node.name in needed or _has_effect(node, functions, effects):
            needed.add(node.name)
            needed.update(reference.node for reference in node.inputs)
    return [node for node in order if node.name in needed]


def _sorted(graph: TensorflowGraph, roots: Iterable[str]) -> Iterator[TensorflowNode]:
    """Yield the nodes that the roots depend on, in topological order."""
    done: set[str] = set()
    open_nodes: set[str] = set()
    for root in roots:
        stack: list[tuple[str, Iterator[str]]] = []
        name: str | None = root
        while name is not None or stack:
            if name is not None and name not in done:
                if name in open_nodes:
                    raise FrontendError(f"node '{name}' depends on its own output")
                node = _node(graph, name, stack[-1][0] if stack else "")
                open_nodes.add(name)
                stack.append((name, _dependencies(graph, node)))
            elif not stack:
                break
            current, dependencies = stack[-1]
            name = next(dependencies, None)
            if name is None:
                stack.pop()
                open_nodes.discard(current)
                done.add(current)
                yield graph.nodes[current]


def _dependencies(graph: TensorflowGraph, node: TensorflowNode) -> Iterator[str]:
    # The inputs of a function are given: what they depend on in the file does not matter.
    if node.name not in graph.inputs:
        yield from (reference.node for reference in node.inputs)
        yield from node.control_inputs


def _node(graph: TensorflowGraph, name: str, reader: str) -> TensorflowNode:
    if name not in graph.nodes:
        raise FrontendError(
            f"{f'node {reader!r}' if reader else 'an output'} reads '{name}', which is not in the graph"
        )
    return graph.nodes[name]


def _has_effect(
    node: TensorflowNode, functions: Mapping[str, TensorflowGraph], effects: dict[str, bool], depth: int = 0
) -> bool:
    """Return whether a node, or a function that it calls, changes a variable. ``effects``: the answers by function."""
    if depth > MAX_NESTING:
        raise FrontendError(f"functions are nested more than {MAX_NESTING} deep")
    if node.is_assignment:
        return True
    for name in [*node.functions(), node.op_type]:
        if name in functions and name not in effects:
            effects[name] = False  # A function that calls itself is an error later.
            inner_nodes = functions[name].nodes.values()
            effects[name] = any(_has_effect(inner, functions, effects, depth + 1) for inner in inner_nodes)
        if effects.get(name, False):
            return True
    return False


def pass_through(graph: TensorflowGraph, reference: Reference, operators: Sequence[str] = ("Identity",)) -> Reference:
    """Return what an output is the same as, above operators that only pass it on."""
    for _ in range(len(graph.nodes)):
        node = graph.nodes.get(reference.node)
        if node is None or node.op_type not in operators or not node.inputs:
            break
        reference = node.inputs[0]
    return reference
