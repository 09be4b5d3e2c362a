"""Bodies of If, Loop and TensorIterator in IR files: a graph nested in a layer, with a port map.

``external_port_id`` is a port number of the outer layer, counting inputs first and outputs after them.
``internal_layer_id`` is the layer number of a Parameter or a Result of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from hetero.graph import Model, Node, Output
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    InputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    MultiSubGraphOp,
    OutputDescription,
    SliceInputDescription,
)
from hetero.ops.control_flow.control_flow import If, Loop
from hetero.system.errors import FrontendError

# Adds a body to an element and returns the layer number of each node.
FillGraph = Callable[[Element, Model], dict[Node, int]]
# A body and a function that returns its node of a given layer number.
ReadBody = tuple[Model, Callable[[str], Node]]

# The XML attributes of a sliced input or a concatenated output, with their defaults.
_SLICE_DEFAULTS = {"axis": 0, "start": 0, "end": -1, "stride": 1, "part_size": 1}


def write_bodies(layer: Element, node: MultiSubGraphOp, fill_graph: FillGraph) -> None:
    """Add the bodies of a node, their port maps and back edges to the node's layer."""
    for index, (name, body) in enumerate(zip(body_names(node), filter(None, node.bodies))):
        element = Element(name)
        numbers = fill_graph(element, body)
        prefix = name.removesuffix("body")
        ports = SubElement(layer, f"{prefix}port_map")
        parameters = [numbers[parameter] for parameter in body.parameters]
        results = [numbers[result] for result in body.results]
        for description in node.input_descriptions[index]:
            _write_input(ports, description, parameters)
        for output in node.output_descriptions[index]:
            _write_output(ports, output, results, node.get_input_size())
        if isinstance(node, Loop):
            _write_special_ports(ports, node, parameters, results)
        merged = [each for each in node.input_descriptions[index] if isinstance(each, MergedInputDescription)]
        if merged:
            back_edges = SubElement(layer, "back_edges")
            for carried in merged:
                source, target = results[carried.body_value_index], parameters[carried.body_parameter_index]
                SubElement(back_edges, "edge", {"from-layer": str(source), "to-layer": str(target)})
        layer.append(element)


def body_names(node: MultiSubGraphOp) -> tuple[str, ...]:
    """Return the element names of a node's bodies, in the order of ``node.bodies``."""
    return ("then_body", "else_body") if isinstance(node, If) else ("body",)


def _write_input(ports: Element, description: InputDescription, parameters: list[int]) -> None:
    element = SubElement(ports, "input", external_port_id=str(description.input_index))
    element.set("internal_layer_id", str(parameters[description.body_parameter_index]))
    if isinstance(description, SliceInputDescription):
        _write_slice(element, description)


def _write_output(ports: Element, description: OutputDescription, results: list[int], input_count: int) -> None:
    element = SubElement(ports, "output", external_port_id=str(input_count + description.output_index))
    element.set("internal_layer_id", str(results[description.body_value_index]))
    if isinstance(description, ConcatOutputDescription):
        _write_slice(element, description)
    elif isinstance(description, BodyOutputDescription) and description.iteration != -1:
        # OpenVINO writes no iteration number: its files always mean the last iteration.
        element.set("iteration", str(description.iteration))


def _write_slice(element: Element, description: SliceInputDescription | ConcatOutputDescription) -> None:
    for name in _SLICE_DEFAULTS:
        element.set(name, str(getattr(description, name)))


def _write_special_ports(ports: Element, node: Loop, parameters: list[int], results: list[int]) -> None:
    iteration, condition = node.get_special_body_ports()
    if iteration >= 0:
        SubElement(ports, "input", external_port_id="-1", internal_layer_id=str(parameters[iteration]),
                   purpose="current_iteration")  # fmt: skip
    if condition >= 0:
        SubElement(ports, "output", external_port_id="-1", internal_layer_id=str(results[condition]),
                   purpose="execution_condition")  # fmt: skip


