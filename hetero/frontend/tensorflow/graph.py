"""Translation of a decoded TensorFlow model into a Model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.extension import Extension
from hetero.frontend.source import Companion
from hetero.frontend.tensorflow import translators as _  # noqa: F401 (fills the registry)
from hetero.frontend.tensorflow.decoded import (
    Reference,
    TensorflowGraph,
    TensorflowModel,
    TensorflowNode,
    execution_order,
)
from hetero.frontend.tensorflow.node_context import Handle, TensorflowNodeContext, Values, translators
from hetero.frontend.tensorflow.translators.containers.tables import Tables
from hetero.frontend.tensorflow.translators.signal import COMPLEX_OPERATORS
from hetero.frontend.translation.decoded import DecodedGraph, DecodedNode
from hetero.frontend.translation.graph_builder import GraphBuilder
from hetero.frontend.translation.model_context import ModelContext
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.subgraph import ModelScope, Subgraph, Value
from hetero.frontend.translation.translators import Translator, as_outputs
from hetero.frontend.translation.variables import Variables
from hetero.graph import Model, Output, Parameter, Result
from hetero.system.errors import FrontendError

# Operators that make no operation: their values are resources.
_RESOURCES = ("VarHandleOp", "Variable", "VariableV2", "HashTable", "HashTableV2")


def build_model(
    decoded: TensorflowModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """Translate a model, calling ``report_progress`` after each node of its main graph. Raises FrontendError."""
    context = TensorflowContext(decoded, extensions, report_progress)
    context.check(decoded.graph)
    context.initialize_tables()
    changed: set[str] = set()
    while True:
        # The variables that the model changes are known only after its translation: if there are any, it is repeated.
        context.tables.restart()
        model, assigned = _build(context, changed)
        if assigned <= changed:
            return model
        changed |= assigned


def _build(context: TensorflowContext, changed: set[str]) -> tuple[Model, set[str]]:
    """Return the model, and the names of the variables that it changes."""
    decoded, graph, scope = context.decoded, context.decoded.graph, ModelScope()
    variables = Variables(scope, decoded.variables, changed)
    builder = TensorflowBuilder(context, graph, scope, variables)
    parameters = [builder.input(graph.nodes[name]) for name in graph.inputs]
    results = builder.results()
    for parameter, name in zip(parameters, decoded.input_names):
        parameter.output(0).add_names({name})
    return Model(results, parameters, graph.name, sinks=variables.sinks()), set(variables.assigned)


class TensorflowContext(ModelContext):
    """The state of a model. ``tables``: the contents of its hash tables."""

    decoded: TensorflowModel

    def __init__(
        self, decoded: TensorflowModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
    ) -> None:
        super().__init__(decoded, extensions, report_progress)
        self.tables = Tables(decoded.tables)
        self._effects: dict[str, bool] = {}

    def asset(self, text: str) -> Companion | None:
        """Return a file of the model: the text that stands for it is the name of its node."""
        return self.decoded.assets.get(text)

    def initialize_tables(self) -> None:
        """Translate the nodes that initialize tables; what they compute is no part of the model."""
        graph = self.decoded.graph
        if names := [name for name in self.decoded.initializers if name in graph.nodes]:
            initializer = TensorflowGraph("initializer", [], [], graph.nodes, names)
            scope = ModelScope()
            self.check(initializer)
            TensorflowBuilder(self, initializer, scope, Variables(scope, self.decoded.variables, set())).translate()
        self.tables.keep_initial()

    def order(self, graph: DecodedGraph) -> Sequence[TensorflowNode]:
        assert isinstance(graph, TensorflowGraph)
        nodes = execution_order(graph, self.decoded.functions, self._effects)
        return [node for node in nodes if node.name not in graph.inputs]

    def graphs_of(self, node: DecodedNode) -> list[DecodedGraph]:
        assert isinstance(node, TensorflowNode)
        called = [node.op_type] if node.op_type in self.decoded.functions else []
        return [self.decoded.graph_of(name) for name in [*node.functions(), *called]]

    def find_built_in(self, node: DecodedNode) -> Translator | None:
        translator = translators.find(node.op_type)
        if translator is None:
            return call_function if node.op_type in self.decoded.functions else None
        return translator if node.op_type in COMPLEX_OPERATORS else _of_real_numbers(translator)


def call_function(node: TensorflowNodeContext) -> Values:
    """Inline the function whose name is the node's operator."""
    return node.function(node.get_op_type()).inline(node.get_values(), node.name)


