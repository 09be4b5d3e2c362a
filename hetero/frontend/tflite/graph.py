"""From a decoded TensorFlow Lite model to a hetero Model: tensors by their indices, operator by operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from hetero.errors import FrontendError
from hetero.frontend.extension import Extension, conversion_for
from hetero.frontend.names import name_first_output, name_new_nodes
from hetero.frontend.subgraph import Body, ModelScope, Subgraph
from hetero.frontend.tflite import translators as _  # noqa: F401 (fills the registry)
from hetero.frontend.tflite.decoded import DecodedGraph, DecodedModel, DecodedOperator, DecodedTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translators
from hetero.frontend.tflite.variables import Variables, VariablesOfBody
from hetero.frontend.translation import Translator, as_outputs
from hetero.graph import Constant, Model, Node, Output, Parameter, Result

# How deep graphs may lie in each other.
DEEPEST = 40
# How many operators may run for each one of the file, and besides: graphs may be run by several operators each.
_MOST_RUN, _MOST_RUN_BESIDES = 50, 1000
# How many names of operators a message lists.
_NAMES_LISTED = 3


def build_model(
    decoded: DecodedModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """The model of the first graph, of each operator of which ``report_progress`` is told.

    Raises FrontendError, for all unknown operators at once.
    """
    reading = Reading(decoded, extensions, report_progress)
    reading.check()
    graph = decoded.graphs[0]
    variables = Variables()
    builder = GraphBuilder(reading, 0, ModelScope(), variables)
    parameters = [builder.add_parameter(index) for index in graph.inputs]
    results = builder.results()
    for signature in decoded.signatures:
        if signature.graph == 0:
            _add_names(signature.inputs, dict(zip(graph.inputs, (p.output(0) for p in parameters))))
            _add_names(signature.outputs, dict(zip(graph.outputs, (r.output(0) for r in results))))
    model = Model(results, parameters, graph.name or "model", sinks=variables.sinks())
    model.rt_info["metadata"], model.rt_info["description"] = dict(decoded.metadata), decoded.description
    return model


class Reading:
    """What is the same for all graphs of a model."""

    def __init__(
        self, decoded: DecodedModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
    ) -> None:
        self.decoded, self._extensions, self.report_progress = decoded, extensions, report_progress
        self._most = _MOST_RUN_BESIDES + _MOST_RUN * sum(len(graph.operators) for graph in decoded.graphs)
        self._count = 0

    def count(self, graph: DecodedGraph) -> None:
        """Count a graph that is run. Raises FrontendError where they are too many."""
        self._count += 1 + len(graph.operators)
        if self._count > self._most:
            raise FrontendError(
                f"its graphs run each other so often that they come to more than {self._most} operators"
            )

    def find(self, operator: DecodedOperator) -> Translator | None:
        """What translates an operator, extensions before all else: those for what it calls, then for its type."""
        for name in (operator.called, operator.op_type):
            extension = conversion_for(self._extensions, name, "")
            if extension:
                return extension.get_converter()
        return None if operator.is_custom else translators.find(operator.op_type, operator.version)

    def check(self) -> None:
        """Raises one FrontendError for all operators that are missing, of all graphs."""
        missing: dict[str, list[str]] = {}
        for graph in self.decoded.graphs:
            for operator in graph.operators:
                if self.find(operator) is None:
                    kind = f"{'the custom ' if operator.is_custom else ''}{operator.op_type}"
                    missing.setdefault(kind, []).append(_name_of(operator, graph.tensors))
        if missing:
            told = "; ".join(f"{kind} ({_listed(names)})" for kind, names in missing.items())
            raise FrontendError(f"there is no translation of {told}")


class GraphBuilder:
    """Translates the operators of a graph into a Model in the making, its host.

    ``prefix``: begins the names of its nodes, in a graph that becomes part of another.
    """

    def __init__(
        self,
        reading: Reading,
        index: int,
        host: ModelScope,
        variables: Variables,
        prefix: str = "",
        callers: tuple[int, ...] = (),
    ) -> None:
        if index in callers or len(callers) > DEEPEST:
            raise FrontendError(f"the graph '{reading.decoded.graphs[index].name}' runs itself")
        self._reading, self._host, self._variables, self._prefix = reading, host, variables, prefix
        self._graph: DecodedGraph = reading.decoded.graphs[index]
        reading.count(self._graph)
        self._callers = (*callers, index)
        self._values: list[Output | None] = [None] * len(self._graph.tensors)

    @property
    def graph(self) -> DecodedGraph:
        return self._graph

    def add_parameter(self, index: int) -> Parameter:
        tensor = self._graph.tensors[index]
        if tensor.element_type is None:
            raise FrontendError(f"input '{tensor.name}': a tensor of {tensor.kind} is not supported")
        parameter = Parameter(tensor.element_type, tensor.partial_shape)
        self._host.name(parameter, tensor.name)
        self.define(index, parameter.output(0))
        return parameter

    def define(self, index: int, output: Output | None) -> None:
        """Let a value be that of a tensor."""
        self._values[index] = output
        # Within what becomes part of another graph names are its own, and another tensor may have the same there.
        if output is not None and not self._prefix and self._graph.tensors[index].name:
            output.names.add(self._graph.tensors[index].name)

    def results(self) -> list[Result]:
        """Translate the graph, whose inputs are defined already, into its Results."""
        made = []
        for index, value in zip(self._graph.outputs, self.translate()):
            name = self._graph.tensors[index].name
            result = Result(value, name=self._host.unique.take(f"{name}/result"))
            # Only the graph's own name for it: the value may have others.
            result.output(0).names = {name}
            made.append(result)
        return made

    def translate(self) -> list[Output]:
        """Translate the graph, whose inputs are defined already, and give its outputs."""
        operators = self._graph.operators
        names = [self._host.unique.take(self._prefix + _name_of(o, self._graph.tensors)) for o in operators]
        for completed, (operator, name) in enumerate(zip(operators, names), 1):
            self._translate(operator, name)
            if len(self._callers) == 1:
                self._reading.report_progress(len(operators), completed)
        return [self._required(index, "the output of the graph") for index in self._graph.outputs]

    def _translate(self, operator: DecodedOperator, name: str) -> None:
        place = f"{operator.op_type} node '{name}'"
        try:
            inputs = [None if index < 0 else self._required(index, "it") for index in operator.inputs]
            node = TfliteNodeContext(
                operator, name, inputs, self._graph.tensors, self._subgraph, self._variables, self._set_variable
            )
            outputs = as_outputs(self._reading.find(operator)(node))
            name_new_nodes(outputs, name, self._host.named, self._host.unique)
            if len(outputs) < len(operator.outputs):
                raise FrontendError(f"only its first {len(outputs)} of {len(operator.outputs)} outputs are supported")
        except Exception as error:
            # The file is not to be trusted, so anything may go wrong over it.
            raise FrontendError(f"{place}: {error}") from error
        for index, output in zip(operator.outputs, outputs):
            self.define(index, output)

    def _required(self, index: int, reader: str) -> Output:
        """The value of a tensor. Raises FrontendError where there is none."""
        tensor = self._graph.tensors[index]
        if tensor.is_variable and self._values[index] is None:
            return self._variables.read(self._variable_name(index), _first_value(tensor))
        if self._values[index] is None:
            if tensor.data is None:
                raise FrontendError(f"{reader} reads the tensor '{tensor.name}', which nothing before it makes")
            constant = self._host.name(Constant(tensor.data), self._prefix + tensor.name)
            self.define(index, constant.output(0))
        return self._values[index]  # type: ignore[return-value]

    def _variable_name(self, index: int) -> str:
        """What the variable is called that keeps a tensor."""
        name = self._graph.tensors[index].name or str(index)
        return name if len(self._callers) == 1 else f"{self._graph.name}/{name}"

    def _set_variable(self, index: int, value: Output) -> None:
        if not self._graph.tensors[index].is_variable:
            raise FrontendError(f"the tensor '{self._graph.tensors[index].name}' is none that can be set")
        self._variables.assign(self._variable_name(index), value)

    def _subgraph(self, index: int) -> TfliteSubgraph:
        return TfliteSubgraph(self._reading, index, self._host, self._variables, self._callers)


class TfliteSubgraph(Subgraph):
    """A graph that an operator runs. Of the graphs around it it reads nothing but variables."""

    def __init__(
        self, reading: Reading, index: int, host: ModelScope, variables: Variables, callers: tuple[int, ...]
    ) -> None:
        if not 0 <= index < len(reading.decoded.graphs):
            raise FrontendError(f"there is no graph {index}")
        graph = reading.decoded.graphs[index]
        self.name, self.input_count, self.output_count = graph.name, len(graph.inputs), len(graph.outputs)
        self.input_names = [graph.tensors[place].name for place in graph.inputs]
        self._reading, self._index, self._callers = reading, index, callers
        self._host, self._variables = host, variables

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        host = ModelScope()
        variables = VariablesOfBody(self._variables, host.capture)
        for name, node in zip(self.input_names, inputs):
            host.name(node, name)
        for parameter in parameters:
            if parameter not in host.named:
                host.name(parameter, parameter.friendly_name)
        outputs = self.inside(host, variables, [node.output(0) for node in inputs])
        if variables.assigned:
            raise FrontendError(f"its graph '{self.name}' sets variables, which only IF and WHILE allow")
        return Body(Model(outputs, [*parameters, *host.captured.values()], self.name), list(host.captured))

    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        outputs = self.inside(self._host, self._variables, inputs, f"{name}/")
        name_first_output(name, outputs)
        return outputs

    def inside(
        self, host: ModelScope, variables: Variables, inputs: Sequence[Output], prefix: str = ""
    ) -> list[Output]:
        """The outputs of the graph, of nodes of another Model in the making. Raises FrontendError."""
        self.check_input_count(len(inputs))
        builder = GraphBuilder(self._reading, self._index, host, variables, prefix, self._callers)
        for place, value in zip(builder.graph.inputs, inputs):
            builder.define(place, value)
        return builder.translate()


def _first_value(tensor: DecodedTensor) -> Output:
    """What a variable tensor begins with. Raises FrontendError where its shape is not known."""
    if tensor.element_type is None or not tensor.partial_shape.is_static:
        raise FrontendError(f"the variable tensor '{tensor.name}' must have a known type and shape")
    zero = np.array(
        0 if tensor.quantization is None else tensor.quantization.zero_point, tensor.element_type.to_dtype()
    )
    # A view of one element: the file's shape may be of any size.
    return Constant(np.broadcast_to(zero, tensor.partial_shape.to_shape())).output(0)


def _add_names(signature: dict[str, int], values: dict[int, Output]) -> None:
    """Give values the names that a signature has for them, but for such as another value has."""
    taken = {name for value in values.values() for name in value.names}
    for name, index in signature.items():
        if name not in taken and index in values:
            values[index].names.add(name)


def _name_of(operator: DecodedOperator, tensors: Sequence[DecodedTensor]) -> str:
    """Operators have no names: that of the first tensor that they make."""
    return next((tensors[i].name for i in operator.outputs if tensors[i].name), operator.op_type)


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMES_LISTED} more" if len(names) > _NAMES_LISTED else ""
    return ("nodes " if len(names) > 1 else "node ") + ", ".join(names[:_NAMES_LISTED]) + more