def read_bodies(
    cls: type[MultiSubGraphOp], layer: Element, inputs: list[Output], bodies: Mapping[str, ReadBody]
) -> MultiSubGraphOp:
    """Return a node of class ``cls`` with its bodies; ``bodies`` maps element name to body.

    Raises FrontendError or GraphError if a body or a port map is missing or invalid.
    """
    node = cls()
    node.set_arguments(inputs)
    node.set_output_size(len(layer.findall("output/port")))
    for index, name in enumerate(body_names(node)):
        if name not in bodies:
            raise FrontendError(f"it has no {name}")
        prefix = name.removesuffix("body")
        port_map = layer.find(f"{prefix}port_map")
        if port_map is None:
            raise FrontendError(f"it has no {prefix}port_map")
        ports = _PortReader(port_map, *bodies[name])
        node.bodies[index] = bodies[name][0]
        node.input_descriptions[index] = ports.inputs(layer)
        node.output_descriptions[index] = ports.outputs(len(inputs), node.get_output_size())
        if isinstance(node, Loop):
            node.set_special_body_ports(ports.special_ports())
    node.check_complete()
    node.infer()
    return node


class _PortReader:
    """Reader of one body's port map."""

    def __init__(self, ports: Element, body: Model, node_of: Callable[[str], Node]) -> None:
        self._ports, self._body, self._node_of = ports, body, node_of

    def inputs(self, layer: Element) -> list[InputDescription]:
        carried = {
            self._parameter(edge.get("to-layer", "")): self._result(edge.get("from-layer", ""))
            for edge in layer.iterfind("back_edges/edge")
        }
        descriptions: list[InputDescription] = []
        for port in self._ports.iterfind("input"):
            index, parameter = _number(port, "external_port_id"), self._parameter(port.get("internal_layer_id", ""))
            if index < 0:
                continue
            if "axis" in port.attrib:
                descriptions.append(SliceInputDescription(index, parameter, **_slice(port)))
            elif parameter in carried:
                descriptions.append(MergedInputDescription(index, parameter, carried[parameter]))
            else:
                descriptions.append(InvariantInputDescription(index, parameter))
        return descriptions

    def outputs(self, input_count: int, output_count: int) -> list[OutputDescription]:
        descriptions: list[OutputDescription] = []
        for port in self._ports.iterfind("output"):
            number, result = _number(port, "external_port_id"), self._result(port.get("internal_layer_id", ""))
            if number < 0:
                continue
            index = number - input_count
            if not 0 <= index < output_count:
                raise FrontendError(f"its port map names port {number}, which is none of its outputs")
            if "axis" in port.attrib:
                descriptions.append(ConcatOutputDescription(result, index, **_slice(port)))
            else:
                descriptions.append(BodyOutputDescription(result, index, _number(port, "iteration", -1)))
        return descriptions

    def special_ports(self) -> tuple[int, int]:
        """Return the index of the Parameter for the iteration number and of the condition's Result; -1 if absent."""
        layers = {port.get("purpose"): port.get("internal_layer_id", "") for port in self._ports}
        iteration, condition = layers.get("current_iteration"), layers.get("execution_condition")
        return (
            -1 if iteration is None else self._parameter(iteration),
            -1 if condition is None else self._result(condition),
        )

    def _parameter(self, layer: str) -> int:
        return self._index(self._body.parameters, layer, "Parameter")

    def _result(self, layer: str) -> int:
        return self._index(self._body.results, layer, "Result")

    def _index(self, nodes: list[Any], layer: str, kind: str) -> int:
        node = self._node_of(layer)
        if node not in nodes:
            raise FrontendError(f"layer {layer} of its body is not a {kind}")
        return nodes.index(node)


def _number(port: Element, name: str, default: int | None = None) -> int:
    text = port.get(name, default)
    try:
        return int(text)  # type: ignore[arg-type]  # None raises TypeError
    except (TypeError, ValueError):
        raise FrontendError(f"{name} of its port map must be an integer, but is {text}") from None


def _slice(port: Element) -> dict[str, int]:
    return {name: _number(port, name, default) for name, default in _SLICE_DEFAULTS.items()}
