"""Which tensor of the checkpoint belongs to which variable: what the nodes that restore the checkpoint say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from hetero.frontend.tensorflow.checkpoint import Checkpoint
from hetero.frontend.tensorflow.decoded import DecodedGraph, DecodedNode, Reference, pass_through
from hetero.frontend.tensorflow.names import variable_name

_ASSIGNMENTS = ("Assign", "AssignVariableOp")
# Operators between a tensor that is read and the variable that it is assigned to.
_PASSED = ("Identity", "Cast", "Reshape")
# What follows the name of a variable of an object in its key.
_OBJECT_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


class RestoredVariables(Mapping[str, np.ndarray]):
    """The variables of a graph by name, with their contents in a checkpoint.

    ``restore_node``: the name of the node that restores the checkpoint, or "".
    """

    def __init__(
        self, checkpoint: Checkpoint, graph: DecodedGraph, functions: Mapping[str, DecodedGraph], restore_node: str
    ) -> None:
        self._checkpoint = checkpoint
        self._keys = dict(_restored_in(graph, {}))
        node = graph.nodes.get(restore_node)
        for name in node.functions() if node is not None else []:
            if name in functions and node is not None:
                function = functions[name]
                given = {
                    argument: handle
                    for argument, reference in zip(function.inputs, node.inputs)
                    if (handle := graph.nodes.get(reference.node)) is not None
                }
                self._keys.update(_restored_in(function, given))

    def __getitem__(self, name: str) -> np.ndarray:
        return self._checkpoint[self._key(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._key(name) in self._checkpoint

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def _key(self, name: str) -> str:
        key = self._keys.get(name, name)
        return key if key in self._checkpoint else key + _OBJECT_SUFFIX


def _restored_in(graph: DecodedGraph, given: Mapping[str, DecodedNode]) -> Iterator[tuple[str, str]]:
    """Yield the name and the key of each variable that a graph restores. ``given``: the nodes of its inputs."""
    names: dict[str, list[str]] = {}
    for node in graph.nodes.values():
        if node.op_type not in _ASSIGNMENTS or len(node.inputs) < 2:
            continue
        variable = _source(graph, node.inputs[0], given)
        value = pass_through(graph, node.inputs[1], _PASSED)
        restore = graph.nodes.get(value.node)
        if variable is None or restore is None or restore.op_type != "RestoreV2" or len(restore.inputs) < 2:
            continue
        if restore.name not in names:
            names[restore.name] = _constant_texts(graph, restore.inputs[1])
        if value.port < len(names[restore.name]):
            yield variable_name(variable), names[restore.name][value.port]


def _source(graph: DecodedGraph, reference: Reference, given: Mapping[str, DecodedNode]) -> DecodedNode | None:
    name = pass_through(graph, reference, _PASSED).node
    return given.get(name, graph.nodes.get(name))


def _constant_texts(graph: DecodedGraph, reference: Reference) -> list[str]:
    node = graph.nodes.get(pass_through(graph, reference, _PASSED).node)
    if node is None or node.op_type != "Const" or "value" not in node.attributes:
        return []
    return [str(text) for text in np.ravel(node.attributes["value"])]
