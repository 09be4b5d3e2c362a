"""Translation of an ONNX model into a Model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from onnx import AttributeProto, ModelProto, NodeProto

from hetero.frontend.extension import Extension
from hetero.frontend.onnx import translators as _  # noqa: F401 (fills the registry)
from hetero.frontend.onnx.decoded import OnnxGraph, OnnxModel, OnnxNode, decode_model
from hetero.frontend.onnx.functions import StandardFunction, with_attributes
from hetero.frontend.onnx.node_context import OnnxNodeContext, translators
from hetero.frontend.onnx.tensors import TensorReader
from hetero.frontend.onnx.value_types import narrow_shape, value_type
from hetero.frontend.translation.decoded import DecodedGraph, DecodedNode
from hetero.frontend.translation.graph_builder import GraphBuilder
from hetero.frontend.translation.model_context import ModelContext
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.subgraph import ModelScope, Value, name_first_output
from hetero.frontend.translation.translators import Translator
from hetero.frontend.translation.variables import Variables
from hetero.graph import Constant, Model, Output, Parameter
from hetero.graph.rt_info import METADATA
from hetero.system.errors import FrontendError


def build_model(
    proto: ModelProto,
    tensors: TensorReader,
    extensions: Sequence[Extension] = (),
    report_progress: Callable[[int, int], None] = lambda total_steps, completed_steps: None,
    chosen_outputs: Sequence[str] = (),
) -> Model:
    """Return the model, with its metadata in rt_info. Raises FrontendError, which lists all unknown operators.

    ``report_progress`` is called after each node of the main graph. ``chosen_outputs``: see ``choose_outputs``.
    """
    decoded = decode_model(proto)
    decoded.choose_outputs(chosen_outputs)
    context, scope = OnnxContext(decoded, tensors, extensions, report_progress), ModelScope()
    graph = context.decoded.graph
    context.check(graph)
    builder = OnnxBuilder(context, graph, scope, Variables(scope))
    parameters = [builder.input(name) for name in graph.inputs]
    context.has_dynamic_inputs = any(parameter.partial_shape.is_dynamic for parameter in parameters)
    model = Model(builder.results(), parameters, graph.name)
    if proto.metadata_props:
        model.rt_info[METADATA] = {entry.key: entry.value for entry in proto.metadata_props}
    model.rt_info["producer_name"], model.rt_info["producer_version"] = proto.producer_name, proto.producer_version
    return model


@dataclass(frozen=True)
class FunctionCall:
    """The translator of an operator that the model or ONNX defines as a function; OnnxBuilder inlines it."""

    function: OnnxGraph | StandardFunction

    def __call__(self, node: OnnxNodeContext) -> FunctionCall:
        return self


class OnnxContext(ModelContext):
    """The state of a model. Translators take precedence over functions of the model, these over functions of ONNX.

    ``has_dynamic_inputs``: whether an input of the model has a dynamic shape.
    """

    # A function may be a layer, of which a network has hundreds.
    inline_constant = 300_000
    decoded: OnnxModel

    def __init__(
        self,
        decoded: OnnxModel,
        tensors: TensorReader,
        extensions: Sequence[Extension],
        report_progress: Callable[[int, int], None],
    ) -> None:
        super().__init__(decoded, extensions, report_progress)
        self.tensors, self.has_dynamic_inputs = tensors, False

    def find_built_in(self, node: DecodedNode) -> Translator | None:
        assert isinstance(node, OnnxNode)
        overload = node.proto.overload
        if not overload and (translate := translators.find(node.op_type, node.version, node.domain)):
            return translate
        function = self.decoded.functions.get((node.domain, node.op_type, overload))
        function = function or StandardFunction.find(node.domain, node.op_type, node.version)
        return None if function is None else FunctionCall(function)

    def graphs_of(self, node: DecodedNode) -> list[DecodedGraph]:
        """Return also the body of a function. One that depends on types of inputs is checked when they are known."""
        graphs, call = super().graphs_of(node), self.find(node)
        if isinstance(call, FunctionCall):
            body = call.function if isinstance(call.function, OnnxGraph) else call.function.fixed_body
            graphs += [] if body is None else [body]
        return graphs

    def body_of(
        self, function: OnnxGraph | StandardFunction, node: NodeProto, inputs: Sequence[Output | None]
    ) -> OnnxGraph:
        """Return the body of a function for a node whose attributes are resolved. Raises FrontendError."""
        if isinstance(function, OnnxGraph):
            return function
        if function.fixed_body:
            return function.fixed_body
        body = function.body_for(node, inputs, self.decoded.versions)
        self.check(body)
        return body


class BoundAttribute(NamedTuple):
    """An attribute, its graph if it is one, and the builder of the graph whose values that can read."""

    proto: AttributeProto
    graph: OnnxGraph | None
    outer: OnnxBuilder


class OnnxBuilder(GraphBuilder):
    """Translator of one graph, or of the body of a called function, whose ``attributes`` are those of the call."""

    context: OnnxContext
    graph: OnnxGraph
    outer: OnnxBuilder | None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.attributes: Mapping[str, BoundAttribute] = self.outer.attributes if self.outer else {}
        self.reads_outer_values = not self.graph.is_closed

    def input(self, name: str) -> Parameter:
        """Create the Parameter for an input of the main graph. Raises FrontendError if its type is not supported."""
        try:
            element_type, shape = value_type(self.graph.input_types[name])
        except FrontendError as error:
            raise FrontendError(f"input '{name}': {error}") from error
        return self.add_parameter(name, element_type, shape)

    def define(self, key: str, value: Value) -> None:
        if not isinstance(key, str):  # protobuf returns bytes if they are not UTF-8
            raise FrontendError(f"the name of the value {key!r} is not UTF-8")
        if key in self._values:
            raise FrontendError(f"the value '{key}' is defined twice")
        if key in self.graph.declared and value is not None and value.partial_shape.is_dynamic:
            # Set on the output only. Translators and the shape inference of later nodes use it. The next inference, in
            # a clone or after a reshape, drops it: the declared lengths need not hold for other input shapes.
            declared, dynamic_inputs = self.graph.declared[key], self.context.has_dynamic_inputs
            value.partial_shape = narrow_shape(value.partial_shape, declared, dynamic_inputs)
        super().define(key, value)

    def constant(self, key: str) -> Output | None:
        if key not in self.graph.initializers:
            return None
        contents = self.context.tensors.contents(self.graph.initializers[key])
        return self.scope.name(Constant(contents), self.prefix + key).output(0)

    def translate(self) -> list[Value]:
        values = super().translate()
        if any(value is None for value in values):
            raise FrontendError("the output of the graph is an input of the function that its caller omits")
        return values

    def node_context(self, node: DecodedNode, name: str) -> OnnxNodeContext:
        assert isinstance(node, OnnxNode)
        attributes = {
            key: bound.proto if bound.graph is None else bound.outer.subgraph(bound.graph)
            for key, bound in self._attributes_of(node).items()
        }
        return OnnxNodeContext(node, name, self.inputs_of(node), attributes, self.context.tensors)

    def _attributes_of(self, node: OnnxNode) -> dict[str, BoundAttribute]:
        """Return a node's attributes by name; in a function, with references to the call's attributes resolved."""
        resolved = {}
        for name, attribute in node.attributes.items():
            if not attribute.ref_attr_name:
                resolved[name] = BoundAttribute(attribute, node.graphs.get(name), self)
            elif attribute.ref_attr_name in self.attributes:
                resolved[name] = self.attributes[attribute.ref_attr_name]
        return resolved

    def define_outputs(self, node: DecodedNode, node_context: NodeContext, translation: Any) -> None:
        if not isinstance(translation, FunctionCall):
            return super().define_outputs(node, node_context, translation)
        assert isinstance(node, OnnxNode)
        self.define_each(node, self._call(node, node_context.name, translation.function))

    def _call(self, node: OnnxNode, name: str, function: OnnxGraph | StandardFunction) -> list[Value]:
        """Inline the body of a function and return its outputs, None for those that the node omits."""
        inputs, attributes = self.inputs_of(node), self._attributes_of(node)
        resolved = with_attributes(node.proto, {key: bound.proto for key, bound in attributes.items()})
        body = self.context.body_of(function, resolved, inputs)
        if len(inputs) > len(body.inputs):
            raise FrontendError(f"it has {len(inputs)} inputs, but the function takes {len(body.inputs)}")
        builder = self.enter(body, self.scope, self.variables, f"{name}/")
        builder.attributes = {a.name: BoundAttribute(a, None, builder) for a in body.defaults} | attributes
        for key, value in zip_longest(body.inputs, inputs):
            builder.define(key, value)
        builder.translate_nodes()
        reader = f"the function {node.op_type}"
        # Outputs that the caller omits need not exist in the body.
        outputs = [builder.value(key, reader) if actual else None for key, actual in zip(body.outputs, node.outputs)]
        name_first_output(name, outputs)
        return outputs
