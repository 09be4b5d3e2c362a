"""Translation of a decoded TensorFlow model into a Model, operator by operator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.extension import Extension, conversion_for
from hetero.frontend.tensorflow import translators as _  # noqa: F401 (fills the registry)
from hetero.frontend.tensorflow.decoded import (
    MAX_NESTING,
    DecodedGraph,
    DecodedModel,
    DecodedNode,
    Reference,
    execution_order,
    pass_through,
)
from hetero.frontend.tensorflow.handles import Handle, Value, Values
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translators
from hetero.frontend.tensorflow.translators.containers.tables import Tables
from hetero.frontend.tensorflow.translators.containers.variables import BodyVariables, Variables
from hetero.frontend.tensorflow.translators.signal import COMPLEX_OPERATORS
from hetero.frontend.translation.subgraph import Body, ModelScope, Subgraph, name_first_output, name_new_nodes
from hetero.frontend.translation.translators import Translator, as_outputs
from hetero.graph import Model, Node, Output, Parameter, Result
from hetero.system.errors import FrontendError

# Maximum number of nodes after inlining: this factor times the nodes of the file, plus this constant. A function may be
# called several times, so a small file can expand exponentially.
_INLINE_FACTOR, _INLINE_CONSTANT = 50, 1000
# Operators that make no operation: their values are resources.
_RESOURCES = ("VarHandleOp", "Variable", "VariableV2", "HashTable", "HashTableV2")
# How many nodes of an unknown operator a message lists.
_NAMES_LISTED = 3


def build_model(
    decoded: DecodedModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """Translate a model, calling ``report_progress`` after each node of its main graph.

    Raises FrontendError; operators without a translator are reported all at once.
    """
    context = ModelContext(decoded, extensions, report_progress)
    context.check_graph(decoded.graph)
    context.initialize_tables()
    changed: set[str] = set()
    while True:
        # Which variables the model changes is known only after its translation: if it does, it is translated again.
        model, assigned = _build(context, changed)
        if assigned <= changed:
            return model
        changed |= assigned


def _build(context: ModelContext, changed: set[str]) -> tuple[Model, set[str]]:
    """Return the model, and the names of the variables that it changes."""
    context.restart()
    decoded, graph, scope = context.decoded, context.decoded.graph, ModelScope()
    variables = Variables(decoded.variables, changed, scope)
    builder = GraphBuilder(context, graph, scope, variables)
    parameters = [_add_parameter(graph.nodes[name], builder) for name in graph.inputs]
    builder.translate()
    for parameter, name in zip(parameters, decoded.input_names):
        parameter.output(0).add_names({name})
    results: list[Result] = []
    for position, reference in enumerate(graph.outputs):
        values = builder.values_of(reference)
        names = decoded.output_names[position : position + 1]
        results += [_result(value, Reference(reference.node, index), names, scope) for index, value in values]
    return Model(results, parameters, graph.name, sinks=variables.sinks()), set(variables.assigned)


def _add_parameter(node: DecodedNode, builder: GraphBuilder) -> Parameter:
    """Return the Parameter of a Placeholder."""
    element_type = node.attributes.get("dtype", Type.dynamic)
    if not isinstance(element_type, Type) or element_type.is_dynamic():
        raise FrontendError(f"input '{node.name}' has an element type that is not supported")
    # Graphs of old versions of TensorFlow have no dimensions where the rank is unknown.
    shape = node.attributes.get("shape", PartialShape.dynamic())
    if not isinstance(shape, PartialShape):
        raise FrontendError(f"input '{node.name}' has no shape")
    parameter = builder.scope.name(Parameter(element_type, shape), node.name)
    builder.define(node.name, [parameter.output(0)])
    return parameter


def _result(value: Output, reference: Reference, names: Sequence[str], scope: ModelScope) -> Result:
    result = Result(value, name=scope.unique.take(f"{names[0] if names else reference.node}/result"))
    # Only the names of the output: the value may have other names.
    result.output(0).names = {*names, *_tensor_names(reference)}
    return result


def _tensor_names(reference: Reference) -> list[str]:
    name = f"{reference.node}:{reference.port}"
    return [name] if reference.port else [name, reference.node]


class ModelContext:
    """State shared by the translation of all graphs of a model."""

    def __init__(
        self, decoded: DecodedModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
    ) -> None:
        self.decoded, self._extensions, self.report_progress = decoded, extensions, report_progress
        self.tables = Tables(decoded.tables)
        # The graph is kept besides its order, so that no other one gets the same id.
        self._orders: dict[int, tuple[DecodedGraph, list[DecodedNode]]] = {}
        self._effects: dict[str, bool] = {}
        self._file_size = 0
        self._count = 0

    def restart(self) -> None:
        """Begin to count inlined nodes again, with the initial contents of tables."""
        self._count = 0
        self.tables.restart()

    def asset_path(self, text: str) -> Path | None:
        """Return the path of a file of the model: the text that stands for it is the name of its node."""
        return self.decoded.assets.get(text)

    def initialize_tables(self) -> None:
        """Translate the nodes that initialize tables; what they compute is no part of the model."""
        graph = self.decoded.graph
        if names := [name for name in self.decoded.initializers if name in graph.nodes]:
            initializer = DecodedGraph("initializer", graph.nodes, [], [], names)
            scope = ModelScope()
            self.check_graph(initializer)
            GraphBuilder(self, initializer, scope, Variables(self.decoded.variables, set(), scope)).translate()
        self.tables.keep_initial()

    def order(self, graph: DecodedGraph) -> list[DecodedNode]:
        """Return the nodes to translate, in order."""
        if id(graph) not in self._orders:
            self._orders[id(graph)] = graph, execution_order(graph, self.decoded.functions, self._effects)
            self._file_size += len(graph.nodes)
        return self._orders[id(graph)][1]

    def function(self, name: str) -> DecodedGraph:
        """Return a function of the library. Raises FrontendError if there is none."""
        if name not in self.decoded.functions:
            raise FrontendError(f"there is no function '{name}' in the model")
        return self.decoded.functions[name]

    def count(self, nodes: int) -> None:
        """Count the nodes of a graph that is translated. Raises FrontendError if the total exceeds the limit."""
        self._count += 1 + nodes
        limit = _INLINE_CONSTANT + _INLINE_FACTOR * self._file_size
        if self._count > limit:
            raise FrontendError(f"its functions call each other so often that they expand to over {limit} nodes")

    def find(self, op_type: str) -> Translator | None:
        """Return the translator of an operator, extensions first; a function's name calls the function."""
        if extension := conversion_for(self._extensions, op_type, ""):
            return extension.get_converter()
        found = translators.find(op_type)
        return call_function if found is None and op_type in self.decoded.functions else found

    def check_graph(self, graph: DecodedGraph) -> None:
        """Raise FrontendError if operators have no translator, listing those of all functions that are used."""
        missing: dict[str, list[str]] = {}
        seen: set[str] = set()
        worklist = [graph]
        while worklist:
            graph = worklist.pop()
            for node in self.order(graph):
                if node.name in graph.inputs:
                    continue
                if self.find(node.op_type) is None:
                    missing.setdefault(node.op_type, []).append(node.name)
                called = [*node.functions(), *([node.op_type] if node.op_type in self.decoded.functions else [])]
                for name in called:
                    if name not in seen:
                        seen.add(name)
                        worklist.append(self.function(name))
        if missing:
            kinds = "; ".join(f"{kind} ({_listed(names)})" for kind, names in sorted(missing.items()))
            raise FrontendError(f"there is no translation of {kinds}")


