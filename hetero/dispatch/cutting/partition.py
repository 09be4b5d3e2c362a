"""Partition: cut a graph into subgraphs, each on one device, that never wait for each other in a cycle.

``subgraph_order`` makes few subgraphs in an order in which each reads only from earlier ones, whatever the affinities.
It also splits a subgraph if a good part of it can run while another device works.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hetero.dispatch.cutting.subgraph_order import ColoredGraph, order_subgraphs, split_for_overlap
from hetero.dispatch.devices import ListedDevice
from hetero.graph import Constant, Model, Node, Output, is_terminal
from hetero.ops.control_flow.variables import assigned_variables


@dataclass(eq=False)
class DeviceSubgraph:
    """Nodes that one device runs as a whole, in topological order, and the values that cross the boundary."""

    device: ListedDevice
    nodes: list[Node]
    inputs: list[Output] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)


Estimate = Callable[[Model, Sequence[Node]], Mapping[Node, float]]


def partition(
    model: Model,
    device_of: Mapping[Node, ListedDevice],
    estimate: Estimate | None = None,
    shared: Collection[Node] = (),
) -> list[DeviceSubgraph]:
    """Return the subgraphs of a model in an order in which they can run. Linear in nodes and edges.

    ``estimate`` returns the seconds of each node; without it no subgraph is split for devices to overlap. ``shared``
    are operations on Constants that are in each subgraph that reads them, not only in one.
    """
    nodes = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    order = [node for node in nodes if node not in shared]
    devices = list(dict.fromkeys(device_of[node] for node in order))
    color_of = {device: color for color, device in enumerate(devices)}
    index_of = {node: index for index, node in enumerate(order)}
    sources = [
        tuple({index_of[value.node] for value in node.input_values() if value.node in index_of}) for node in order
    ]
    graph = ColoredGraph([color_of[device_of[node]] for node in order], sources)
    colored = order_subgraphs(graph)
    if estimate is not None:
        colored = split_for_overlap(graph, colored, lambda: list(estimate(model, order).values()))
    parts = [(devices[color], [order[index] for index in nodes]) for color, nodes in colored]
    if len(parts) > 1:
        parts = [(device, part) for device, nodes in parts for part in _split_setters(nodes)]
    position = {node: index for index, node in enumerate(nodes)}
    subgraphs = [DeviceSubgraph(device, _with_shared(part, shared, position)) for device, part in parts]
    _find_boundaries(model, subgraphs)
    return subgraphs


def _with_shared(nodes: list[Node], shared: Collection[Node], position: Mapping[Node, int]) -> list[Node]:
    """Return nodes with all shared ones that they depend on, in the order of the model."""
    found, waiting = dict.fromkeys(nodes), list(nodes) if shared else []
    while waiting:
        for value in waiting.pop().input_values():
            if value.node in shared and value.node not in found:
                found[value.node] = None
                waiting.append(value.node)
    return nodes if len(found) == len(nodes) else sorted(found, key=position.__getitem__)


def _split_setters(nodes: list[Node]) -> Iterator[list[Node]]:
    """Split nodes so that no part has two operations with bodies that assign one variable.

    The last one in the order of the model counts, and a part of the model may have another order.
    """
    begin, names = 0, set[str]()
    for index, node in enumerate(nodes):
        assigned = assigned_variables([node]) if node.bodies else set()
        if assigned & names:
            yield nodes[begin:index]
            begin, names = index, set()
        names |= assigned
    yield nodes[begin:]


def _find_boundaries(model: Model, subgraphs: Sequence[DeviceSubgraph]) -> None:
    """Set the inputs and outputs of the subgraphs: those of the model first, in the model's order."""
    crossing = dict.fromkeys(result.input_value(0) for result in model.results)
    rank = {value: index for index, value in enumerate([*model.inputs, *crossing])}
    for subgraph in subgraphs:
        own = set(subgraph.nodes)
        inputs: dict[Output, None] = {}
        for node in subgraph.nodes:
            for value in node.input_values():
                if value.node not in own and not isinstance(value.node, Constant):
                    inputs[value] = None
        subgraph.inputs = sorted(inputs, key=lambda value: rank.get(value, len(rank)))
        crossing |= inputs
    for subgraph in subgraphs:
        subgraph.outputs = [value for node in subgraph.nodes for value in node.outputs() if value in crossing]
    for subgraph in subgraphs:
        subgraph.outputs.sort(key=lambda value: rank.get(value, len(rank)))
