"""From the XML of an IR to a Model: layers in the order in which they can be made, whatever theirs in the file is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NoReturn
from xml.etree.ElementTree import Element

from hetero.errors import FrontendError, HeteroError
from hetero.frontend.ir.attributes import AttributeReader
from hetero.frontend.ir.bodies import read_bodies
from hetero.frontend.ir.runtime_info import read_model_info, read_notes
from hetero.frontend.ir.spelling import operation_name, split_names
from hetero.frontend.ir.weights import decode
from hetero.graph import Constant, Model, Node, Op, Output, Parameter, Result
from hetero.ops.control_flow import MultiSubGraphOp
from hetero.ops.opsets import OPSETS, classes_in, extension_classes
from hetero.ops.slicing import Split, VariadicSplit
from hetero.ops.variables import AssignV3
from hetero.shape import Dimension
from hetero.types import Type


def read_net(
    net: Element,
    weights: memoryview | None,
    operations: Operations,
    report_progress: Callable[[int, int], None],
) -> Model:
    """The model of a ``net`` element, made of these operations. Raises FrontendError and GraphError.

    ``report_progress(total_steps, completed_steps)`` is told of each layer of its own graph.
    """
    model = _GraphReader(net, weights, operations).read(report_progress)
    model.rt_info.update(read_model_info(net))
    if net.get("version") == "10":
        _name_by_nodes(model)
    return model


def _name_by_nodes(model: Model) -> None:
    """Let inputs and outputs have the names of the nodes that make them too, as those who use version 10 expect."""
    for parameter in model.parameters:
        parameter.output(0).names.add(parameter.friendly_name)
    for result in model.results:
        source = result.input_value(0)
        number = f".{source.index}" if source.node.get_output_size() > 1 else ""
        for output in (source, result.output(0)):
            output.names.add(f"{source.node.friendly_name}{number}")


class Operations(dict):
    """The classes of operations by name, for each version, made when the version is first met.

    As in OpenVINO a version holds all operations of its operation set, also those that came with earlier ones. Of
    others' operations, ``own``, the last one of a name counts, and comes before hetero's.
    """

    def __init__(self, own: Sequence[type[Op]] = ()) -> None:
        super().__init__()
        self._own = own

    def __missing__(self, version: str) -> dict[str, type[Op]]:
        numbers = {f"opset{number}": number for number in OPSETS}
        if version == "extension":
            found = extension_classes()
        else:
            found = classes_in(numbers[version]) if version in numbers else {}
        self[version] = found | {o.type_info.name: o for o in self._own if o.type_info.version_id == version}
        return self[version]


class _GraphReader:
    """Reads the graph of a model or of a body."""

    def __init__(self, element: Element, weights: memoryview | None, operations: Operations) -> None:
        self._element, self._weights, self._operations = element, weights, operations
        self._layers: dict[str, Element] = {}
        for layer in element.iterfind("layers/layer"):
            number = layer.get("id", "")
            if number in self._layers:
                raise FrontendError(f"two layers have the id {number}")
            self._layers[number] = layer
        # For each layer the source, as layer and port, of each of its input ports.
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
                # A damaged attribute may bring the inference of some operation into a place that nobody thought of, and
                # operations of the user's own may raise anything.
                self._fail(layer, f"it cannot be made of these inputs and attributes ({error!r})", error)
            report_progress(len(self._layers), completed)
        in_file = [self._nodes[number] for number in self._layers]
        parameters = [node for node in in_file if isinstance(node, Parameter)]
        results = [node for node in in_file if isinstance(node, Result)]
        sinks = [node for node in in_file if isinstance(node, AssignV3) or _sets_variables(node)]
        return Model(results, parameters, self._element.get("name", "Model"), sinks=sinks)

    def node(self, number: str) -> Node:
        """The node of a layer. Raises FrontendError where there is no such layer."""
        if number not in self._nodes:
            raise FrontendError(f"there is no layer {number}")
        return self._nodes[number]

    def _add_edge(self, edge: Element) -> None:
        source, target = ((edge.get(f"{end}-layer", ""), edge.get(f"{end}-port", "")) for end in ("from", "to"))
        for number, _ in (source, target):
            if number not in self._layers:
                raise FrontendError(
                    f"an edge leads from layer {source[0]} to layer {target[0]}, but there is no {number}"
                )
        if target[1] in self._sources[target[0]]:
            raise FrontendError(f"two edges lead to port {target[1]} of layer {target[0]}")
        self._sources[target[0]][target[1]] = source

    def _order(self) -> list[str]:
        """The layers, each behind those that it reads."""
        waiting = {number: len(sources) for number, sources in self._sources.items()}
        readers: dict[str, list[str]] = {number: [] for number in self._layers}
        for number, sources in self._sources.items():
            for source, _ in sources.values():
                readers[source].append(number)
        ready = deque(number for number, count in waiting.items() if not count)
        order = []
        while ready:
            number = ready.popleft()
            order.append(number)
            for reader in readers[number]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    ready.append(reader)
        if len(order) < len(self._layers):
            stuck = next(number for number, count in waiting.items() if count)
            self._fail(self._layers[stuck], "it is part of a circle of edges")
        return order

    def _make(self, number: str, layer: Element) -> Node:
        inputs = self._inputs(number, layer)
        kind, version = operation_name(layer.get("type", "")), layer.get("version", "")
        cls = self._operations[version].get(kind)
        if cls is None:
            hint = "" if version.startswith("opset") else f": if it is your own, call Core.add_extension({kind}) first"
            raise FrontendError(f"there is no operation {kind} of {version or 'no version'}{hint}")
        data = layer.find("data")
        texts = {} if data is None else dict(data.attrib)
        node = self._constant(texts) if cls is Constant else self._operation(cls, layer, inputs, texts)
        node.friendly_name = layer.get("name") or node.friendly_name
        node.rt_info.update(read_notes(layer))
        for reader, port in zip(node.inputs(), layer.iterfind("input/port")):
            reader.rt_info.update(read_notes(port))
        self._read_outputs(number, layer, node)
        return node

    def _inputs(self, number: str, layer: Element) -> list[Output]:
        ports = [port.get("id", "") for port in layer.iterfind("input/port")]
        sources = self._sources[number]
        if sorted(ports) != sorted(sources):
            raise FrontendError(f"its input ports are {ports}, but edges lead to {sorted(sources)}")
        for port in ports:
            if sources[port] not in self._outputs:
                raise FrontendError(f"it reads port {sources[port][1]} of layer {sources[port][0]}, which has no such")
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
        held = 0 if self._weights is None else len(self._weights)
        if min(offset, size, *shape, 0) < 0 or offset + size > held:
            raise FrontendError(f"its {size} bytes at {offset} do not lie within the {held} bytes of weights")
        content = memoryview(b"") if self._weights is None else self._weights[offset : offset + size]
        if 0 in shape:
            # OpenVINO gives an empty constant one byte.
            content = content[:0]
        return Constant(decode(content, element_type, shape))

    def _read_outputs(self, number: str, layer: Element, node: Node) -> None:
        if isinstance(node, Result):
            names = split_names(layer.get("output_names", ""))
            node.output(0).names = set(names) or set(node.input_value(0).names)
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
            output.rt_info.update(read_notes(port))

    def _fail(self, layer: Element, problem: str, cause: Exception | None = None) -> NoReturn:
        name = f"layer {layer.get('id')}, {layer.get('type')} '{layer.get('name')}'"
        raise FrontendError(f"{name}: {problem}") from cause


def _sets_variables(node: Node) -> bool:
    """Whether a node of bodies has something to do there besides its outputs."""
    return any(body.sinks for body in node.bodies if body is not None)


def _check_output_count(cls: type[Op], layer: Element, inputs: list[Output], texts: dict[str, str]) -> None:
    """Refuse what would make more outputs than the layer has, of which a few bytes may ask for millions."""
    if cls is Split and texts.get("num_splits", "").isdecimal():
        count = Dimension(int(texts["num_splits"]))
    elif cls is VariadicSplit and len(inputs) == 3:
        count = inputs[2].partial_shape.element_count()
    else:
        return
    ports = len(layer.findall("output/port"))
    if count.is_static and count != ports:
        raise FrontendError(f"it has {ports} output ports, but makes {count} parts")
