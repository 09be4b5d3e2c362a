"""A runtime model as plain data, to be sent from a worker: IR readers do not know the types of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.graph import ExecutionNode, Model, Node, Parameter, Result


@dataclass(frozen=True)
class PlainNode:
    """A node: ``inputs`` are pairs of an earlier node's index and its output, ``outputs`` their types and shapes."""

    is_parameter: bool
    is_result: bool
    name: str
    rt_info: dict[str, str]
    inputs: Sequence[tuple[int, int]]
    outputs: Sequence[tuple[str, str]]


def plain_nodes(model: Model) -> list[PlainNode]:
    """Return the nodes of a runtime model, each after those that it reads. Their types have names, so no sequences."""
    nodes = model.get_ordered_ops()
    index_of = {node: index for index, node in enumerate(nodes)}
    return [
        PlainNode(
            isinstance(node, Parameter),
            isinstance(node, Result),
            node.friendly_name,
            dict(node.rt_info),
            [(index_of[value.node], value.index) for value in node.input_values()],
            [(f"{value.element_type}", str(value.partial_shape)) for value in node.outputs()],
        )
        for node in nodes
    ]


def model_of(plain: Sequence[PlainNode], name: str) -> Model:
    """Return the runtime model of plain nodes."""
    nodes: list[Node] = []
    for entry in plain:
        inputs = [nodes[index].output(output) for index, output in entry.inputs]
        outputs = [(Type(kind), PartialShape(shape)) for kind, shape in entry.outputs]
        node = Parameter(*outputs[0]) if entry.is_parameter else Result(*inputs) if entry.is_result else None
        nodes.append(node or ExecutionNode(inputs, outputs))
        nodes[-1].friendly_name = entry.name
        nodes[-1].rt_info |= entry.rt_info
    read = {index for entry in plain for index, _ in entry.inputs}
    ends = [node for index, node in enumerate(nodes) if isinstance(node, ExecutionNode) and index not in read]
    parameters = [node for node in nodes if isinstance(node, Parameter)]
    return Model([node for node in nodes if isinstance(node, Result)], parameters, name, sinks=ends)