def call_function(node: TensorflowNodeContext) -> Values:
    """Inline the function whose name is the node's operator."""
    return node.function(node.get_op_type()).inline_values(node.get_values(), node.name)


class GraphBuilder:
    """Translator of one graph into the Model under construction whose state is ``scope``.

    ``prefix``: prepended to node names if the graph is inlined into another. ``callers``: the names of the functions
    around this graph, outermost first.
    """

    def __init__(
        self,
        context: ModelContext,
        graph: DecodedGraph,
        scope: ModelScope,
        variables: Variables,
        prefix: str = "",
        callers: tuple[str, ...] = (),
    ) -> None:
        if graph.name in callers or len(callers) > MAX_NESTING:
            raise FrontendError(f"function '{graph.name}' calls itself, or functions are nested too deep")
        self.context, self.graph, self.scope, self.variables = context, graph, scope, variables
        self._order = context.order(graph)
        context.count(len(self._order))
        self._prefix, self.callers = prefix, (*callers, graph.name)
        self._values: dict[str, list[Value]] = {}
        # The indices of the outputs that are read, by node.
        self._read: dict[str, set[int]] = defaultdict(set)
        for reference in [*(one for node in self._order for one in node.inputs), *graph.outputs]:
            self._read[reference.node].add(reference.port)

    def define(self, name: str, values: list[Value]) -> None:
        """Set the outputs of a node."""
        self._values[name] = values
        if not self._prefix and len(self.callers) == 1:
            for index, value in enumerate(values):
                if isinstance(value, Output):
                    value.add_names({*_tensor_names(Reference(name, index))})

    def is_read(self, name: str, index: int) -> bool:
        """Return whether a node or an output of the graph reads an output of a node."""
        return not self._read[name].isdisjoint({index, -1})

    def output_count(self, name: str) -> int:
        """Return the number of outputs of a node up to the last one that is read, at least 1."""
        return 1 + max([0, *self._read[name]])

    def translate(self) -> None:
        """Translate all nodes. The values of the graph's inputs must be defined."""
        inputs = set(self.graph.inputs)
        for completed, node in enumerate(self._order, 1):
            if node.name not in inputs:
                self._translate(node)
            if len(self.callers) == 1:
                self.context.report_progress(len(self._order), completed)

    def value(self, reference: Reference, reader: str = "it") -> Value:
        """Return an output of a node. Raises FrontendError if the node does not have it."""
        values = self._values.get(reference.node, [])
        if not 0 <= reference.port < len(values):
            raise FrontendError(f"{reader} reads '{reference.node}:{reference.port}', which is not computed")
        return values[reference.port]

    def values_of(self, reference: Reference) -> list[tuple[int, Output]]:
        """Return the index and the value of a result of the graph, or of all of a node if the index is -1."""
        if reference.port < 0:
            values = list(enumerate(self._values.get(reference.node, [])))
        else:
            values = [(reference.port, self.value(reference, "the result of the graph"))]
        return [(index, value) for index, value in values if isinstance(value, Output)]

    def subgraph(self, name: str) -> TensorflowSubgraph:
        """Return a function of the model, for an operator that calls it. Raises FrontendError if there is none."""
        return self.subgraph_of(self.context.function(name))

    def subgraph_of(self, graph: DecodedGraph) -> TensorflowSubgraph:
        """Return a graph, which need not be in the library, for an operator that calls it."""
        return TensorflowSubgraph(self, graph)

    def _translate(self, node: DecodedNode) -> None:
        name = self._prefix + node.name
        if node.op_type not in _RESOURCES:  # The name of a variable is that of its contents.
            name = self.scope.unique.take(name)
        try:
            inputs = [self.value(reference) for reference in node.inputs]
            translator = self.context.find(node.op_type)
            assert translator is not None  # by the check of the whole model
            context = TensorflowNodeContext(node, name, inputs, self)
            if translator is translators.find(node.op_type) and node.op_type not in COMPLEX_OPERATORS:
                context.refuse_complex()
            values = _as_values(translator(context))
            outputs = [value for value in values if isinstance(value, Output)]
            name_new_nodes(outputs, name, self.scope.named, self.scope.unique)
        except Exception as error:
            # Translators may raise anything for an untrusted file.
            raise FrontendError(f"{node.op_type} node '{name}': {error}") from error
        self.define(node.name, values)


