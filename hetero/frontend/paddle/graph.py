"""Translation of a decoded PaddlePaddle program into a Model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from hetero import ops
from hetero.frontend.extension import Extension
from hetero.frontend.paddle import translators as registered  # noqa: F401 (fills the registry)
from hetero.frontend.paddle.decoded import TENSOR_ARRAY, PaddleBlock, PaddleNode, PaddleProgram
from hetero.frontend.paddle.node_context import PaddleNodeContext, translators
from hetero.frontend.translation.decoded import DecodedNode
from hetero.frontend.translation.graph_builder import GraphBuilder
from hetero.frontend.translation.model_context import ModelContext
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.subgraph import ModelScope
from hetero.frontend.translation.translators import Translator, as_outputs, outputs_of
from hetero.frontend.translation.values import int64
from hetero.frontend.translation.variables import Variables
from hetero.graph import Constant, Model, Node, Output, Parameter, as_output
from hetero.system.errors import FrontendError

# Inputs that only training reads, which may have no value in a program for inference.
_NOT_READ = {("dropout", "Seed"), ("rnn", "DropoutState"), ("while", "StepScopes")}


def build_model(
    program: PaddleProgram, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """Translate a program, calling ``report_progress`` after each operator of its main block. Raises FrontendError."""
    variables, names = [list(part) for part in zip(*program.fetches)] or [[], []]
    graph = replace(program.graph, inputs=[variable for variable, _ in program.feeds], outputs=variables)
    context, scope = PaddleContext(program, extensions, report_progress), ModelScope()
    context.check(graph)
    builder = PaddleBuilder(context, graph, scope, Variables(scope))
    parameters = [builder.input(variable, name) for variable, name in program.feeds]
    results = [builder.result(value, name) for value, name in zip(builder.translate(), names)]
    builder.add_tensor_names()
    return Model(results, parameters, "model")


class PaddleContext(ModelContext):
    """The state of a program."""

    decoded: PaddleProgram

    def find_built_in(self, node: DecodedNode) -> Translator | None:
        return translators.find(node.op_type)


class PaddleBuilder(GraphBuilder):
    """Translator of one block, which may read variables of the blocks around it."""

    context: PaddleContext
    graph: PaddleBlock
    outer: PaddleBuilder | None
    reads_outer_values = True

    @cached_property
    def names_read(self) -> set[str]:
        """The names of the variables that something reads."""
        return self.graph.names_read()

    def input(self, variable: str, name: str) -> Parameter:
        """Create the Parameter for an input."""
        declared = self.graph.variables.get(variable)
        if declared is None or declared.kind or declared.element_type.is_dynamic():
            kind = "not declared" if declared is None else f"{declared.kind or 'of a type'} that is not supported"
            raise FrontendError(f"input '{name}' is {kind}")
        parameter = self.add_parameter(variable, declared.element_type, declared.partial_shape, name)
        parameter.output(0).add_names({name})
        return parameter

    def tensor_names(self, key: str) -> set[str]:
        """Return no names: a variable may be set again, and the tensor of its last value gets its name."""
        return set()

    def add_tensor_names(self) -> None:
        """Give tensors the names of the variables that they are the last values of."""
        for name, value in self._values.items():
            # The name of an input stays with its Parameter, also if the program sets the variable.
            if name not in self.graph.inputs:
                value.add_names({name})

    def is_defined(self, name: str) -> bool:
        """Return whether a variable has a value here."""
        if name in self._values or name in self.context.decoded.parameters or self._is_array(name):
            return True
        return self.outer is not None and self.outer.is_defined(name)

    def _is_array(self, name: str) -> bool:
        """Return whether this block declares the variable as an array, which is empty until it is written."""
        return name in self.graph.variables and self.graph.variables[name].kind == TENSOR_ARRAY

    def constant(self, key: str) -> Output | None:
        if self._is_array(key):
            return Constant(self.graph.variables[key].empty_array()).output(0)
        parameters = self.context.decoded.parameters
        if self.outer is not None or key not in parameters:
            return None
        return self.scope.name(Constant(parameters[key]), key).output(0)

    def node_context(self, node: DecodedNode, name: str) -> PaddleNodeContext:
        assert isinstance(node, PaddleNode)
        return PaddleNodeContext(node, name, self)

    def values_by_port(self, node: PaddleNode) -> dict[str, list[Output | None]]:
        """Return the inputs of an operator; a loop may set a variable that has no value before."""
        return {
            port: [self.value(name) if name and (not node.bodies or self.is_defined(name)) else None for name in names]
            for port, names in node.inputs.items()
            if (node.op_type, port) not in _NOT_READ
        }

    def define_outputs(self, node: DecodedNode, node_context: NodeContext, translation: Any) -> None:
        """Set the variables of an operator's outputs to what its translator returns, in order or by port."""
        assert isinstance(node_context, PaddleNodeContext)
        variables = node_context.output_variables
        by_variable: dict[str, Output] = {}
        if isinstance(translation, Mapping):
            for port, values in translation.items():
                parts: Sequence[Any] = as_outputs(values) if isinstance(values, (Node, Output)) else values
                pairs = zip(node.outputs.get(port, ()), parts)
                by_variable.update((variable, as_output(value)) for variable, value in pairs if value is not None)
        else:
            by_variable.update(zip(variables, outputs_of(translation, node_context)))
        by_variable = {variable: self._as_declared(value, variable) for variable, value in by_variable.items()}
        self.scope.name_new_nodes(list(by_variable.values()), node_context.name)
        # A variable that an operator updates in place, in training only, keeps its value.
        kept = {*by_variable, *node.input_keys()}
        missing = [variable for variable in variables if variable not in kept]
        if missing and not node.bodies:
            raise FrontendError(f"its output '{missing[0]}' is not supported")
        for variable, value in by_variable.items():
            self.define(variable, value)

    def _as_declared(self, value: Output, variable: str) -> Output:
        """Return a scalar as a vector of one element if the program says so, as older versions did."""
        declared = self.graph.variables.get(variable)
        if declared is not None and declared.partial_shape == [1] and value.partial_shape == []:
            return ops.Reshape(value, int64([1]), False).output(0)
        return value
