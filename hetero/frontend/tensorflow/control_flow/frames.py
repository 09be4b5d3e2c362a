"""Loops of TensorFlow 1, frames of Enter, Merge, Switch, NextIteration and Exit nodes, as While nodes."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from hetero.frontend.tensorflow.control_flow.slices import GraphSlice
from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowNode
from hetero.frontend.tensorflow.decoding.attributes import FunctionName
from hetero.system.errors import FrontendError

_ENTERS = ("Enter", "RefEnter")


class _Variable(NamedTuple):
    """A variable of a loop: its initial value, the Merge that begins an iteration, and the value of the next one."""

    initial: Reference
    merge: str
    next_value: Reference


def replace_frames(graph: TensorflowGraph, functions: dict[str, TensorflowGraph]) -> None:
    """Replace the loops of a graph by While nodes; their conditions and bodies are added to ``functions``.

    Raises FrontendError for a loop that is not complete.
    """
    frames: dict[str, list[TensorflowNode]] = defaultdict(list)
    for node in graph.nodes.values():
        if node.op_type in _ENTERS and node.inputs:
            frames[str(node.attributes.get("frame_name", ""))].append(node)
    readers: dict[str, list[TensorflowNode]] = defaultdict(list)
    for node in graph.nodes.values():
        for reference in node.inputs:
            readers[reference.node].append(node)
    waiting = list(frames)
    while waiting:
        # Inner loops first: the body of a loop may have no frame in it.
        left = [name for name in waiting if not _replace(graph, name, frames[name], readers, functions)]
        if len(left) == len(waiting):
            raise FrontendError(f"the loop '{left[0]}' is not complete")
        waiting = left


def _replace(
    graph: TensorflowGraph,
    frame: str,
    enters: list[TensorflowNode],
    readers: dict[str, list[TensorflowNode]],
    functions: dict[str, TensorflowGraph],
) -> bool:
    """Replace a loop by a While node. Returns False if there is another loop in it."""
    variables, invariants = [], []
    for enter in enters:
        if enter.attributes.get("is_constant", False):
            invariants.append(enter)
        else:
            variables += [_variable(graph, enter, merge) for merge in readers[enter.name] if merge.op_type == "Merge"]
    if not variables:
        raise FrontendError(f"the loop '{frame}' has no variables")
    inputs = [*(variable.merge for variable in variables), *(enter.name for enter in invariants)]
    switches = {variable.merge: _switches(variable.merge, readers) for variable in variables}
    condition = _condition(graph, frame, switches)
    arguments = {Reference(name): name for name in inputs}
    in_body = {Reference(enter.name): enter.name for enter in invariants}
    for merge, nodes in switches.items():
        in_body.update({Reference(node.name, 1): merge for node in nodes})
    test = GraphSlice(graph, [condition], arguments)
    step = GraphSlice(graph, [variable.next_value for variable in variables], in_body)
    if not (test.operators() | step.operators()).isdisjoint({"Exit", "RefExit", *_ENTERS}):
        return False
    body = step.function(f"{frame}/body", inputs, in_body)
    body.outputs += [Reference(enter.name) for enter in invariants]
    functions.update({f"{frame}/cond": test.function(f"{frame}/cond", inputs, arguments), f"{frame}/body": body})
    name = f"{frame}/While"
    while name in graph.nodes:
        name += "_"
    graph.nodes[name] = TensorflowNode(
        name,
        "While",
        [*(variable.initial for variable in variables), *(enter.inputs[0] for enter in invariants)],
        attributes={"cond": FunctionName(f"{frame}/cond"), "body": FunctionName(f"{frame}/body")},
    )
    for position, variable in enumerate(variables):
        del graph.nodes[variable.merge]  # Only nodes of the loop read it; it is no Merge of a conditional.
        for switch in switches[variable.merge]:
            for exit_node in readers[switch.name]:
                if exit_node.op_type in ("Exit", "RefExit"):
                    graph.nodes[exit_node.name] = TensorflowNode(
                        exit_node.name, "Identity", [Reference(name, position)]
                    )
    return True


def _variable(graph: TensorflowGraph, enter: TensorflowNode, merge: TensorflowNode) -> _Variable:
    for reference in merge.inputs:
        node = graph.nodes.get(reference.node)
        if node is not None and node.op_type in ("NextIteration", "RefNextIteration") and node.inputs:
            return _Variable(enter.inputs[0], merge.name, node.inputs[0])
    raise FrontendError(f"the loop variable '{merge.name}' has no next value")


def _switches(merge: str, readers: dict[str, list[TensorflowNode]]) -> list[TensorflowNode]:
    """Return the nodes that pass a variable on to the body or out of the loop."""
    return [node for node in readers[merge] if node.op_type in ("Switch", "RefSwitch") and node.inputs[0].node == merge]


def _condition(graph: TensorflowGraph, frame: str, switches: dict[str, list[TensorflowNode]]) -> Reference:
    """Return the condition of a loop, which all its Switches read through a LoopCond."""
    for nodes in switches.values():
        for switch in nodes:
            node = graph.nodes.get(switch.inputs[1].node) if len(switch.inputs) == 2 else None
            if node is not None and node.op_type == "LoopCond" and node.inputs:
                return node.inputs[0]
    raise FrontendError(f"the loop '{frame}' has no condition")
