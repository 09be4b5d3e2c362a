"""Translation of an exported PyTorch program into a Model, operator by operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.extension import Extension
from hetero.frontend.pytorch.decoded import Argument, TorchGraph, TorchNode, TorchProgram, ValueRef, names_in
from hetero.frontend.pytorch.node_context import TorchNodeContext, find_translator
from hetero.frontend.pytorch.views import Tensors
from hetero.frontend.translation.decoded import DecodedGraph, DecodedNode
from hetero.frontend.translation.graph_builder import GraphBuilder
from hetero.frontend.translation.model_context import ModelContext
from hetero.frontend.translation.subgraph import ModelScope, Value
from hetero.frontend.translation.translators import Translator
from hetero.frontend.translation.variables import Variables
from hetero.graph import Constant, Model, Output, Parameter
from hetero.system.errors import FrontendError


def build_model(
    program: TorchProgram, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """Translate a program, calling ``report_progress`` after each operator. Raises FrontendError."""
    context = TorchContext(program, extensions, report_progress)
    context.check(program.graph, "; torch decomposes many operators: save the program after run_decompositions()")
    mutations = list(program.mutations)
    while True:
        # Which buffers operators change in place is known only after the translation: if they do, it is repeated.
        builder = _translated(context, {target for _, target in mutations})
        changed = builder.changed() - {target for _, target in mutations}
        mutations += [(ValueRef(name), name) for name in (*program.constants, *program.user_inputs) if name in changed]
        if changed.isdisjoint(program.constants):
            break
    reader = "the output of the program"
    results = [
        builder.result(builder.value(argument, reader), name)
        for argument, name in program.user_outputs
        if argument is not None
    ]
    for argument, target in mutations:
        after = builder.value(argument, reader)
        if target in program.names:
            builder.variables.assign(program.names[target], after)
        else:
            results.append(builder.result(after, f"{target}/after"))
    return Model(results, builder.parameters, "model", sinks=builder.variables.sinks())


def _translated(context: TorchContext, mutated: set[str]) -> TorchBuilder:
    """Return the builder of the main graph after its translation; constants in ``mutated`` are variables."""
    program, scope = context.decoded, ModelScope()
    arrays = {name: program.constants[key] for key, name in program.names.items()}
    variables = Variables(scope, arrays, {name for key, name in program.names.items() if key in mutated})
    builder = TorchBuilder(context, program.graph, scope, variables)
    for key in program.user_inputs:
        builder.add_input(key)
    for key, name in program.names.items():
        builder.define(key, variables.read(name))
    builder.translate()
    return builder


class TorchContext(ModelContext):
    """The state of a program."""

    decoded: TorchProgram

    def find_built_in(self, node: DecodedNode) -> Translator | None:
        assert isinstance(node, TorchNode)
        op_types = [node.op_type, node.op_type[:-1]] if node.is_in_place else [node.op_type]
        return next(filter(None, (find_translator(op_type, node.overload) for op_type in op_types)), None)

    def graphs_of(self, node: DecodedNode) -> list[DecodedGraph]:
        assert isinstance(node, TorchNode)
        return list(node.graphs())

    def order(self, graph: DecodedGraph) -> Sequence[DecodedNode]:
        """Return the nodes that the results or any change in place need."""
        needed = set(names_in(list(graph.outputs)))
        nodes: list[DecodedNode] = []
        for node in reversed(graph.nodes):
            if node.has_effects or not needed.isdisjoint(node.output_keys()):
                nodes.append(node)
                needed.update(names_in(list(node.inputs.values())))
        return nodes[::-1]


class TorchBuilder(GraphBuilder):
    """Translator of one graph, whose tensors may share memory."""

    graph: TorchGraph

    def __init__(
        self,
        context: ModelContext,
        graph: DecodedGraph,
        scope: ModelScope,
        variables: Variables,
        outer: GraphBuilder | None = None,
        prefix: str = "",
    ) -> None:
        super().__init__(context, graph, scope, variables, outer, prefix)
        self.parameters: list[Parameter] = []
        self._tensors = Tensors(lambda node: self.translate_node(node, self.node_name(node)))

    def add_input(self, name: str) -> None:
        """Create the Parameter of an input, which is a tensor or an integer."""
        tensor = self.graph.tensors.get(name)
        kind, shape = (tensor.element_type, tensor.partial_shape) if tensor else (Type.i64, PartialShape([]))
        self.parameters.append(self.add_parameter(name, kind, shape))
        self.parameters[-1].output(0).add_names({name})

    def define(self, key: str, value: Value) -> None:
        self._tensors.define(key, value)

    def changed(self) -> set[str]:
        """Return the tensors that operators have changed in place."""
        return self._tensors.changed()

    def value(self, key: Argument, reader: str = "it") -> Value:
        if key is None:
            return None
        if not isinstance(key, ValueRef):
            return Constant(np.array(key)).output(0)
        return self._tensors[key.name] if key.name in self._tensors else super().value(key, reader)

    def translate(self) -> list[Value]:
        values = super().translate()
        changed = self.changed() & set(self.graph.inputs) if self.outer else set()
        if changed:
            raise FrontendError(f"its graph changes its inputs in place ({', '.join(sorted(changed))}): "
                                "export with run_decompositions()")  # fmt: skip
        return values

    def node_context(self, node: DecodedNode, name: str) -> TorchNodeContext:
        assert isinstance(node, TorchNode)
        arguments = {key: self._resolved(argument) for key, argument in node.inputs.items()}
        return TorchNodeContext(node, name, arguments, self.graph.tensors)

    def _resolved(self, argument: Argument) -> Argument:
        if isinstance(argument, ValueRef):
            return self.value(argument)
        if isinstance(argument, TorchGraph):
            return self.subgraph(argument)
        return [self._resolved(part) for part in argument] if isinstance(argument, list) else argument

    def define_each(self, node: DecodedNode, outputs: list[Output]) -> None:
        assert isinstance(node, TorchNode)
        self._tensors.define_results(node, outputs)
