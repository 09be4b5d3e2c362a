"""Conditionals of TensorFlow 1, the nodes between Switches and Merges, as If and Case nodes."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.frontend.tensorflow.control_flow.slices import GraphSlice
from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowNode
from hetero.frontend.tensorflow.decoding.attributes import FunctionName
from hetero.system.errors import FrontendError

_SWITCHES = ("Switch", "RefSwitch", "_SwitchN")
_MERGES = ("Merge", "RefMerge")


def replace_switches(graph: TensorflowGraph, functions: dict[str, TensorflowGraph]) -> None:
    """Replace each Merge of a graph by an If or Case node, whose branches are added to ``functions``.

    Raises FrontendError if the predicate of a Merge cannot be found.
    """
    done: set[str] = set()
    for root in [node.name for node in graph.nodes.values() if node.op_type in _MERGES]:
        for merge in _inner_first(graph, root, done):
            _replace(graph, graph.nodes[merge], functions)


def _inner_first(graph: TensorflowGraph, root: str, done: set[str]) -> list[str]:
    """Return a Merge and the Merges above it that are not done yet, in topological order."""
    order: list[str] = []
    stack = [(root, False)]
    while stack:
        name, is_complete = stack.pop()
        node = graph.nodes.get(name)
        if is_complete:
            if node is not None and node.op_type in _MERGES:
                order.append(name)
        elif name not in done and node is not None:
            done.add(name)
            stack.append((name, True))
            stack += [(reference.node, False) for reference in node.inputs]
    return order


def _replace(graph: TensorflowGraph, merge: TensorflowNode, functions: dict[str, TensorflowGraph]) -> None:
    sides = [GraphSlice(graph, [reference], {}, _SWITCHES) for reference in merge.inputs]
    predicate, ports = _predicate(graph, merge, sides)
    # Each branch has an input for each value before a Switch, and for each output of a Switch of another conditional.
    inputs: dict[Reference, str] = {}
    arguments: list[dict[Reference, str]] = []
    for side in sides:
        names: dict[Reference, str] = {}
        for reference in side.met:
            switch = graph.nodes[reference.node]
            outside = switch.inputs[0] if switch.inputs[1] == predicate else reference
            names[reference] = inputs.setdefault(outside, f"{merge.name}/input_{len(inputs)}")
        arguments.append(names)
    branches: list[FunctionName] = []
    for port in range(len(sides)):
        index = ports.index(port)
        name = f"{merge.name}/branch_{port}"
        functions[name] = sides[index].function(name, list(inputs.values()), arguments[index])
        branches.append(FunctionName(name))
    is_if = graph.nodes[_first_switch(sides)].op_type != "_SwitchN" if any(side.met for side in sides) else True
    attributes = (
        {"then_branch": branches[1], "else_branch": branches[0]}
        if is_if and len(branches) == 2
        else {"branches": branches}
    )
    graph.nodes[merge.name] = TensorflowNode(
        merge.name, "If" if "then_branch" in attributes else "Case", [predicate, *inputs], attributes=attributes
    )


def _first_switch(sides: Sequence[GraphSlice]) -> str:
    return next(reference.node for side in sides for reference in side.met)


def _predicate(
    graph: TensorflowGraph, merge: TensorflowNode, sides: Sequence[GraphSlice]
) -> tuple[Reference, list[int]]:
    """Return the predicate of a Merge, and the output of its Switches that each input of the Merge depends on.

    A side that reads no Switch, such as a constant, depends on one by a control input.
    """
    ports_of_sides = [_ports(graph, side) for side in sides]
    for predicate in dict.fromkeys(predicate for ports in ports_of_sides for predicate in ports):
        known = [ports.get(predicate, set()) for ports in ports_of_sides]
        chosen = [next(iter(ports)) if len(ports) == 1 else -1 for ports in known]
        if any(len(ports) > 1 for ports in known) or chosen.count(-1) > 1:
            continue
        missing = set(range(len(sides))) - set(chosen)
        if len(missing) == 1 and -1 in chosen:
            chosen[chosen.index(-1)] = missing.pop()
        if sorted(chosen) == list(range(len(sides))):
            return predicate, chosen
    raise FrontendError(f"{merge.op_type} node '{merge.name}': its predicate cannot be found")


def _ports(graph: TensorflowGraph, side: GraphSlice) -> dict[Reference, set[int]]:
    """Return the outputs of Switches that a side of a Merge depends on, by the predicates of the Switches."""
    ports: dict[Reference, set[int]] = {}
    references = list(side.met)
    for node in side.nodes.values():
        for name in node.control_inputs:
            pivot = graph.nodes.get(name)
            if pivot is not None and pivot.op_type == "Identity" and pivot.inputs:
                references.append(pivot.inputs[0])
    for reference in references:
        switch = graph.nodes.get(reference.node)
        if switch is not None and switch.op_type in _SWITCHES and len(switch.inputs) == 2:
            ports.setdefault(switch.inputs[1], set()).add(reference.port)
    return ports
