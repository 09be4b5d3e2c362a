"""GraphBuilder, which translates one graph of a model file, node by node. How a format plugs in:

1. Its decoder returns a DecodedModel. It extends DecodedNode and DecodedGraph only by what the format has besides.
2. A subclass of ModelContext finds a node's built-in translator, by an OperatorTable; extensions come first anyway.
3. A subclass of NodeContext is what its translators get.
4. A subclass of GraphBuilder makes that in ``node_context`` from ``inputs_of(node)`` and ``subgraphs_of(node)``. It
   overrides only what differs: ``constant`` (a value that no node computes: an initializer, a parameter),
   ``value`` and ``define`` (values that are more than an entry by key: views, variables, declared shapes),
   ``define_outputs`` (translators that return more than outputs in order), ``tensor_names``, ``node_name``, and sets
   ``reads_outer_values`` if graphs read values of the graphs around them by their keys.
5. ``build_model`` makes the context, calls ``context.check(graph)``, makes a builder for the main graph, defines its
   inputs with ``add_parameter``, and returns a Model of these, ``builder.results()`` and ``variables.sinks()``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from hetero.core.containers import ElementType
from hetero.core.shape import PartialShape
from hetero.frontend.translation.decoded import DecodedGraph, DecodedNode, Key
from hetero.frontend.translation.model_context import ModelContext, node_error
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.subgraph import ModelScope, Subgraph, Value
from hetero.frontend.translation.translators import as_outputs
from hetero.frontend.translation.variables import Variables
from hetero.graph import Output, Parameter, Result
from hetero.system.errors import FrontendError


class GraphBuilder(ABC):
    """Translator of one graph into the Model under construction whose state is ``scope``.

    ``outer``: the builder of the graph whose node runs this one, None for the main graph. ``prefix``: prepended to
    names of nodes if the graph is inlined into another.
    """

    # Whether a graph may read values of the graphs around it.
    reads_outer_values = False

    def __init__(
        self,
        context: ModelContext,
        graph: DecodedGraph,
        scope: ModelScope,
        variables: Variables,
        outer: GraphBuilder | None = None,
        prefix: str = "",
    ) -> None:
        callers: tuple[DecodedGraph, ...] = outer.callers if outer else ()
        context.enter(graph, callers)
        self.context, self.graph, self.scope, self.variables = context, graph, scope, variables
        self.outer, self.prefix = outer, prefix
        self.callers: tuple[DecodedGraph, ...] = (*callers, graph)
        self._values: dict[Key, Value] = {}

    def enter(self, graph: DecodedGraph, scope: ModelScope, variables: Variables, prefix: str) -> Self:
        """Return a builder for a graph that a node of this one runs."""
        return type(self)(self.context, graph, scope, variables, self, prefix)

    def add_parameter(
        self, key: Key, element_type: ElementType, shape: PartialShape, name: str | None = None
    ) -> Parameter:
        """Create the Parameter for an input. ``name``: its name for users, by default that of the value."""
        parameter = Parameter(element_type, shape)
        self.scope.name(parameter, self.graph.name_of(key) if name is None else name)
        self.define(key, parameter.output(0))
        return parameter

    def define(self, key: Key, value: Value) -> None:
        """Set a value."""
        self._values[key] = value
        # The names in an inlined graph may collide with those of the graph around it.
        if not self.prefix and isinstance(value, Output):
            value.add_names(self.tensor_names(key))

    def tensor_names(self, key: Key) -> set[str]:
        """Return the names that the tensor of a value gets."""
        return {self.graph.name_of(key)} - {""}

    def value(self, key: Key, reader: str = "it") -> Value:
        """Return a value. Raises FrontendError, with the ``reader``, if nothing before that computes it."""
        if key not in self._values:
            constant = self.constant(key)
            if constant is None:
                return self._outer_value(key, reader)
            self.define(key, constant)
        return self._values[key]

    def constant(self, key: Key) -> Output | None:
        """Return a value that the file contains and no node computes, or None."""
        return None

    def _outer_value(self, key: Key, reader: str) -> Value:
        name = self.graph.name_of(key)
        if self.outer is None or not self.reads_outer_values:
            raise FrontendError(f"{reader} reads '{name}', which no operator before it computes")
        value = self.outer.value(key, reader)
        is_inside = self.outer.scope is self.scope or not isinstance(value, Output)
        return value if is_inside else self.scope.capture(value, name)

    def results(self) -> list[Result]:
        """Translate the graph, whose inputs must be defined, and return its Results."""
        names = [self.graph.name_of(key) for key in self.graph.outputs]
        return [self.result(value, name) for name, value in zip(names, self.translate()) if isinstance(value, Output)]

    def result(self, value: Output, name: str) -> Result:
        """Return the Result of a value. Its tensor has only this name: the value may have others."""
        result = Result(value, name=self.scope.unique.take(f"{name}/result"))
        result.output(0).names = {name}
        return result

    def translate(self) -> list[Value]:
        """Translate the graph, whose inputs must be defined, and return its outputs."""
        self.translate_nodes()
        return [self.value(key, "the output of the graph") for key in self.graph.outputs]

    def translate_nodes(self) -> None:
        """Translate the nodes of the graph, whose inputs must be defined."""
        nodes = self.context.nodes_of(self.graph)
        # Names of the file's nodes are taken first, so that nodes which translators add do not get them.
        names = [self.node_name(node) for node in nodes]
        for completed, (node, name) in enumerate(zip(nodes, names), 1):
            self.translate_node(node, name)
            if self.outer is None:
                self.context.report_progress(len(nodes), completed)

    def translate_node(self, node: DecodedNode, name: str) -> None:
        """Translate one node and define its outputs. Raises FrontendError with the operator and this name."""
        try:
            translator = self.context.find(node)
            if translator is None:  # only in a graph that is made during translation: ``check`` finds others
                raise FrontendError("there is no translation of it")
            node_context = self.node_context(node, name)
            self.define_outputs(node, node_context, translator(node_context))
        except Exception as error:
            # Translators may raise anything for an untrusted file.
            raise node_error(node.op_type, name, error) from error

    def node_name(self, node: DecodedNode) -> str:
        """Return a unique name for a node."""
        return self.scope.unique.take(self.prefix + node.full_name)

    @abstractmethod
    def node_context(self, node: DecodedNode, name: str) -> NodeContext:
        """Return the view of a node that its translator gets."""

    def inputs_of(self, node: DecodedNode) -> list[Value]:
        """Return the values of a node's inputs, None for omitted ones."""
        return [None if key is None else self.value(key) for key in node.inputs]

    def subgraphs_of(self, node: DecodedNode) -> list[Subgraph]:
        """Return the graphs that a node runs."""
        return [self.subgraph(self.context.decoded.graph_of(body)) for body in node.bodies]

    def subgraph(self, graph: DecodedGraph) -> Subgraph:
        """Return a graph for a node of this graph to run."""
        return Subgraph(self, graph)

    def define_outputs(self, node: DecodedNode, node_context: NodeContext, translation: Any) -> None:
        """Set the values of a node's outputs to what its translator returns. Raises FrontendError if these are few."""
        outputs = as_outputs(translation)
        self.scope.name_new_nodes(outputs, node_context.name)
        if any(key is not None for key in node.outputs[len(outputs) :]):
            raise FrontendError(f"only its first {len(outputs)} of {len(node.outputs)} outputs are supported")
        self.define_each(node, outputs)

    def define_each(self, node: DecodedNode, outputs: list[Output]) -> None:
        """Set the values of a node's outputs, in order."""
        for key, output in zip(node.outputs, outputs):
            if key is not None:
                self.define(key, output)
