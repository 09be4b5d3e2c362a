"""From a parsed ONNX graph to a hetero Model: values by their names, node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from hetero.errors import FrontendError
from hetero.frontend.extension import Extension
from hetero.frontend.names import name_first_output, name_new_nodes
from hetero.frontend.onnx.functions import StandardFunction, domain_of, with_attributes
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.operators import Operator, OperatorResolver
from hetero.frontend.onnx.subgraph import OnnxSubgraph
from hetero.frontend.onnx.tensors import TensorReader
from hetero.frontend.onnx.value_types import declared_types, narrow_shape, value_type
from hetero.frontend.subgraph import ModelScope
from hetero.frontend.translation import as_outputs
from hetero.graph import Constant, Model, Output, Parameter, Result

# How deep functions and subgraphs may lie in each other, and how many nodes they may come to: a small file of
# functions that call each other can stand for more nodes than any memory holds.
DEEPEST = 40
MOST_NODES = 300_000


def build_model(
    proto: ModelProto,
    tensors: TensorReader,
    extensions: Sequence[Extension] = (),
    report_progress: Callable[[int, int], None] = lambda total_steps, completed_steps: None,
) -> Model:
    """The model, with its metadata in rt_info. ``report_progress`` is told of each node of its graph.

    Raises FrontendError, for all unknown operators at once.
    """
    operators = OperatorResolver(proto, extensions)
    operators.check(proto.graph.node, operators.versions)
    model = _build_main(proto.graph, ImportContext(operators, tensors, report_progress))
    model.rt_info["metadata"] = {entry.key: entry.value for entry in proto.metadata_props}
    model.rt_info["producer_name"], model.rt_info["producer_version"] = proto.producer_name, proto.producer_version
    return model


def _build_main(graph: GraphProto, reading: ImportContext) -> Model:
    builder = GraphBuilder(reading, ModelScope(), reading.operators.versions)
    initialized = {tensor.name for tensor in graph.initializer}
    parameters = [builder.add_parameter(info) for info in graph.input if info.name not in initialized]
    reading.has_open_inputs = any(parameter.partial_shape.is_dynamic for parameter in parameters)
    return Model(builder.results_of(graph), parameters, graph.name)


class ImportContext:
    """What is the same for all graphs of a model."""

    def __init__(
        self, operators: OperatorResolver, tensors: TensorReader, report_progress: Callable[[int, int], None]
    ) -> None:
        self.operators, self.tensors, self.report_progress = operators, tensors, report_progress
        self.has_open_inputs = False
        self._nodes_inside = 0

    def count_inside(self, nodes: int) -> None:
        """Count nodes of functions and subgraphs. Raises FrontendError where they are too many."""
        self._nodes_inside += nodes
        if self._nodes_inside > MOST_NODES:
            raise FrontendError(f"its functions and subgraphs come to more than {MOST_NODES} nodes")


class BoundAttribute(NamedTuple):
    """An attribute, and the graph whose values a graph in it can read."""

    proto: AttributeProto
    surroundings: GraphBuilder


class GraphBuilder:
    """Translates the nodes of a graph into a Model in the making, its host.

    ``outer``: the builder of the graph around it, whose values it can read. ``attributes``: those of the call, in a
    function. ``prefix``: begins the names of its nodes, in a function or graph that becomes part of another.
    """

    def __init__(
        self,
        reading: ImportContext,
        host: ModelScope,
        versions: Mapping[str, int],
        outer: GraphBuilder | None = None,
        attributes: Mapping[str, BoundAttribute] | None = None,
        prefix: str = "",
        calls: tuple[str, ...] = (),
    ) -> None:
        self._reading, self.host, self._versions, self._outer = reading, host, versions, outer
        self._attributes, self._prefix, self._calls = attributes or {}, prefix, calls
        self._initializers: dict[str, TensorProto] = {}
        self._declared = declared_types(())
        # None stands for an input of a function that its caller leaves out.
        self._values: dict[str, Output | None] = {}

    def enter(self, host: ModelScope, prefix: str = "") -> GraphBuilder:
        """A builder for a graph within this one; with the same host it needs a prefix for its names."""
        calls = (*self._calls, "")
        _check_depth(calls)
        return GraphBuilder(self._reading, host, self._versions, self, self._attributes, prefix, calls)

    def add_parameter(self, info: ValueInfoProto) -> Parameter:
        try:
            parameter = Parameter(*value_type(info.type))
        except FrontendError as error:
            raise FrontendError(f"input '{info.name}': {error}") from error
        self.host.name(parameter, info.name)
        self.define(info.name, parameter.output(0))
        return parameter

    def define(self, name: str, output: Output | None) -> None:
        """Let a value be known by a name. Raises FrontendError where there is one of this name."""
        if name in self._values:
            raise FrontendError(f"the value '{name}' is made twice")
        self._values[name] = output
        if name in self._declared and output is not None and output.partial_shape.is_dynamic:
            # Set on the output alone: translators and the inference of later nodes use it, but it is gone as soon as
            # shapes are inferred again, in a clone or after a reshape, to which the lengths in the file need not apply.
            declared, open_inputs = self._declared[name], self._reading.has_open_inputs
            output.partial_shape = narrow_shape(output.partial_shape, declared, open_inputs)
        # Within what becomes part of another graph names are its own, and another value may have the same there.
        if output is not None and not self._prefix:
            output.names.add(name)

    def results_of(self, graph: GraphProto) -> list[Result]:
        """Translate a graph, whose inputs are defined already, into its Results."""
        results = []
        for info, value in zip(graph.output, self.values_of(graph)):
            result = Result(value, name=self.host.unique.take(f"{info.name}/result"))
            # Only the graph's own name for it: the value may have others, of Identity nodes.
            result.output(0).names = {info.name}
            results.append(result)
        return results

    def values_of(self, graph: GraphProto) -> list[Output]:
        """Translate a graph, whose inputs are defined already, and give what it hands out."""
        if graph.sparse_initializer:
            raise FrontendError(f"sparse tensors such as '{graph.sparse_initializer[0].values.name}' are not supported")
        for tensor in graph.initializer:
            if tensor.name in self._initializers:
                raise FrontendError(f"two initializers have the name '{tensor.name}'")
            self._initializers[tensor.name] = tensor
        for node in graph.node:
            for name in self._initializers.keys() & set(node.output):
                raise FrontendError(f"'{name}' is an initializer and also made by {node.op_type} node '{node.name}'")
        self._declared = declared_types([*graph.value_info, *graph.output])
        self._translate_all(graph.node)
        reader = f"the output of the graph '{graph.name}'" if self._calls else "the model's output"
        return [self._required(info.name, reader) for info in graph.output]

    def _translate_all(self, nodes: Sequence[NodeProto]) -> None:
        if self._calls:
            self._reading.count_inside(len(nodes))
        # Inputs and the nodes of the file keep their names; whatever is made besides takes one that is left.
        own = [node.name or next(iter(node.output), node.op_type) for node in nodes]
        names = [self.host.unique.take(f"{self._prefix}{name}") for name in own]
        for index, (node, name) in enumerate(zip(nodes, names)):
            self._translate(node, name)
            if not self._calls:
                self._reading.report_progress(len(nodes), index + 1)

    def _translate(self, node: NodeProto, name: str) -> None:
        place = f"{node.op_type} node '{name}'"
        inputs = [self._required(read, place, True) if read else None for read in node.input]
        try:
            operator = self._reading.operators.find(node, self._versions)
            outputs = self._outputs_of(node, name, inputs, operator)
            wanted = sum(map(bool, node.output[len(outputs) :]))
            if wanted:
                raise FrontendError(f"only its first {len(outputs)} of {len(node.output)} outputs are supported")
        except Exception as error:
            # The file is not to be trusted, so anything may go wrong over it.
            raise FrontendError(f"{place}: {error}") from error
        for written, output in zip(node.output, outputs):
            if written:
                self.define(written, output)

    def _outputs_of(
        self, node: NodeProto, name: str, inputs: list[Output | None], operator: Operator
    ) -> list[Output | None]:
        attributes = self._attributes_of(node)
        if isinstance(operator, (FunctionProto, StandardFunction)):
            return self._call(node, name, inputs, attributes, operator)
        seen = {key: _as_seen(attribute) for key, attribute in attributes.items()}
        version = self._versions.get(domain_of(node.domain), 1)
        outputs = as_outputs(operator(OnnxNodeContext(node, name, inputs, seen, self._reading.tensors, version)))
        name_new_nodes(outputs, name, self.host.named, self.host.unique)
        return outputs

    def _attributes_of(self, node: NodeProto) -> dict[str, BoundAttribute]:
        """The attributes by name; in a function some are those of its call, and may be left out there."""
        found = {}
        for attribute in node.attribute:
            if not attribute.ref_attr_name:
                found[attribute.name] = BoundAttribute(attribute, self)
            elif attribute.ref_attr_name in self._attributes:
                found[attribute.name] = self._attributes[attribute.ref_attr_name]
        return found

    def _call(
        self,
        node: NodeProto,
        name: str,
        inputs: list[Output | None],
        attributes: dict[str, BoundAttribute],
        function: FunctionProto | StandardFunction,
    ) -> list[Output | None]:
        """The outputs of a function, whose nodes become part of this graph."""
        called = f"{node.domain}.{node.op_type}.{node.overload}"
        if called in self._calls:
            raise FrontendError(f"the function {node.op_type} calls itself")
        calls = (*self._calls, called)
        _check_depth(calls)
        if isinstance(function, StandardFunction):
            defaults = function.defaults.values()
            resolved = with_attributes(node, {key: attribute.proto for key, attribute in attributes.items()})
            function = function.body_for(resolved, inputs)
            self._reading.operators.check(function.node, self._reading.operators.versions_in(function))
            outer = self  # a graph among the attributes, which the function takes up, may read values from here
        else:
            defaults, outer = function.attribute_proto, None
        if len(inputs) > len(function.input):
            raise FrontendError(f"it has {len(inputs)} inputs, but the function {len(function.input)}")
        versions = self._reading.operators.versions_in(function)
        inside = GraphBuilder(self._reading, self.host, versions, outer, None, f"{name}/", calls)
        inside._attributes = {a.name: BoundAttribute(a, inside) for a in defaults} | attributes
        for index, formal in enumerate(function.input):
            inside.define(formal, inputs[index] if index < len(inputs) else None)
        inside._declared = declared_types(function.value_info)
        inside._translate_all(function.node)
        # A function need not make what its caller does not take.
        outputs = [
            inside._required(made, f"the function {node.op_type}", True) if wanted else None
            for made, wanted in zip(function.output, node.output)
        ]
        name_first_output(name, outputs)
        return outputs

    def _required(self, name: str, reader: str, may_be_left_out: bool = False) -> Output | None:
        """The value of a name. Raises FrontendError where there is none."""
        found = self._find(name)
        if found is _ABSENT or (found is None and not may_be_left_out):
            raise FrontendError(f"{reader} reads the value '{name}', which nothing before it makes")
        return found

    def _find(self, name: str) -> Output | None:
        """The value of a name here or in the graphs around; _ABSENT where there is none."""
        if name in self._values:
            return self._values[name]
        if name in self._initializers:
            constant = Constant(self._reading.tensors.read(self._initializers[name]))
            self.host.name(constant, self._prefix + name)
            self.define(name, constant.output(0))
            return constant.output(0)
        if self._outer is None:
            return _ABSENT
        found = self._outer._find(name)
        if found is None or found is _ABSENT or self._outer.host is self.host:
            return found
        return self.host.capture(found, name)


# What a name stands for that nothing has.
_ABSENT: Output = object()  # type: ignore[assignment]


def _check_depth(calls: Sequence[str]) -> None:
    if len(calls) > DEEPEST:
        raise FrontendError(f"functions and subgraphs lie more than {DEEPEST} deep in each other")


def _as_seen(attribute: BoundAttribute) -> AttributeProto | OnnxSubgraph:
    """An attribute as translators see it."""
    proto = attribute.proto
    if proto.type != AttributeProto.GRAPH:
        return proto
    return OnnxSubgraph(proto.g, attribute.surroundings)
