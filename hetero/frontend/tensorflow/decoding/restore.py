"""The tensors of the checkpoint that belong to the variables and tables, by the nodes that restore it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowNode, pass_through
from hetero.frontend.tensorflow.decoding.checkpoint import Checkpoint

_ASSIGNMENTS = ("Assign", "AssignVariableOp")
_IMPORTS = ("LookupTableImport", "LookupTableImportV2")
# Operators between a tensor that is read and the variable that it is assigned to.
_PASSED = ("Identity", "Cast", "Reshape")
# The suffix of the name of an object's variable in its key.
_OBJECT_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


class RestoredKeys:
    """The keys in the checkpoint of each variable, and of the keys and values of each table, by their names.

    ``restore_node``: the name of the node that restores the checkpoint, or "".
    """

    def __init__(self, graph: TensorflowGraph, functions: Mapping[str, TensorflowGraph], restore_node: str) -> None:
        self.variables: dict[str, str] = {}
        self.tables: dict[str, tuple[str, str]] = {}
        self._add(graph, {})
        node = graph.nodes.get(restore_node)
        for name in node.functions() if node is not None else []:
            if name in functions and node is not None:
                function = functions[name]
                arguments = {
                    argument: handle
                    for argument, reference in zip(function.inputs, node.inputs)
                    if (handle := graph.nodes.get(reference.node)) is not None
                }
                self._add(function, arguments)

    def _add(self, graph: TensorflowGraph, arguments: Mapping[str, TensorflowNode]) -> None:
        """Add what a graph restores. ``arguments``: the nodes of its inputs."""
        names: dict[str, list[str]] = {}
        for node in graph.nodes.values():
            if node.op_type not in (*_ASSIGNMENTS, *_IMPORTS) or len(node.inputs) < 2:
                continue
            resource = _source(graph, node.inputs[0], arguments)
            keys = [_restored_key(graph, reference, names) for reference in node.inputs[1:]]
            if resource is None or None in keys:
                continue
            if node.op_type in _ASSIGNMENTS:
                self.variables[resource.resource_name] = str(keys[0])
            elif len(keys) > 1:
                self.tables[resource.resource_name] = str(keys[0]), str(keys[1])


class RestoredVariables(Mapping[str, np.ndarray]):
    """The variables of a graph by name, with their contents in a checkpoint. ``keys``: their keys in it."""

    def __init__(self, checkpoint: Checkpoint, keys: Mapping[str, str]) -> None:
        self._checkpoint, self._keys = checkpoint, keys

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


class RestoredTables(Mapping[str, tuple[np.ndarray, np.ndarray]]):
    """The tables of a graph by name, with their keys and values in a checkpoint. ``keys``: the keys of both in it."""

    def __init__(self, checkpoint: Checkpoint, keys: Mapping[str, tuple[str, str]]) -> None:
        self._checkpoint = checkpoint
        self._keys = {name: both for name, both in keys.items() if all(key in checkpoint for key in both)}

    def __getitem__(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        keys, values = self._keys[name]
        return self._checkpoint[keys], self._checkpoint[values]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, name: object) -> bool:
        return name in self._keys


def _restored_key(graph: TensorflowGraph, reference: Reference, names: dict[str, list[str]]) -> str | None:
    """Return the key of the tensor that a RestoreV2 node returns. ``names``: the keys of each such node, a cache."""
    value = pass_through(graph, reference, _PASSED)
    restore = graph.nodes.get(value.node)
    if restore is None or restore.op_type != "RestoreV2" or len(restore.inputs) < 2:
        return None
    if restore.name not in names:
        names[restore.name] = _constant_texts(graph, restore.inputs[1])
    return names[restore.name][value.port] if 0 <= value.port < len(names[restore.name]) else None


def _source(
    graph: TensorflowGraph, reference: Reference, arguments: Mapping[str, TensorflowNode]
) -> TensorflowNode | None:
    name = pass_through(graph, reference, _PASSED).node
    return arguments.get(name, graph.nodes.get(name))


def _constant_texts(graph: TensorflowGraph, reference: Reference) -> list[str]:
    node = graph.nodes.get(pass_through(graph, reference, _PASSED).node)
    if node is None or node.op_type != "Const" or "value" not in node.attributes:
        return []
    return [str(text) for text in np.ravel(node.attributes["value"])]
