"""Control flow of TensorFlow 1 in the form of TensorFlow 2: If, Case and While nodes that call functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hetero.frontend.tensorflow.control_flow.frames import replace_frames
from hetero.frontend.tensorflow.control_flow.switches import replace_switches
from hetero.frontend.tensorflow.decoded import TensorflowGraph, TensorflowModel

_OPERATORS = ("Enter", "RefEnter", "Merge", "RefMerge")


def make_functional(model: TensorflowModel) -> None:
    """Replace the loops and conditionals of the model's graph. Raises FrontendError."""
    if not any(node.op_type in _OPERATORS for node in model.graph.nodes.values()):
        return
    added: dict[str, TensorflowGraph] = {}
    replace_frames(model.graph, added)
    _remove_remains(model.graph)
    # Bodies of loops have conditionals too; the branches of conditionals have none, as the inner ones come first.
    for graph in [model.graph, *added.values()]:
        replace_switches(graph, added)
    model.functions = JoinedFunctions(added, model.functions)


def _remove_remains(graph: TensorflowGraph) -> None:
    """Remove the nodes that depend on nodes which were replaced: what is left of loops."""
    readers: dict[str, list[str]] = {}
    for node in graph.nodes.values():
        for reference in node.inputs:
            readers.setdefault(reference.node, []).append(node.name)
    worklist = [name for read, names in readers.items() if read not in graph.nodes for name in names]
    while worklist:
        name = worklist.pop()
        if graph.nodes.pop(name, None) is not None:
            worklist += readers.get(name, [])
    graph.outputs = [output for output in graph.outputs if output.port >= 0 or output.node in graph.nodes]
    for node in graph.nodes.values():
        node.control_inputs = [name for name in node.control_inputs if name in graph.nodes]


class JoinedFunctions(Mapping[str, TensorflowGraph]):
    """The functions of a file, and others."""

    def __init__(self, added: Mapping[str, TensorflowGraph], others: Mapping[str, TensorflowGraph]) -> None:
        self._added, self._others = added, others

    def __getitem__(self, name: str) -> TensorflowGraph:
        return self._added[name] if name in self._added else self._others[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._added), **dict.fromkeys(self._others)})

    def __len__(self) -> int:
        return len(set(self._added) | set(self._others))

    def __contains__(self, name: object) -> bool:
        return name in self._added or name in self._others
