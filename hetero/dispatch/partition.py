"""Cutting a graph into subgraphs, each of one device, that never wait for each other in a circle.

The devices take turns (see ``turns``): what a device takes in its turn is a subgraph, which reads only from earlier
ones, whatever the affinities. They are as few as the affinities allow, but that a subgraph may be split where a good
part of it need not wait for what the rest waits for, and so runs while another device does (see ``overlap``).
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hetero.dispatch.affinity import Device, is_placed
from hetero.dispatch.overlap import split_for_overlap
from hetero.dispatch.subgraph_order import ColoredGraph, order_subgraphs
from hetero.graph import Constant, Model, Node, Output, Parameter


@dataclass(eq=False)
class Subgraph:
    """Nodes of one device that run as one, in order, with the values that they get from and give to the outside."""

    device: Device
    nodes: list[Node]
    inputs: list[Output] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)


Estimate = Callable[[Model, Sequence[Node]], Mapping[Node, float]]


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Let the garbage collector rest: it would walk a graph of 100,000 nodes again and again, and find nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_no_collections()
def partition(model: Model, device_of: Mapping[Node, Device], estimate: Estimate | None = None) -> list[Subgraph]:
    """The subgraphs of a model in an order in which they can run. Linear in nodes and edges.

    ``estimate`` gives the seconds that each node takes; without it no subgraph is split for devices to overlap.
    """
    order = [node for node in model.get_ordered_ops() if is_placed(node)]
    devices = list(dict.fromkeys(device_of[node] for node in order))
    number_of_device = {device: number for number, device in enumerate(devices)}
    number_of = {node: number for number, node in enumerate(order)}
    sources = [
        tuple({number_of[value.node] for value in node.input_values() if value.node in number_of}) for node in order
    ]
    graph = ColoredGraph([number_of_device[device_of[node]] for node in order], sources)
    turns = order_subgraphs(graph)
    if estimate is not None:
        turns = split_for_overlap(graph, turns, lambda: list(estimate(model, order).values()))
    subgraphs = [Subgraph(devices[color], [order[number] for number in taken]) for color, taken in turns]
    _find_boundaries(model, subgraphs)
    return subgraphs


def extract(subgraph: Subgraph, name: str) -> Model:
    """A model of a subgraph's own: Parameters stand for its inputs, with all that is known of them.

    Types, shapes, tensor names and known values are those from before the cut; Constants share their arrays.
    """
    copies: dict[Output, Output] = {}
    parameters, sinks = [], []
    for value in subgraph.inputs:
        parameter = Parameter.of([], {"element_type": value.element_type, "partial_shape": value.partial_shape})
        parameter.friendly_name = _port_name(value)
        parameter.known_value = parameter.output(0).value = value.value
        parameter.output(0).names = set(value.names)
        parameters.append(parameter)
        copies[value] = parameter.output(0)
    for node in subgraph.nodes:
        for value in node.input_values():
            if isinstance(value.node, Constant) and value not in copies:
                copies[value] = value.node.copy_with_new_inputs([]).output(0)
        clone = node.copy_with_new_inputs([copies[value] for value in node.input_values()])
        copies.update(zip(node.outputs(), clone.outputs()))
        if not any(output.get_target_inputs() for output in node.outputs()):
            sinks.append(clone)
    model = Model([copies[value] for value in subgraph.outputs], parameters, name, sinks=sinks)
    for value, result in zip(subgraph.outputs, model.results):
        # More may be known by now, as of an If whose condition was folded, but not by whoever reads the value.
        result.set_output_type(0, value.element_type, value.partial_shape)
    return model


def _find_boundaries(model: Model, subgraphs: Sequence[Subgraph]) -> None:
    home = {node: subgraph for subgraph in subgraphs for node in subgraph.nodes}
    handed_out = {result.input_value(0) for result in model.results}
    for subgraph in subgraphs:
        inputs: dict[Output, None] = {}
        for node in subgraph.nodes:
            for value in node.input_values():
                if home.get(value.node) is not subgraph and not isinstance(value.node, Constant):
                    inputs[value] = None
        subgraph.inputs = list(inputs)
        handed_out.update(inputs)
    for node, subgraph in home.items():
        subgraph.outputs += [value for value in node.outputs() if value in handed_out]


def _port_name(value: Output) -> str:
    return (
        value.node.friendly_name if value.node.get_output_size() == 1 else f"{value.node.friendly_name}.{value.index}"
    )
