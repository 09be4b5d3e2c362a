"""Cutting a graph into subgraphs, each of one device, that never wait for each other in a circle.

Every node is labelled with the number of device changes on the longest path that leads to it. An edge then
goes to a higher label, or stays inside one label and one device. So nodes of one device and one label
that hang together form subgraphs, and an order by label is an order in which they can run. Linear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hetero.dispatch.affinity import Device, is_placed
from hetero.graph import Constant, Model, Node, Output, Parameter


@dataclass(eq=False)
class Subgraph:
    """Nodes of one device that run as one, in order, with the values that they get from and give to the outside."""

    device: Device
    nodes: list[Node]
    inputs: list[Output] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)


def partition(model: Model, device_of: Mapping[Node, Device]) -> list[Subgraph]:
    """The subgraphs of a model in an order in which they can run."""
    order = [node for node in model.get_ordered_ops() if is_placed(node)]
    labels = _labels(order, device_of)
    groups = _connected(order, lambda a, b: device_of[a] is device_of[b] and labels[a] == labels[b])
    groups.sort(key=lambda nodes: labels[nodes[0]])
    subgraphs = [Subgraph(device_of[nodes[0]], nodes) for nodes in groups]
    _find_boundaries(subgraphs)
    return subgraphs


def extract(subgraph: Subgraph, name: str) -> Model:
    """A model of a subgraph's own: Parameters stand for its inputs, with all that is known of them.

    Types, shapes, tensor names and known values are those from before the cut; Constants share their arrays.
    """
    copies: dict[Output, Output] = {}
    parameters = []
    for value in subgraph.inputs:
        parameter = Parameter(value.element_type, value.partial_shape, name=_port_name(value))
        parameter.known_value = value.value
        parameter.infer()
        parameter.output(0).names = set(value.names)
        parameters.append(parameter)
        copies[value] = parameter.output(0)
    for node in subgraph.nodes:
        for value in node.input_values():
            if isinstance(value.node, Constant) and value not in copies:
                copies[value] = value.node.clone_with_new_inputs([]).output(0)
        clone = node.clone_with_new_inputs([copies[value] for value in node.input_values()])
        copies.update(zip(node.outputs(), clone.outputs()))
    return Model([copies[value] for value in subgraph.outputs], parameters, name)


def _labels(order: Sequence[Node], device_of: Mapping[Node, Device]) -> dict[Node, int]:
    labels: dict[Node, int] = {}
    for node in order:
        sources = [value.node for value in node.input_values() if is_placed(value.node)]
        labels[node] = max((labels[s] + (device_of[s] is not device_of[node]) for s in sources), default=0)
    return labels


def _connected(order: Sequence[Node], belong_together) -> list[list[Node]]:
    """Sets of nodes joined by edges between nodes that belong together, found by union-find; each in order."""
    parent = {node: node for node in order}

    def root(node: Node) -> Node:
        while parent[node] is not node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for node in order:
        for value in node.input_values():
            if value.node in parent and belong_together(value.node, node):
                parent[root(node)] = root(value.node)
    groups: dict[Node, list[Node]] = {}
    for node in order:
        groups.setdefault(root(node), []).append(node)
    return list(groups.values())


def _find_boundaries(subgraphs: Sequence[Subgraph]) -> None:
    home = {node: subgraph for subgraph in subgraphs for node in subgraph.nodes}
    for subgraph in subgraphs:
        inputs: dict[Output, None] = {}
        for node in subgraph.nodes:
            for value in node.input_values():
                if home.get(value.node) is not subgraph and not isinstance(value.node, Constant):
                    inputs[value] = None
            for value in node.outputs():
                if any(home.get(target.node) is not subgraph for target in value.get_target_inputs()):
                    subgraph.outputs.append(value)
        subgraph.inputs = list(inputs)


def _port_name(value: Output) -> str:
    return (
        value.node.friendly_name if value.node.get_output_size() == 1 else f"{value.node.friendly_name}.{value.index}"
    )
