"""Parts: the models of subgraphs, cut out of the user's model or of the one that a device prepared for its query.

A part of a prepared model has the prepared operations between the values at its border. Where a fusion has left out one
of these values, or has joined operations of the part with others, the part has the original operations instead, which
the device prepares alone: of Convolution, BatchNorm and Relu on A, A and B a device that multiplies the filters by the
scale of BatchNorm gets the part Convolution with its own filters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, is_terminal
from hetero.graph.rt_info import original_names
from hetero.ops.control_flow.variables import assigned_variables
from hetero.passes.bounds.intervals import Intervals, is_integral
from hetero.plugin import Ports, PreparedModel
from hetero.plugin.blobs.model_sections import port_fits


def extract(subgraph: DeviceSubgraph, name: str) -> Model:
    """Return a model of a subgraph, with a Parameter for each of its inputs.

    Types, shapes, tensor names and known values are those from before the cut; Constants share their arrays.
    """
    parameters = _parameters(subgraph.inputs)
    copies = {value: parameter.output(0) for value, parameter in parameters.items()}
    sinks = _copy_nodes(subgraph.nodes, copies)
    return _model(subgraph, parameters, [copies[value] for value in subgraph.outputs], sinks, name)


def _parameters(inputs: Iterable[Output]) -> dict[Output, Parameter]:
    """Return a Parameter for each value, which knows what is known of the value."""
    parameters, intervals = {}, Intervals()
    for value in inputs:
        parameter = Parameter(value.element_type, value.partial_shape, name=value_name(value))
        parameter.known_value = parameter.output(0).value = value.value
        if is_integral(value):
            parameter.known_interval = intervals.of(value)
        parameter.output(0).names = set(value.own_names)
        parameter.output(0).share_shape(value)
        parameters[value] = parameter
    return parameters


def _copy_nodes(nodes: Iterable[Node], copies: dict[Output, Output]) -> list[Node]:
    """Copy nodes, with the Constants that they read. Return the copies that run although nothing may read them."""
    sinks = []
    for node in nodes:
        for value in node.input_values():
            if value not in copies and isinstance(value.node, Constant):
                copies[value] = value.node.copy_with_new_inputs([]).output(0)
        clone = node.copy_with_new_inputs([copies[value] for value in node.input_values()])
        copies.update(zip(node.outputs(), clone.outputs()))
        if _is_sink(node):
            sinks.append(clone)
    return sinks


def _model(
    subgraph: DeviceSubgraph,
    parameters: Mapping[Output, Parameter],
    values: Iterable[Output],
    sinks: Collection[Node],
    name: str,
) -> Model:
    """Return the model of a subgraph whose outputs have these values."""
    results = []
    for original, value in zip(subgraph.outputs, values):
        result = Result(value)
        result.friendly_name, result.output(0).names = f"{original.node.friendly_name}/result", set(original.names)
        # Shape inference may know more by now, such as for an If with a folded condition, but the readers do not.
        result.set_output_type(0, original.element_type, original.partial_shape)
        results.append(result)
    return Model(results, [*parameters.values()], name, sinks=[*sinks])


def _is_sink(node: Node) -> bool:
    # A device may find that nothing needs the readers of an operation that assigns variables.
    return not any(output.get_target_inputs() for output in node.outputs()) or bool(assigned_variables([node]))


def value_name(value: Output) -> str:
    """Return the name of the Parameter that stands for a value in another subgraph."""
    name = value.node.friendly_name
    return name if value.node.get_output_size() == 1 else f"{name}.{value.index}"


class PreparedParts:
    """The model that a device prepared for its query, of which parts are cut out.

    ``prepare`` prepares a model of original operations.
    """

    def __init__(self, prepared: PreparedModel, prepare: Callable[[Model], PreparedModel]) -> None:
        self.prepared, self._prepare = prepared, prepare
        self.position = {node: index for index, node in enumerate(prepared.model.get_ordered_ops())}
        self.names = {node.friendly_name for node in prepared.copies if not is_terminal(node)}

    def current(self, value: Output) -> Output | None:
        """Return the prepared model's value with the contents of an original one; None if it has none."""
        copy = self.prepared.copies.get(value.node)
        found = copy and copy.output(value.index).current()
        return found if found and found.node in self.position and port_fits(found, value) else None

    def cut_out(self, subgraph: DeviceSubgraph, name: str) -> tuple[PreparedModel, list[Node]]:
        """Return the part for a subgraph of the original model, and the nodes that were prepared apart.

        If passes do not keep values, the part is prepared as a whole.
        """
        if not self.prepared.copies:
            return self._prepare(extract(subgraph, name)), []
        composition = _Composition(self, subgraph)
        if composition.apart and not composition.prepared:
            return self._prepare(extract(subgraph, name)), composition.apart
        parameters = _parameters(subgraph.inputs)
        made = {value: parameter.output(0) for value, parameter in parameters.items()}
        for value in made.keys() & composition.current.keys():
            made[value].share_shape(composition.current[value])
        piece = composition.piece()
        model = self._prepare(extract(piece, name)).model if composition.apart else Model([], [])
        if any(isinstance(result.input_value(0).node, Parameter) for result in model.results):
            return self._prepare(extract(subgraph, name)), subgraph.nodes  # nothing is left between ends of the piece
        made |= {value: result.input_value(0) for value, result in zip(piece.outputs, model.results, strict=True)}
        copies = {found: made[value] for found, value in composition.original.items() if value in made}
        sinks = model.sinks + _copy_nodes(sorted(composition.prepared, key=self.position.__getitem__), copies)

        def value_of(value: Output) -> Output:
            if value in made:
                return made[value]
            found = composition.current[value]
            return copies[found] if found in copies else found.node.copy_with_new_inputs([]).output(0)  # a Constant

        for value, parameter in zip(piece.inputs, model.parameters, strict=True):
            for target in parameter.output(0).get_target_inputs():
                target.replace_source_output(value_of(value))
        part = _model(subgraph, parameters, map(value_of, subgraph.outputs), sinks, name)
        return replace(self.prepared, ports=Ports.of(part), model=part, copies={}), composition.apart


