"""GraphBuilder, which translates the nodes of an ONNX graph into a Model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from hetero.frontend.extension import Extension
from hetero.frontend.onnx.functions import StandardFunction, domain_of, with_attributes
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.operators import Operator, OperatorResolver
from hetero.frontend.onnx.subgraph import OnnxSubgraph
from hetero.frontend.onnx.tensors import TensorReader
from hetero.frontend.onnx.value_types import declared_types, narrow_shape, value_type
from hetero.frontend.translation.subgraph import ModelScope, name_first_output, name_new_nodes
from hetero.frontend.translation.translators import as_outputs
from hetero.graph import Constant, Model, Output, Parameter, Result
from hetero.system.errors import FrontendError

# Limits on the nesting of functions and subgraphs, and on the total number of nodes in them: a small file with
# functions that call each other can expand to more nodes than fit into memory.
MAX_NESTING = 40
MAX_INNER_NODES = 300_000


def build_model(
    proto: ModelProto,
    tensors: TensorReader,
    extensions: Sequence[Extension] = (),
    report_progress: Callable[[int, int], None] = lambda total_steps, completed_steps: None,
) -> Model:
    """Return the model, with its metadata in rt_info. Raises FrontendError, which lists all unknown operators.

    ``report_progress`` is called after each node of the main graph.
    """
    operators = OperatorResolver(proto, extensions)
    operators.check(proto.graph.node, operators.versions)
    model = _build_main_graph(proto.graph, ImportContext(operators, tensors, report_progress))
    model.rt_info["metadata"] = {entry.key: entry.value for entry in proto.metadata_props}
    model.rt_info["producer_name"], model.rt_info["producer_version"] = proto.producer_name, proto.producer_version
    return model


def _build_main_graph(graph: GraphProto, context: ImportContext) -> Model:
    builder = GraphBuilder(context, ModelScope(), context.operators.versions)
    initialized = {tensor.name for tensor in graph.initializer}
    parameters = [builder.add_parameter(info) for info in graph.input if info.name not in initialized]
    context.has_dynamic_inputs = any(parameter.partial_shape.is_dynamic for parameter in parameters)
    # protobuf returns bytes for a name that is not UTF-8.
    return Model(builder.results_of(graph), parameters, str(graph.name))


class ImportContext:
    """The state that all graphs of a model share while the model is read."""

    def __init__(
        self, operators: OperatorResolver, tensors: TensorReader, report_progress: Callable[[int, int], None]
    ) -> None:
        self.operators, self.tensors, self.report_progress = operators, tensors, report_progress
        self.has_dynamic_inputs = False
        self._inner_nodes = 0

    def count_inner_nodes(self, count: int) -> None:
        """Count nodes of functions and subgraphs. Raises FrontendError if there are too many."""
        self._inner_nodes += count
        if self._inner_nodes > MAX_INNER_NODES:
            raise FrontendError(f"its functions and subgraphs have more than {MAX_INNER_NODES} nodes in total")


class BoundAttribute(NamedTuple):
    """An attribute, and the builder of the graph whose values a graph in the attribute can read."""

    proto: AttributeProto
    outer: GraphBuilder


class GraphBuilder:
    """A translator of one graph: the main graph, a subgraph, or the body of a called function.

    ``scope``: the Model under construction. A subgraph that becomes a Model of its own has its own scope; an inlined
    subgraph or function shares the scope of the outer graph. ``versions``: operator set versions by domain. ``outer``:
    the builder of the outer graph, whose values the graph can read. ``attributes``: the attributes of the call, in a
    function. ``prefix``: the begin of the node names, in an inlined graph. ``calls``: the enclosing functions ("" for a
    subgraph), outermost first.
    """

    def __init__(
        self,
        context: ImportContext,
        scope: ModelScope,
        versions: Mapping[str, int],
        outer: GraphBuilder | None = None,
        attributes: Mapping[str, BoundAttribute] | None = None,
        prefix: str = "",
        calls: tuple[str, ...] = (),
    ) -> None:
        self._context, self.scope, self._versions, self._outer = context, scope, versions, outer
        self._attributes, self._prefix, self._calls = attributes or {}, prefix, calls
        self._initializers: dict[str, TensorProto] = {}
        self._declared = declared_types(())
        # None: an input of a function that its caller omits.
        self._values: dict[str, Output | None] = {}

    def enter(self, scope: ModelScope, prefix: str = "") -> GraphBuilder:
        """Return a builder for a subgraph. In the same scope, it needs a prefix for its node names."""
        calls = (*self._calls, "")
        _check_depth(calls)
        return GraphBuilder(self._context, scope, self._versions, self, self._attributes, prefix, calls)

    def add_parameter(self, info: ValueInfoProto) -> Parameter:
        """Add an input of the main graph. Raises FrontendError if its type is not supported."""
        try:
            parameter = Parameter(*value_type(info.type))
        except FrontendError as error:
            raise FrontendError(f"input '{info.name}': {error}") from error
        self.scope.name(parameter, info.name)
        self.define(info.name, parameter.output(0))
        return parameter

    def define(self, name: str, output: Output | None) -> None:
        """Define the value of a name. Raises FrontendError if the name is defined already."""
        if not isinstance(name, str):  # protobuf returns bytes if they are not UTF-8
            raise FrontendError(f"the name of the value {name!r} is not UTF-8")
        if name in self._values:
            raise FrontendError(f"the value '{name}' is defined twice")
        self._values[name] = output
        if name in self._declared and output is not None and output.partial_shape.is_dynamic:
            # Set on the output only. Translators and the shape inference of later nodes use it. The next inference, in
            # a clone or after a reshape, drops it: the declared lengths need not hold for other input shapes.
            declared, dynamic_inputs = self._declared[name], self._context.has_dynamic_inputs
            output.partial_shape = narrow_shape(output.partial_shape, declared, dynamic_inputs)
        # The value names of an inlined graph are local to it: a value of the outer graph may have the same name.
        if output is not None and not self._prefix:
            output.add_names({name})

    def results_of(self, graph: GraphProto) -> list[Result]:
        """Translate a graph whose inputs are defined already, and return its Results."""
        results = []
        for info, value in zip(graph.output, self.values_of(graph)):
            result = Result(value, name=self.scope.unique.take(f"{info.name}/result"))
            # Only the name of the graph output: the value may have more names, from Identity nodes.
            result.output(0).names = {info.name}
            results.append(result)
        return results

    def values_of(self, graph: GraphProto) -> list[Output]:
        """Translate a graph whose inputs are defined already, and return the values of its outputs."""
        if graph.sparse_initializer:
            raise FrontendError(f"sparse tensors such as '{graph.sparse_initializer[0].values.name}' are not supported")
        for tensor in graph.initializer:
            if tensor.name in self._initializers:
                raise FrontendError(f"two initializers have the name '{tensor.name}'")
            self._initializers[tensor.name] = tensor
        for node in graph.node:
            for name in self._initializers.keys() & set(node.output):
                raise FrontendError(
                    f"'{name}' is an initializer and also an output of {node.op_type} node '{node.name}'"
                )
        self._declared = declared_types([*graph.value_info, *graph.output])
        self._translate_all(graph.node)
        reader = f"the output of the graph '{graph.name}'" if self._calls else "the model's output"
        values = [value for info in graph.output if (value := self._find(info.name, reader)) is not None]
        if len(values) < len(graph.output):
            raise FrontendError(f"{reader} reads an input of the function that its caller omits")
        return values

    def _translate_all(self, nodes: Sequence[NodeProto]) -> None:
        if self._calls:
            self._context.count_inner_nodes(len(nodes))
        # Reserve the names of the file's nodes first, so that nodes which translators add do not take them.
        names = [node.name or next(iter(node.output), node.op_type) for node in nodes]
        names = [self.scope.unique.take(f"{self._prefix}{name}") for name in names]
        for index, (node, name) in enumerate(zip(nodes, names)):
            self._translate(node, name)
            if not self._calls:
                self._context.report_progress(len(nodes), index + 1)

    def _translate(self, node: NodeProto, name: str) -> None:
        label = f"{node.op_type} node '{name}'"
        inputs = [self._find(read, label) if read else None for read in node.input]
        try:
            operator = self._context.operators.find(node, self._versions)
            if operator is None:
                raise FrontendError("there is no translation of it")
            outputs = self._outputs_of(node, name, inputs, operator)
            if any(node.output[len(outputs) :]):
                raise FrontendError(f"only its first {len(outputs)} of {len(node.output)} outputs are supported")
        except Exception as error:
            # A damaged or malicious file may cause any exception.
            raise FrontendError(f"{label}: {error}") from error
        for output_name, output in zip(node.output, outputs):
            if output_name:
                self.define(output_name, output)

    def _outputs_of(
        self, node: NodeProto, name: str, inputs: Sequence[Output | None], operator: Operator
    ) -> Sequence[Output | None]:
        attributes = self._attributes_of(node)
        if isinstance(operator, (FunctionProto, StandardFunction)):
            return self._call(node, name, inputs, attributes, operator)
        values = {key: _attribute_value(attribute) for key, attribute in attributes.items()}
        version = self._versions.get(domain_of(node.domain), 1)
        outputs = as_outputs(operator(OnnxNodeContext(node, name, inputs, values, self._context.tensors, version)))
        name_new_nodes(outputs, name, self.scope.named, self.scope.unique)
        return outputs

    def _attributes_of(self, node: NodeProto) -> dict[str, BoundAttribute]:
        """Return a node's attributes by name; in a function, with references to the call's attributes resolved."""
        resolved = {}
        for attribute in node.attribute:
            if not attribute.ref_attr_name:
                resolved[attribute.name] = BoundAttribute(attribute, self)
            elif attribute.ref_attr_name in self._attributes:
                resolved[attribute.name] = self._attributes[attribute.ref_attr_name]
        return resolved

    def _call(
        self,
        node: NodeProto,
        name: str,
        inputs: Sequence[Output | None],
        attributes: dict[str, BoundAttribute],
        function: FunctionProto | StandardFunction,
    ) -> list[Output | None]:
        """Inline the body of a function and return its outputs, None for those that the node omits."""
        called = f"{node.domain}.{node.op_type}.{node.overload}"
        if called in self._calls:
            raise FrontendError(f"the function {node.op_type} calls itself")
        calls = (*self._calls, called)
        _check_depth(calls)
        if isinstance(function, StandardFunction):
            defaults: Iterable[AttributeProto] = function.defaults.values()
            resolved = with_attributes(node, {key: attribute.proto for key, attribute in attributes.items()})
            function = function.body_for(resolved, inputs)
            self._context.operators.check(function.node, self._context.operators.versions_in(function))
            # A subgraph attribute, which becomes part of the body, may read values of this graph.
            outer: GraphBuilder | None = self
        else:
            defaults, outer = function.attribute_proto, None
        if len(inputs) > len(function.input):
            raise FrontendError(f"it has {len(inputs)} inputs, but the function takes {len(function.input)}")
        versions = self._context.operators.versions_in(function)
        body = GraphBuilder(self._context, self.scope, versions, outer, None, f"{name}/", calls)
        body._attributes = {a.name: BoundAttribute(a, body) for a in defaults} | attributes
        for index, formal in enumerate(function.input):
            body.define(formal, inputs[index] if index < len(inputs) else None)
        body._declared = declared_types(function.value_info)
        body._translate_all(function.node)
        # Outputs that the caller omits need not exist in the body.
        reader = f"the function {node.op_type}"
        outputs = [body._find(f, reader) if actual else None for f, actual in zip(function.output, node.output)]
        name_first_output(name, outputs)
        return outputs

    def _find(self, name: str, reader: str) -> Output | None:
        """Return the value of a name in this graph or in the outer graphs, None for an omitted input of the function.

        Raises FrontendError, which names the ``reader``, if the name is undefined.
        """
        if name in self._values:
            return self._values[name]
        if name in self._initializers:
            constant = Constant(self._context.tensors.read(self._initializers[name]))
            self.scope.name(constant, self._prefix + name)
            self.define(name, constant.output(0))
            return constant.output(0)
        if self._outer is None:
            raise FrontendError(f"{reader} reads the value '{name}', which no node before it produces")
        value = self._outer._find(name, reader)
        if value is None or self._outer.scope is self.scope:
            return value
        return self.scope.capture(value, name)


def _check_depth(calls: Sequence[str]) -> None:
    if len(calls) > MAX_NESTING:
        raise FrontendError(f"functions and subgraphs are nested more than {MAX_NESTING} deep")


def _attribute_value(attribute: BoundAttribute) -> AttributeProto | OnnxSubgraph:
    """Return an attribute in the form that OnnxNodeContext takes, with a graph as OnnxSubgraph."""
    proto = attribute.proto
    return OnnxSubgraph(proto.g, attribute.outer) if proto.type == AttributeProto.GRAPH else proto
