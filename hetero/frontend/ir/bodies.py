"""Bodies of If, Loop and TensorIterator in IR files: a graph inside of a layer, and how its ports are connected.

Outside, ports are numbered through the layer, inputs first; inside, by the number of the layer of a Parameter or
a Result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from xml.etree.ElementTree import Element, SubElement

from hetero.errors import FrontendError
from hetero.graph import Model, Node, Output
from hetero.ops.control_flow import If, Loop, MultiSubGraphOp
from hetero.ops.port_maps import (
    BodyOutputDescription,
    ConcatOutputDescription,
    InputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    OutputDescription,
    SliceInputDescription,
)

# Adds a body to an element and returns the number of each node's layer.
FillGraph = Callable[[Element, Model], dict[Node, int]]
# A body, and what finds a node of it by the number of its layer.
ReadBody = tuple[Model, Callable[[str], Node]]

_PLACES = ("axis", "start", "end", "stride", "part_size")


def write_bodies(layer: Element, node: MultiSubGraphOp, fill_graph: FillGraph) -> None:
    for index, (name, body) in enumerate(zip(body_names(node), node.bodies)):
        element = Element(name)
        numbers = fill_graph(element, body)
        prefix = name.removesuffix("body")
        ports = SubElement(layer, f"{prefix}port_map")
        parameters = [numbers[parameter] for parameter in body.parameters]
        results = [numbers[result] for result in body.results]
        for given in node.input_descriptions[index]:
            _write_input(ports, given, parameters)
        for made in node.output_descriptions[index]:
            _write_output(ports, made, results, node.get_input_size())
        if isinstance(node, Loop):
            _write_special_ports(ports, node, parameters, results)
        edges = [given for given in node.input_descriptions[index] if isinstance(given, MergedInputDescription)]
        if edges:
            back = SubElement(layer, "back_edges")
            for edge in edges:
                source, target = results[edge.body_value_index], parameters[edge.body_parameter_index]
                SubElement(back, "edge", {"from-layer": str(source), "to-layer": str(target)})
        layer.append(element)


def body_names(node: MultiSubGraphOp) -> tuple[str, ...]:
    """The elements of the bodies, in the order of the node's."""
    return ("then_body", "else_body") if isinstance(node, If) else ("body",)


def _write_input(ports: Element, given: InputDescription, parameters: list[int]) -> None:
    element = SubElement(ports, "input", external_port_id=str(given.input_index))
    element.set("internal_layer_id", str(parameters[given.body_parameter_index]))
    if isinstance(given, SliceInputDescription):
        _write_places(element, given)


def _write_output(ports: Element, made: OutputDescription, results: list[int], inputs: int) -> None:
    element = SubElement(ports, "output", external_port_id=str(inputs + made.output_index))
    element.set("internal_layer_id", str(results[made.body_value_index]))
    if isinstance(made, ConcatOutputDescription):
        _write_places(element, made)
    elif made.iteration != -1:
        # OpenVINO's files do not tell which iteration's value it is, and mean the last one's.
        element.set("iteration", str(made.iteration))


def _write_places(element: Element, places: SliceInputDescription | ConcatOutputDescription) -> None:
    for name in _PLACES:
        element.set(name, str(getattr(places, name)))


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
    """The node with its bodies, each given by the name of its element. Raises FrontendError and GraphError."""
    node = cls()
    node.set_arguments(inputs)
    node.set_output_size(len(layer.findall("output/port")))
    for index, name in enumerate(body_names(node)):
        if name not in bodies:
            raise FrontendError(f"it has no {name}")
        body, node_of = bodies[name]
        ports = _PortReader(layer, name.removesuffix("body"), body, node_of)
        node.bodies[index] = body
        node.input_descriptions[index] = ports.inputs(layer)
        node.output_descriptions[index] = ports.outputs(len(inputs), node.get_output_size())
        if isinstance(node, Loop):
            node.set_special_body_ports(ports.special_ports())
    node.check_complete()
    node.infer()
    return node


class _PortReader:
    """Reads the port map of one body."""

    def __init__(self, layer: Element, prefix: str, body: Model, node_of: Callable[[str], Node]) -> None:
        self._ports = layer.find(f"{prefix}port_map")
        if self._ports is None:
            raise FrontendError(f"it has no {prefix}port_map")
        self._body, self._node_of = body, node_of

    def inputs(self, layer: Element) -> list[InputDescription]:
        carried = {
            self._parameter(edge.get("to-layer", "")): self._result(edge.get("from-layer", ""))
            for edge in layer.iterfind("back_edges/edge")
        }
        found = []
        for port in self._ports.iterfind("input"):
            index, parameter = _number(port, "external_port_id"), self._parameter(port.get("internal_layer_id", ""))
            if index < 0:
                continue
            if "axis" in port.attrib:
                found.append(SliceInputDescription(index, parameter, **_places(port)))
            elif parameter in carried:
                found.append(MergedInputDescription(index, parameter, carried[parameter]))
            else:
                found.append(InvariantInputDescription(index, parameter))
        return found

    def outputs(self, input_count: int, output_count: int) -> list[OutputDescription]:
        found = []
        for port in self._ports.iterfind("output"):
            number, result = _number(port, "external_port_id"), self._result(port.get("internal_layer_id", ""))
            if number < 0:
                continue
            index = number - input_count
            if not 0 <= index < output_count:
                raise FrontendError(f"its port map makes port {number}, which is none of its outputs")
            if "axis" in port.attrib:
                found.append(ConcatOutputDescription(result, index, **_places(port)))
            else:
                found.append(BodyOutputDescription(result, index, _number(port, "iteration", -1)))
        return found

    def special_ports(self) -> tuple[int, int]:
        """The Parameter that gets the number of the iteration, -1 where there is none, and the condition's Result."""
        iteration, condition = -1, -1
        for port in self._ports:
            if port.get("purpose") == "current_iteration":
                iteration = self._parameter(port.get("internal_layer_id", ""))
            elif port.get("purpose") == "execution_condition":
                condition = self._result(port.get("internal_layer_id", ""))
        return iteration, condition

    def _parameter(self, layer: str) -> int:
        return self._index(self._body.parameters, layer, "Parameter")

    def _result(self, layer: str) -> int:
        return self._index(self._body.results, layer, "Result")

    def _index(self, nodes: list, layer: str, kind: str) -> int:
        node = self._node_of(layer)
        if node not in nodes:
            raise FrontendError(f"layer {layer} of its body is no {kind}")
        return nodes.index(node)


def _number(port: Element, name: str, default: int | None = None) -> int:
    text = port.get(name, default)
    try:
        return int(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise FrontendError(f"{name} of its port map must be a whole number, but is {text}") from None


def _places(port: Element) -> dict[str, int]:
    defaults = {"axis": 0, "start": 0, "end": -1, "stride": 1, "part_size": 1}
    return {name: _number(port, name, default) for name, default in defaults.items()}
