"""Conversion of the XML of an IR into a Model. Layers may stand in any order in the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NoReturn
from xml.etree.ElementTree import Element

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.frontend.ir.attributes import AttributeReader
from hetero.frontend.ir.bodies import read_bodies
from hetero.frontend.ir.runtime_info import name_dimensions, read_model_info, read_rt_info
from hetero.frontend.ir.spelling import operation_name, split_names
from hetero.frontend.ir.weights import decode
from hetero.graph import Constant, Model, Node, Op, Output, Parameter, Result, get_layout
from hetero.ops.control_flow.bodies import MultiSubGraphOp
from hetero.ops.control_flow.variables import AssignV3
from hetero.ops.movement.slicing import Split, VariadicSplit
from hetero.ops.opsets import OPSETS, classes_in, extension_classes
from hetero.system.errors import FrontendError, HeteroError


def read_net(
    net: Element,
    weights: memoryview | None,
    operations: Operations,
    report_progress: Callable[[int, int], None],
) -> Model:
    """Return the model of a ``net`` element. Raises FrontendError or GraphError if it is invalid.

    Calls ``report_progress(total_steps, completed_steps)`` after each layer of the top-level graph.
    """
    model = _GraphReader(net, weights, operations).read(report_progress)
    model.rt_info.update(read_model_info(net))
    if net.get("version") == "10":
        _name_by_nodes(model)
    return model


def _name_by_nodes(model: Model) -> None:
    """Add node names to the tensor names of inputs and outputs: files of version 10 have no tensor names."""
    for parameter in model.parameters:
        parameter.output(0).add_names({parameter.friendly_name})
    for result in model.results:
        source = result.input_value(0)
        number = f".{source.index}" if source.node.get_output_size() > 1 else ""
        for output in (source, result.output(0)):
            output.add_names({f"{source.node.friendly_name}{number}"})


class Operations(dict[str, dict[str, type[Op]]]):
    """Operation classes by opset version and then by name; a version is filled in on first access.

    As in OpenVINO, an opset contains the operations of earlier opsets too. User-defined operations (``custom``) win
    over hetero's of the same name, and the last one added wins over earlier ones.
    """

    def __init__(self, custom: Sequence[type[Op]] = ()) -> None:
        super().__init__()
        self._custom = custom

    def __missing__(self, version: str) -> dict[str, type[Op]]:
        numbers = {f"opset{number}": number for number in OPSETS}
        if version == "extension":
            classes = extension_classes()
        else:
            classes = classes_in(numbers[version]) if version in numbers else {}
        self[version] = classes | {o.type_info.name: o for o in self._custom if o.type_info.version_id == version}
        return self[version]


class _GraphReader:
    """Reader of the graph of a model or of a body."""

    def __init__(self, element: Element, weights: memoryview | None, operations: Operations) -> None:
        self._element, self._weights, self._operations = element, weights, operations
        self._layers: dict[str, Element] = {}
        for layer in element.iterfind("layers/layer"):
            number = layer.get("id", "")
            if number in self._layers:
                raise FrontendError(f"two layers have the id {number}")
            self._layers[number] = layer
        # The source of each input port, as (layer, port), by layer and port.
        self._sources: dict[str, dict[str, tuple[str, str]]] = {number: {} for number in self._layers}
        for edge in element.iterfind("edges/edge"):
            self._add_edge(edge)
        self._nodes: dict[str, Node] = {}
        self._outputs: dict[tuple[str, str], Output] = {}

    def read(self, report_progress: Callable[[int, int], None] = lambda total_steps, completed_steps: None) -> Model:
        for completed, number in enumerate(self._order(), 1):
            layer = self._layers[number]
            try:
                self._nodes[number] = self._make(number, layer)
            except (HeteroError, ValueError) as error:
                self._fail(layer, str(error), error)
            except RecursionError:
                raise
            except Exception as error:
                # Shape inference may fail in unforeseen ways on a damaged attribute, and user-defined operations may
                # raise anything.
                self._fail(layer, f"it cannot be created from these inputs and attributes ({error!r})", error)
            report_progress(len(self._layers), completed)
        in_file_order = [self._nodes[number] for number in self._layers]
        parameters = [node for node in in_file_order if isinstance(node, Parameter)]
        results = [node for node in in_file_order if isinstance(node, Result)]
        sinks = [node for node in in_file_order if isinstance(node, AssignV3) or _sets_variables(node)]
        return Model(results, parameters, self._element.get("name", "Model"), sinks=sinks)

    def node(self, number: str) -> Node:
        """Return the node of a layer. Raises FrontendError if there is no such layer."""
        if number not in self._nodes:
            raise FrontendError(f"there is no layer {number}")
        return self._nodes[number]

    def _add_edge(self, edge: Element) -> None:
        source, target = ((edge.get(f"{end}-layer", ""), edge.get(f"{end}-port", "")) for end in ("from", "to"))
        for number, _ in (source, target):
            if number not in self._layers:
                raise FrontendError(
                    f"an edge leads from layer {source[0]} to layer {target[0]}, but there is no layer {number}"
                )
        if target[1] in self._sources[target[0]]:
            raise FrontendError(f"two edges lead to port {target[1]} of layer {target[0]}")
        self._sources[target[0]][target[1]] = source

    def _order(self) -> list[str]:
        """Return the layer numbers in topological order. Raises FrontendError if the edges form a cycle."""
        sources = {number: [source for source, _ in by_port.values()] for number, by_port in self._sources.items()}
        try:
            return list(TopologicalSorter(sources).static_order())
        except CycleError as error:
            self._fail(self._layers[error.args[1][0]], "it is part of a cycle")

    def _make(self, number: str, layer: Element) -> Node:
        inputs = self._inputs(number, layer)
        kind, version = operation_name(layer.get("type", "")), layer.get("version", "")
        cls = self._operations[version].get(kind)
        if cls is None:
            hint = "" if version.startswith("opset") else f"; for a user-defined one call Core.add_extension({kind})"
            raise FrontendError(f"there is no operation {kind} of {version or 'no version'}{hint}")
        data = layer.find("data")
        texts = {} if data is None else dict(data.attrib)
        node = self._constant(texts) if cls is Constant else self._operation(cls, layer, inputs, texts)
        node.friendly_name = layer.get("name") or node.friendly_name
        node.rt_info.update(read_rt_info(layer))
        for reader, port in zip(node.inputs(), layer.iterfind("input/port")):
            reader.rt_info.update(read_rt_info(port))
        self._read_outputs(number, layer, node)
        return node

    def _inputs(self, number: str, layer: Element) -> list[Output]:
        ports = [port.get("id", "") for port in layer.iterfind("input/port")]
        sources = self._sources[number]
        if sorted(ports) != sorted(sources):
            raise FrontendError(f"its input ports are {ports}, but edges lead to {sorted(sources)}")
        for port in ports:
            if sources[port] not in self._outputs:
                raise FrontendError(
                    f"it reads port {sources[port][1]} of layer {sources[port][0]}, which has no such port"
                )
        return [self._outputs[sources[port]] for port in ports]

    def _operation(self, cls: type[Op], layer: Element, inputs: list[Output], texts: dict[str, str]) -> Node:
        if issubclass(cls, MultiSubGraphOp):
            bodies = {b.tag: _GraphReader(b, self._weights, self._operations) for b in layer if b.tag.endswith("body")}
            return read_bodies(
                cls, layer, inputs, {name: (reader.read(), reader.node) for name, reader in bodies.items()}
            )
        _check_output_count(cls, layer, inputs, texts)
        return cls.of(inputs, AttributeReader(texts))

    def _constant(self, texts: dict[str, str]) -> Constant:
        missing = {"element_type", "shape", "offset", "size"} - texts.keys()
        if missing:
            raise FrontendError(f"attribute {min(missing)} is missing")
        element_type = Type(texts["element_type"])
        shape = tuple(int(part) for part in texts["shape"].split(",") if part.strip())
        offset, size = int(texts["offset"]), int(texts["size"])
        available = 0 if self._weights is None else len(self._weights)
        if min(offset, size, *shape, 0) < 0 or offset + size > available:
            raise FrontendError(f"its {size} bytes at {offset} do not lie within the {available} bytes of weights")
        content = memoryview(b"") if self._weights is None else self._weights[offset : offset + size]
        if 0 in shape:
            # OpenVINO stores one byte for an empty constant.
            content = content[:0]
        return Constant(decode(content, element_type, shape))

    def _read_outputs(self, number: str, layer: Element, node: Node) -> None:
        if isinstance(node, Result):
            names = split_names(layer.get("output_names", ""))
            node.output(0).names = set(names) or set(node.input_value(0).own_names)
            return
        ports = list(layer.iterfind("output/port"))
        if len(ports) != node.get_output_size():
            raise FrontendError(f"it has {len(ports)} output ports, but the operation has {node.get_output_size()}")
        for port, output in zip(ports, node.outputs()):
            key = number, port.get("id", "")
            if key in self._outputs:
                raise FrontendError(f"two of its output ports have the id {key[1]}")
            self._outputs[key] = output
            output.names = set(split_names(port.get("names", "")))
            output.rt_info.update(read_rt_info(port))
            if isinstance(node, Parameter):
                name_dimensions(node, output.rt_info)
            get_layout(output)  # raises GraphError if it is not a layout

    def _fail(self, layer: Element, problem: str, cause: Exception | None = None) -> NoReturn:
        name = f"layer {layer.get('id')}, {layer.get('type')} '{layer.get('name')}'"
        raise FrontendError(f"{name}: {problem}") from cause


def _sets_variables(node: Node) -> bool:
    """Return whether a body of the node assigns a variable."""
    return any(body.sinks for body in node.bodies if body is not None)


def _check_output_count(cls: type[Op], layer: Element, inputs: list[Output], texts: dict[str, str]) -> None:
    """Raise FrontendError if a split has another number of parts than the layer has output ports.

    Checked before the node is created, because a few bytes of a damaged file can ask for millions of parts.
    """
    if cls is Split and texts.get("num_splits", "").isdecimal():
        count = Dimension(int(texts["num_splits"]))
    elif cls is VariadicSplit and len(inputs) == 3:
        count = inputs[2].partial_shape.element_count()
    else:
        return
    ports = len(layer.findall("output/port"))
    if count.is_static and count != ports:
        raise FrontendError(f"it has {ports} output ports, but splits into {count} parts")
