"""Translation of an exported PyTorch program into a Model, operator by operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.extension import Extension, conversion_for
from hetero.frontend.pytorch.decoded import Argument, DecodedGraph, DecodedNode, DecodedProgram, Reference, is_in_place
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import find_translator
from hetero.frontend.pytorch.subgraph import TorchSubgraph
from hetero.frontend.pytorch.views import Tensors
from hetero.frontend.translation.subgraph import ModelScope, name_new_nodes
from hetero.frontend.translation.translators import Translator, as_outputs
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.system.errors import FrontendError

# Maximum nesting depth of graphs.
MAX_NESTING = 40
# How many places of an unknown operator a message lists.
_PLACES_LISTED = 3


def build_model(
    program: DecodedProgram, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """Translate a program, calling ``report_progress`` after each operator.

    Raises FrontendError; operators without a translator are reported all at once.
    """
    _check(program.graph, extensions)
    mutations = list(program.mutations)
    while True:
        # Which buffers operators change in place is known only after the translation: if they do, it is repeated.
        scope = ModelScope()
        builder = GraphBuilder(program.graph, extensions, scope)
        parameters = [_add_parameter(program, name, builder) for name in program.user_inputs]
        targets = {target for _, target in mutations}
        _add_constants(program, targets, builder)
        builder.translate(report_progress)
        changed = builder.changed() - targets
        mutations += [(Reference(name), name) for name in (*program.constants, *program.user_inputs) if name in changed]
        if changed.isdisjoint(program.constants):
            break
    results, sinks = [], []
    for argument, name in program.user_outputs:
        if argument is not None:
            results.append(_result(builder.value(argument, "the output of the program"), name, scope))
    for argument, target in mutations:
        after = builder.value(argument, "the output of the program")
        if target in program.names:
            name = program.names[target]
            sinks.append(scope.name(ops.Assign(after, name), f"{name}/assign"))
        else:
            results.append(_result(after, f"{target}/after", scope))
    return Model(results, parameters, "model", sinks=sinks)


def _add_parameter(program: DecodedProgram, name: str, builder: GraphBuilder) -> Parameter:
    """Return the Parameter of an input, which is a tensor or an integer."""
    tensor = program.graph.tensors.get(name)
    parameter = Parameter(tensor.element_type, tensor.partial_shape) if tensor else Parameter(Type.i64, [])
    builder.define(name, builder.scope.name(parameter, name).output(0))
    parameter.output(0).add_names({name})
    return parameter


def _add_constants(program: DecodedProgram, mutated: set[str], builder: GraphBuilder) -> None:
    """Define the parameters, buffers and constants; those that the program changes are variables."""
    for value, array in program.constants.items():
        name = program.names[value]
        constant: Node = builder.scope.name(Constant(array), name)
        if value in mutated:
            constant = builder.scope.name(ops.ReadValue(constant, name), f"{name}/read")
        builder.define(value, constant.output(0))


def _result(value: Output, name: str, scope: ModelScope) -> Result:
    result = Result(value, name=scope.unique.take(f"{name}/result"))
    result.output(0).names = {name}
    return result


def find(op_type: str, overload: str, extensions: Sequence[Extension]) -> Translator | None:
    """Return the translator of an operator: one for its overload, else one for all; extensions first."""
    for name in (f"{op_type}.{overload}", op_type):
        if extension := conversion_for(extensions, name, ""):
            return extension.get_converter()
    found = find_translator(op_type, overload)
    return find_translator(op_type[:-1], overload) if found is None and is_in_place(op_type) else found


def _check(graph: DecodedGraph, extensions: Sequence[Extension]) -> None:
    """Raise FrontendError if operators have no translator, listing all with the modules that call them."""
    missing: dict[str, Counter[str]] = {}

    def collect(graph: DecodedGraph) -> None:
        for node in graph.nodes:
            if find(node.op_type, node.overload, extensions) is None:
                kind = f"{node.op_type}.{node.overload}".rstrip(".")
                missing.setdefault(kind, Counter())[node.module or node.name] += 1
            for argument in node.arguments.values():
                if isinstance(argument, DecodedGraph):
                    collect(argument)

    collect(graph)
    if missing:
        kinds = "; ".join(f"{kind} ({_listed(places)})" for kind, places in sorted(missing.items()))
        if any(kind.startswith(("aten::", "higher_order::wrap_with_autocast")) for kind in missing):
            kinds += "; torch decomposes many operators: save the program after run_decompositions()"
        raise FrontendError(f"there is no translation of {kinds}")


def _listed(places: Mapping[str, int]) -> str:
    count = sum(places.values())
    more = ", …" if len(places) > _PLACES_LISTED else ""
    return f"{count} in {', '.join(list(places)[:_PLACES_LISTED])}{more}"


class GraphBuilder:
    """Translator of one graph into the Model under construction whose state is ``scope``.

    ``prefix``: prepended to node names if the graph is inlined into another. ``depth``: how many graphs are around it.
    """

    def __init__(
        self,
        graph: DecodedGraph,
        extensions: Sequence[Extension],
        scope: ModelScope,
        prefix: str = "",
        depth: int = 0,
    ) -> None:
        if depth > MAX_NESTING:
            raise FrontendError(f"graphs are nested more than {MAX_NESTING} deep")
        self._graph, self._extensions, self._prefix, self._depth = graph, extensions, prefix, depth
        self.scope = scope
        self._tensors = Tensors(self._translate)

    def enter(self, graph: DecodedGraph, scope: ModelScope, prefix: str) -> GraphBuilder:
        """Return a builder for a graph in an argument. In the same scope, it needs a prefix for its node names."""
        return GraphBuilder(graph, self._extensions, scope, self._prefix + prefix, self._depth + 1)

    def define(self, name: str, value: Output) -> None:
        self._tensors.define(name, value)

    def changed(self) -> set[str]:
        """Return the tensors that operators have changed in place."""
        return self._tensors.changed()

    def translate(
        self, report_progress: Callable[[int, int], None] = lambda total_steps, completed_steps: None
    ) -> None:
        """Translate all operators. The values of the graph's inputs must be defined."""
        nodes = self._graph.nodes
        for completed, node in enumerate(nodes, 1):
            self._translate(node)
            report_progress(len(nodes), completed)

    def value(self, argument: Argument, reader: str) -> Output:
        """Return the value of an argument. Raises FrontendError if nothing before ``reader`` computes it."""
        if isinstance(argument, Reference):
            if argument.name not in self._tensors:
                raise FrontendError(f"{reader} reads '{argument.name}', which no operator before it computes")
            return self._tensors[argument.name]
        return Constant(np.array(argument)).output(0)

    def _translate(self, node: DecodedNode) -> None:
        name = self.scope.unique.take(
            f"{self._prefix}{node.module}/{node.name}" if node.module else self._prefix + node.name
        )
        try:
            translator = find(node.op_type, node.overload, self._extensions)
            assert translator is not None  # by the check of the whole program
            arguments = {key: self._resolved(value) for key, value in node.arguments.items()}
            outputs = as_outputs(translator(TorchNodeContext(node, name, arguments, self._graph.tensors)))
            name_new_nodes(outputs, name, self.scope.named, self.scope.unique)
            if len(outputs) < len(node.outputs):
                raise FrontendError(f"only its first {len(outputs)} of {len(node.outputs)} outputs are supported")
            self._tensors.define_results(node, outputs)
        except Exception as error:
            # Translators may raise anything for an untrusted file.
            raise FrontendError(f"{node.op_type} node '{name}': {error}") from error

    def _resolved(self, argument: Argument) -> Argument:
        if isinstance(argument, Reference):
            return self.value(argument, "it")
        if isinstance(argument, DecodedGraph):
            return TorchSubgraph(argument, self)
        return [self._resolved(one) for one in argument] if isinstance(argument, list) else argument