class _Composition:
    """Which operations a part consists of: prepared ones where they compute its values from each other."""

    def __init__(self, parts: PreparedParts, subgraph: DeviceSubgraph) -> None:
        self._parts, self._subgraph = parts, subgraph
        self._index = {node: index for index, node in enumerate(subgraph.nodes)}
        self._names = {node.friendly_name for node in subgraph.nodes}
        values = [*subgraph.inputs, *(value for node in subgraph.nodes for value in node.outputs())]
        #: The prepared model's values with the contents of the part's.
        self.current = {value: found for value in values if (found := parts.current(value))}
        #: The part's value, the first one of several, for each of these.
        self.original = {found: value for value, found in reversed(self.current.items())}
        #: Nodes of the prepared model, in no order.
        self.prepared = set[Node]()
        #: Original nodes, in topological order.
        self.apart: list[Node] = []
        # Values of nodes that a part needs, and those of them that nodes of the other kind read, or other parts.
        self._needed, self._crossing = set[Output](), set[Output]()
        self._choose()

    def piece(self) -> DeviceSubgraph:
        """Return the subgraph of the original nodes."""
        inside = set(self.apart)
        read = dict.fromkeys(value for node in self.apart for value in node.input_values())
        inputs = [value for value in read if value.node not in inside and not isinstance(value.node, Constant)]
        outputs = [value for node in self.apart for value in node.outputs() if value in self._crossing]
        return DeviceSubgraph(self._subgraph.device, self.apart, inputs, outputs)

    def _choose(self) -> None:
        sinks = {node for node in self._subgraph.nodes if _is_sink(node)}
        for value in (*self._subgraph.outputs, *(value for node in sinks for value in node.outputs())):
            self._need(value, is_crossing=True)
        for node in reversed(self._subgraph.nodes):
            wanted = [value for value in node.outputs() if value in self._needed]
            if not wanted and node not in sinks:
                continue
            found = [self._prepared_nodes(value) for value in wanted]
            if wanted and None not in found:
                for nodes, sources in filter(None, found):
                    self.prepared |= nodes
                    for source in sources:
                        self._need(source, is_crossing=True)
            else:
                self.apart.append(node)
                for value in node.input_values():
                    self._need(value)
        self.apart.reverse()

    def _need(self, value: Output, is_crossing: bool = False) -> None:
        """Note that a value is needed, or the one before it that has the same contents."""
        first = self.original[self.current[value]] if value in self.current else value
        self._needed.add(first)
        if is_crossing or first is not value:
            self._crossing.add(first)

    def _prepared_nodes(self, value: Output) -> tuple[set[Node], set[Output]] | None:
        """Return the prepared nodes that compute a value from earlier values of the part, and these; None without."""
        nodes, sources = set[Node](), set[Output]()
        if value not in self.current:
            return None
        waiting = [self.current[value].node]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Constant) or node in nodes:
                continue
            outside = (name in self._parts.names and name not in self._names for name in original_names(node))
            if is_terminal(node) or any(outside):
                return None
            nodes.add(node)
            for read in node.input_values():
                source = self.original.get(read)
                if source is None:
                    waiting.append(read.node)
                elif self._index.get(source.node, -1) < self._index[value.node]:
                    sources.add(source)
                else:
                    return None
        return nodes, sources
