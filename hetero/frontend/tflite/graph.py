"""Translation of a decoded TensorFlow Lite model into a Model, operator by operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from hetero.frontend.extension import Extension, conversion_for
from hetero.frontend.tflite import translators as _  # noqa: F401 (fills the registry)
from hetero.frontend.tflite.decoded import DecodedGraph, DecodedModel, DecodedOperator, DecodedTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translators
from hetero.frontend.tflite.variables import BodyVariables, Variables
from hetero.frontend.translation.subgraph import Body, ModelScope, Subgraph, name_first_output, name_new_nodes
from hetero.frontend.translation.translators import Translator, as_outputs
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.system.errors import FrontendError

# Maximum nesting depth of graphs.
MAX_NESTING = 40
# Maximum number of operators after inlining: this factor times the operators of the file, plus this constant. A graph
# may be called by several operators, so a small file can expand exponentially.
_INLINE_FACTOR, _INLINE_CONSTANT = 50, 1000
# How many operator names a message lists.
_NAMES_LISTED = 3


def build_model(
    decoded: DecodedModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """Translate the first graph, calling ``report_progress`` after each of its operators.

    Raises FrontendError; operators without a translator are reported all at once.
    """
    context = ModelContext(decoded, extensions, report_progress)
    context.check()
    builder = GraphBuilder(context, 0, ModelScope(), Variables())
    graph = builder.graph
    parameters = [builder.add_parameter(index) for index in graph.inputs]
    results = builder.results()
    for signature in decoded.signatures:
        if signature.graph == 0:
            _add_names(signature.inputs, dict(zip(graph.inputs, (p.output(0) for p in parameters))))
            _add_names(signature.outputs, dict(zip(graph.outputs, (r.output(0) for r in results))))
    model = Model(results, parameters, graph.name or "model", sinks=builder.variables.sinks())
    model.rt_info["metadata"], model.rt_info["description"] = dict(decoded.metadata), decoded.description
    return model


class ModelContext:
    """State shared by the translation of all graphs of a model."""

    def __init__(
        self, decoded: DecodedModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
    ) -> None:
        self.decoded, self._extensions, self.report_progress = decoded, extensions, report_progress
        self._limit = _INLINE_CONSTANT + _INLINE_FACTOR * sum(len(graph.operators) for graph in decoded.graphs)
        self._count = 0

    def count(self, graph: DecodedGraph) -> None:
        """Count the operators of a graph that is translated. Raises FrontendError if the total exceeds the limit."""
        self._count += 1 + len(graph.operators)
        if self._count > self._limit:
            raise FrontendError(f"its graphs call each other so often that they expand to over {self._limit} operators")

    def find(self, operator: DecodedOperator) -> Translator | None:
        """Return the translator of an operator: an extension for its callee or for its type, else the built-in one."""
        for name in (operator.callee, operator.op_type):
            extension = conversion_for(self._extensions, name, "")
            if extension:
                return extension.get_converter()
        return None if operator.is_custom else translators.find(operator.op_type, operator.version)

    def check(self) -> None:
        """Raise FrontendError if operators have no translator, listing those of all graphs."""
        missing: dict[str, list[str]] = {}
        for graph in self.decoded.graphs:
            for operator in graph.operators:
                if self.find(operator) is None:
                    kind = f"{'the custom ' if operator.is_custom else ''}{operator.op_type}"
                    missing.setdefault(kind, []).append(_name_of(operator, graph.tensors))
        if missing:
            operators = "; ".join(f"{kind} ({_listed(names)})" for kind, names in missing.items())
            raise FrontendError(f"there is no translation of {operators}")


class GraphBuilder:
    """Translator of one graph into the Model under construction whose state is ``scope``.

    ``prefix``: prepended to node names if the graph is inlined into another. ``callers``: the indices of the graphs
    that call this one, outermost first.
    """

    def __init__(
        self,
        context: ModelContext,
        index: int,
        scope: ModelScope,
        variables: Variables,
        prefix: str = "",
        callers: tuple[int, ...] = (),
    ) -> None:
        if index in callers or len(callers) > MAX_NESTING:
            raise FrontendError(f"graph '{context.decoded.graphs[index].name}' calls itself")
        self.context, self.scope, self.variables, self._prefix = context, scope, variables, prefix
        self.graph: DecodedGraph = context.decoded.graphs[index]
        context.count(self.graph)
        self.callers = (*callers, index)
        self._values: list[Output | None] = [None] * len(self.graph.tensors)

    def add_parameter(self, index: int) -> Parameter:
        """Create the Parameter for an input tensor."""
        tensor = self.graph.tensors[index]
        if tensor.element_type.is_dynamic():
            raise FrontendError(f"input '{tensor.name}': a tensor of {tensor.kind} is not supported")
        parameter = Parameter(tensor.element_type, tensor.partial_shape)
        self.scope.name(parameter, tensor.name)
        self.define(index, parameter.output(0))
        return parameter

    def define(self, index: int, output: Output | None) -> None:
        """Set the value of a tensor."""
        self._values[index] = output
        # The tensor names of an inlined graph may collide with those of the graph around it.
        if output is not None and not self._prefix and self.graph.tensors[index].name:
            output.add_names({self.graph.tensors[index].name})

    def results(self) -> list[Result]:
        """Translate the graph, whose inputs must be defined, and return its Results."""
        results = []
        for index, value in zip(self.graph.outputs, self.translate()):
            name = self.graph.tensors[index].name
            result = Result(value, name=self.scope.unique.take(f"{name}/result"))
            # Only the name of the output tensor: the value may have other names.
            result.output(0).names = {name}
            results.append(result)
        return results

    def translate(self) -> list[Output]:
        """Translate the graph, whose inputs must be defined, and return its outputs."""
        operators = self.graph.operators
        names = [self.scope.unique.take(self._prefix + _name_of(o, self.graph.tensors)) for o in operators]
        for completed, (operator, name) in enumerate(zip(operators, names), 1):
            self._translate(operator, name)
            if len(self.callers) == 1:
                self.context.report_progress(len(operators), completed)
        return [self._required(index, "the output of the graph") for index in self.graph.outputs]

    def _translate(self, operator: DecodedOperator, name: str) -> None:
        try:
            inputs = [None if index < 0 else self._required(index, "it") for index in operator.inputs]
            node = TfliteNodeContext(operator, name, inputs, self)
            translator = self.context.find(operator)
            assert translator is not None  # by the check of the whole model
            outputs = as_outputs(translator(node))
            name_new_nodes(outputs, name, self.scope.named, self.scope.unique)
            if len(outputs) < len(operator.outputs):
                raise FrontendError(f"only its first {len(outputs)} of {len(operator.outputs)} outputs are supported")
        except Exception as error:
            # Translators may raise anything for an untrusted file.
            raise FrontendError(f"{operator.op_type} node '{name}': {error}") from error
        for index, output in zip(operator.outputs, outputs):
            self.define(index, output)

    def _required(self, index: int, reader: str) -> Output:
        """Return the value of a tensor. Raises FrontendError if no operator before ``reader`` outputs it."""
        value, tensor = self._values[index], self.graph.tensors[index]
        if value is not None:
            return value
        if tensor.is_variable:
            return self.variables.read(self._variable_name(index), _initial_value(tensor))
        if tensor.data is None:
            raise FrontendError(f"{reader} reads tensor '{tensor.name}', which no operator before it outputs")
        constant = self.scope.name(Constant(tensor.data), self._prefix + tensor.name).output(0)
        self.define(index, constant)
        return constant

    def _variable_name(self, index: int) -> str:
        """Return the name of the variable that stores a variable tensor."""
        name = self.graph.tensors[index].name or str(index)
        return name if len(self.callers) == 1 else f"{self.graph.name}/{name}"

    def set_variable(self, index: int, value: Output) -> None:
        """Set a variable tensor. Raises FrontendError if the tensor is not one."""
        if not self.graph.tensors[index].is_variable:
            raise FrontendError(f"tensor '{self.graph.tensors[index].name}' is not a variable tensor")
        self.variables.assign(self._variable_name(index), value)

    def subgraph(self, index: int) -> TfliteSubgraph:
        """Return another graph of the model, for an operator that calls it. Raises FrontendError if there is none."""
        return TfliteSubgraph(self, index)


class TfliteSubgraph(Subgraph):
    """A graph that an operator of ``outer`` calls. It can access only the variables of the graphs around it."""

    def __init__(self, outer: GraphBuilder, index: int) -> None:
        if not 0 <= index < len(outer.context.decoded.graphs):
            raise FrontendError(f"there is no graph {index}")
        graph = outer.context.decoded.graphs[index]
        self.name, self.input_count, self.output_count = graph.name, len(graph.inputs), len(graph.outputs)
        self.input_names = [graph.tensors[index].name for index in graph.inputs]
        self._outer, self._index = outer, index

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        scope = ModelScope()
        variables = BodyVariables(self._outer.variables, scope.capture)
        for name, node in zip(self.input_names, inputs):
            scope.name(node, name)
        for parameter in parameters:
            if parameter not in scope.named:
                scope.name(parameter, parameter.friendly_name)
        outputs = self.translate_into(scope, variables, [node.output(0) for node in inputs])
        if variables.assigned:
            raise FrontendError(f"its graph '{self.name}' assigns variables; only graphs of IF and WHILE may do that")
        return Body(Model(outputs, [*parameters, *scope.captured.values()], self.name), list(scope.captured))

    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        outputs = self.translate_into(self._outer.scope, self._outer.variables, inputs, f"{name}/")
        name_first_output(name, outputs)
        return outputs

    def translate_into(
        self, scope: ModelScope, variables: Variables, inputs: Sequence[Output], prefix: str = ""
    ) -> list[Output]:
        """Translate the graph into another Model under construction; return its outputs. Raises FrontendError."""
        self.check_input_count(len(inputs))
        builder = GraphBuilder(self._outer.context, self._index, scope, variables, prefix, self._outer.callers)
        for index, value in zip(builder.graph.inputs, inputs):
            builder.define(index, value)
        return builder.translate()


def _initial_value(tensor: DecodedTensor) -> Output:
    """Return the initial value of a variable tensor, zero. Raises FrontendError if its type or shape is unknown."""
    if tensor.element_type.is_dynamic() or not tensor.partial_shape.is_static:
        raise FrontendError(f"variable tensor '{tensor.name}' must have a known type and a static shape")
    zero = np.array(
        0 if tensor.quantization is None else tensor.quantization.zero_point, tensor.element_type.to_dtype()
    )
    # A broadcast view of one element, because the shape in the file may be of any size.
    return Constant(np.broadcast_to(zero, tensor.partial_shape.to_shape())).output(0)


def _add_names(signature: Mapping[str, int], values: Mapping[int, Output]) -> None:
    """Add a signature's names to the tensor names of the values, except names that another value already has."""
    taken = {name for value in values.values() for name in value.names}
    for name, index in signature.items():
        if name not in taken and index in values:
            values[index].add_names({name})


def _name_of(operator: DecodedOperator, tensors: Sequence[DecodedTensor]) -> str:
    """Return a name for an operator, which has none in the file: that of its first named output tensor."""
    return next((tensors[i].name for i in operator.outputs if tensors[i].name), operator.op_type)


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMES_LISTED} more" if len(names) > _NAMES_LISTED else ""
    return ("nodes " if len(names) > 1 else "node ") + ", ".join(names[:_NAMES_LISTED]) + more