def _of_real_numbers(translator: Translator) -> Translator:
    def translate(node: TensorflowNodeContext) -> Values:
        node.refuse_complex()
        return translator(node)

    return translate


class TensorflowBuilder(GraphBuilder):
    """Translator of one graph. Its values are by References; those of the graph's inputs also by the input's name."""

    context: TensorflowContext
    graph: TensorflowGraph

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # The indices of the outputs that are read, by node.
        self._read: dict[str, set[int]] = defaultdict(set)
        inputs = [reference for node in self.context.nodes_of(self.graph) for reference in node.inputs]
        for reference in [*inputs, *self.graph.outputs]:
            self._read[reference.node].add(reference.port)

    def input(self, node: TensorflowNode) -> Parameter:
        """Create the Parameter for a Placeholder."""
        element_type = node.attributes.get("dtype", Type.dynamic)
        if not isinstance(element_type, Type) or element_type.is_dynamic():
            raise FrontendError(f"input '{node.name}' has an element type that is not supported")
        # Graphs of old versions of TensorFlow have no dimensions where the rank is unknown.
        shape = node.attributes.get("shape", PartialShape.dynamic())
        if not isinstance(shape, PartialShape):
            raise FrontendError(f"input '{node.name}' has no shape")
        return self.add_parameter(node.name, element_type, shape)

    def define(self, key: Reference | str, value: Value) -> None:
        super().define(Reference(key) if isinstance(key, str) else key, value)

    def tensor_names(self, key: Reference) -> set[str]:
        return {str(key)} if key.port else {str(key), key.node}

    def is_read(self, name: str, index: int) -> bool:
        """Return whether a node or an output of the graph reads an output of a node."""
        return not self._read[name].isdisjoint({index, -1})

    def output_count(self, name: str) -> int:
        """Return the number of outputs of a node up to the last one that is read, at least 1."""
        return 1 + max([0, *self._read[name]])

    def value(self, key: Reference, reader: str = "it") -> Value:
        """Return a value; those of all outputs of a node, by reference, if the index of the output is -1."""
        if key.port < 0:
            return {reference: value for reference, value in self._values.items() if reference.node == key.node}
        return super().value(key, reader)

    def results(self) -> list[Result]:
        names = self.context.decoded.output_names if self.outer is None else []
        results = []
        for position, (key, value) in enumerate(zip(self.graph.outputs, self.translate())):
            name = names[position] if position < len(names) else None
            for reference, output in (value if key.port < 0 else {key: value}).items():
                if isinstance(output, Output):
                    results.append(self.result(output, name or reference.node))
                    results[-1].output(0).names |= self.tensor_names(reference)
        return results

    def node_name(self, node: DecodedNode) -> str:
        # The name of a variable is that of its contents.
        return self.prefix + node.name if node.op_type in _RESOURCES else super().node_name(node)

    def node_context(self, node: DecodedNode, name: str) -> TensorflowNodeContext:
        assert isinstance(node, TensorflowNode)
        return TensorflowNodeContext(node, name, self)

    def function(self, name: str) -> Subgraph:
        """Return a function of the model, for an operator that calls it. Raises FrontendError if there is none."""
        return self.subgraph(self.context.decoded.graph_of(name))

    def define_outputs(self, node: DecodedNode, node_context: NodeContext, translation: Any) -> None:
        values = _as_values(translation)
        outputs = [value for value in values if isinstance(value, Output)]
        self.scope.name_new_nodes(outputs, node_context.name)
        for index, value in enumerate(values):
            self.define(Reference(node.name, index), value)


def _as_values(translation: Any) -> list[Value]:
    """Return the result of a translator, which may also return Handles, as a list of values."""
    if isinstance(translation, Handle):
        return [translation]
    if isinstance(translation, (list, tuple)) and any(isinstance(value, Handle) for value in translation):
        return [value if isinstance(value, Handle) else as_outputs(value)[0] for value in translation]
    return list(as_outputs(translation))