def _as_values(translation: object) -> list[Value]:
    """Return the result of a translator, which may also return Handles, as a list of values."""
    if isinstance(translation, Handle):
        return [translation]
    if isinstance(translation, (list, tuple)) and any(isinstance(one, Handle) for one in translation):
        return [one if isinstance(one, Handle) else as_outputs(one)[0] for one in translation]
    return list(as_outputs(translation))  # type: ignore[arg-type]  # a wrong result raises an error


class TensorflowSubgraph(Subgraph):
    """A function of the library that an operator of ``outer`` calls."""

    def __init__(self, outer: GraphBuilder, graph: DecodedGraph) -> None:
        self._outer, self._graph = outer, graph
        self.name, self.input_count, self.output_count = graph.name, len(graph.inputs), len(graph.outputs)
        self.input_names = graph.inputs

    def passed_inputs(self) -> set[int]:
        """Return the inputs of a loop body that it returns as they are."""
        outputs = [pass_through(self._graph, reference) for reference in self._graph.outputs]
        return {index for index, (name, output) in enumerate(zip(self.input_names, outputs)) if output.node == name}

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        scope = ModelScope()
        variables = BodyVariables(self._outer.variables, scope.capture, scope)
        for name, node in zip(self.input_names, inputs):
            scope.name(node, name)
        values = self.translate_into(scope, variables, [node.output(0) for node in inputs])
        outputs = [value for value in values if isinstance(value, Output)]
        if variables.assigned:
            raise FrontendError(f"function '{self.name}' changes variables, which this operator does not support")
        return Body(Model(outputs, [*parameters, *scope.captured.values()], self.name), list(scope.captured))

    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        return [value for value in self.inline_values(inputs, name) if isinstance(value, Output)]

    def inline_values(self, inputs: Sequence[Value], name: str) -> list[Value]:
        """Translate the function into the outer graph, also with Handles as inputs or outputs."""
        values = self.translate_into(self._outer.scope, self._outer.variables, inputs, f"{name}/")
        name_first_output(name, [value for value in values if isinstance(value, Output)])
        return values

    def translate_into(
        self, scope: ModelScope, variables: Variables, inputs: Sequence[Value], prefix: str = ""
    ) -> list[Value]:
        """Translate the function into another Model under construction; return its outputs. Raises FrontendError."""
        self.check_input_count(len(inputs))
        builder = GraphBuilder(self._outer.context, self._graph, scope, variables, prefix, self._outer.callers)
        for name, value in zip(self.input_names, inputs):
            builder.define(name, [value])
        builder.translate()
        return [builder.value(reference, f"function '{self.name}'") for reference in self._graph.outputs]


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = ", …" if len(names) > _NAMES_LISTED else ""
    return f"{len(names)} in {', '.join(names[:_NAMES_LISTED])}{more}"
