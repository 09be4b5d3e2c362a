"""Translation of a decoded PaddlePaddle program into a Model, operator by operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hetero import ops
from hetero.frontend.extension import Extension, conversion_for
from hetero.frontend.paddle.decoded import TENSOR_ARRAY, DecodedBlock, DecodedOperator, DecodedProgram, all_blocks
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import PaddleTranslation, PaddleTranslator, find_translator
from hetero.frontend.paddle.subgraph import PaddleSubgraph
from hetero.frontend.translation.subgraph import ModelScope, name_new_nodes
from hetero.frontend.translation.translators import as_outputs, outputs_of
from hetero.frontend.translation.values import int64
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, as_output
from hetero.system.errors import FrontendError

# Maximum nesting depth of blocks.
MAX_NESTING = 40


def build_model(
    program: DecodedProgram, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """Translate a program, calling ``report_progress`` after each operator of its main block.

    Raises FrontendError; operators without a translator are reported all at once.
    """
    _check(program.block, extensions)
    scope = ModelScope()
    builder = GraphBuilder(program, program.block, extensions, scope)
    parameters = [_add_parameter(variable, name, program, builder) for variable, name in program.feeds]
    builder.translate(report_progress)
    results = []
    for variable, name in program.fetches:
        value = builder.value(variable, "the output of the program")
        result = Result(value, name=scope.unique.take(f"{name}/result"))
        result.output(0).names = {name}
        results.append(result)
    builder.add_tensor_names()
    return Model(results, parameters, "model")


def find(op_type: str, extensions: Sequence[Extension]) -> PaddleTranslator | None:
    """Return the translator of an operator, extensions first."""
    extension = conversion_for(extensions, op_type, "")
    return extension.get_converter() if extension else find_translator(op_type)


def _add_parameter(variable: str, name: str, program: DecodedProgram, builder: GraphBuilder) -> Parameter:
    """Return the Parameter of an input."""
    declared = program.block.variables.get(variable)
    if declared is None or declared.kind or declared.element_type.is_dynamic():
        kind = "not declared" if declared is None else f"{declared.kind or 'of a type'} that is not supported"
        raise FrontendError(f"input '{name}' is {kind}")
    parameter = builder.scope.name(Parameter(declared.element_type, declared.partial_shape), name)
    builder.define(variable, parameter.output(0))
    parameter.output(0).add_names({name})
    return parameter


def _check(block: DecodedBlock, extensions: Sequence[Extension]) -> None:
    """Raise FrontendError if operators have no translator, listing all with their numbers."""
    missing = Counter(
        operator.op_type
        for inner in all_blocks(block)
        for operator in inner.operators
        if find(operator.op_type, extensions) is None
    )
    if missing:
        kinds = ", ".join(f"{op_type} ({count})" for op_type, count in sorted(missing.items()))
        raise FrontendError(f"there is no translation of {kinds}")


class GraphBuilder:
    """Translator of one block into the Model under construction whose state is ``scope``.

    ``outer``: the builder of the block around it. ``prefix``: prepended to node names if the block is inlined.
    """

    def __init__(
        self,
        program: DecodedProgram,
        block: DecodedBlock,
        extensions: Sequence[Extension],
        scope: ModelScope,
        outer: GraphBuilder | None = None,
        prefix: str = "",
    ) -> None:
        self._depth: int = outer._depth + 1 if outer else 0
        if self._depth > MAX_NESTING:
            raise FrontendError(f"blocks are nested more than {MAX_NESTING} deep")
        self._program, self._block, self._extensions = program, block, extensions
        self.scope, self._outer, self._prefix = scope, outer, prefix
        self._values: dict[str, Output] = {}
        self._read = _names_read(block)
        if outer is None:
            self._read.update(name for name, _ in program.fetches)

    def enter(self, block: DecodedBlock, scope: ModelScope, prefix: str) -> GraphBuilder:
        """Return a builder for a block of an operator. In the same scope, it needs a prefix for its node names."""
        return GraphBuilder(self._program, block, self._extensions, scope, self, self._prefix + prefix)

    def define(self, name: str, value: Output) -> None:
        """Set a variable, which may have a value before."""
        self._values[name] = value

    def is_defined(self, name: str) -> bool:
        """Return whether a variable has a value here."""
        if name in self._values or name in self._program.parameters or self._is_array(name):
            return True
        return self._outer is not None and self._outer.is_defined(name)

    def value(self, name: str, reader: str) -> Output:
        """Return the value of a variable. Raises FrontendError if nothing before ``reader`` sets it."""
        if name not in self._values:
            self._values[name] = self._outer_value(name, reader)
        return self._values[name]

    def _is_array(self, name: str) -> bool:
        """Return whether this block declares the variable as an array, which is empty until it is written."""
        return name in self._block.variables and self._block.variables[name].kind == TENSOR_ARRAY

    def _outer_value(self, name: str, reader: str) -> Output:
        if self._is_array(name):
            return Constant(self._block.variables[name].empty_array()).output(0)
        if self._outer is not None:
            value = self._outer.value(name, reader)
            return value if self._outer.scope is self.scope else self.scope.capture(value, name)
        if name not in self._program.parameters:
            raise FrontendError(f"{reader} reads '{name}', which no operator before it computes")
        constant = self.scope.name(Constant(self._program.parameters[name]), name)
        return constant.output(0)

    def add_tensor_names(self) -> None:
        """Give tensors the names of the variables that they are the last values of."""
        inputs = {variable for variable, _ in self._program.feeds}
        for name, value in self._values.items():
            # The name of an input stays with its Parameter, also if the program sets the variable.
            if name not in inputs:
                value.add_names({name})

    def translate(
        self, report_progress: Callable[[int, int], None] = lambda total_steps, completed_steps: None
    ) -> None:
        """Translate all operators. The inputs of the block must be defined."""
        operators = self._block.operators
        for completed, operator in enumerate(operators, 1):
            self._translate(operator)
            report_progress(len(operators), completed)

    def _translate(self, operator: DecodedOperator) -> None:
        first = next(operator.output_names(), operator.op_type)
        name = self.scope.unique.take(
            f"{self._prefix}{operator.path}/{first}" if operator.path else self._prefix + first
        )
        try:
            values = {
                port: [self._input(one, operator) for one in names]
                for port, names in operator.inputs.items()
                if (operator.op_type, port) not in _NOT_READ
            }
            subgraphs = [PaddleSubgraph(block, self) for block in operator.blocks]
            node = PaddleNodeContext(operator, name, values, self._block.variables, self._read, subgraphs)
            self._define(operator, node, self._find(operator)(node), name)
        except Exception as error:
            # Translators may raise anything for an untrusted file.
            raise FrontendError(f"{operator.op_type} node '{name}': {error}") from error

    def _input(self, name: str, operator: DecodedOperator) -> Output | None:
        """Return the value of an input, None if it is omitted; a loop may set a variable that has no value before."""
        if not name or (operator.blocks and not self.is_defined(name)):
            return None
        return self.value(name, "it")

    def _find(self, operator: DecodedOperator) -> PaddleTranslator:
        translator = find(operator.op_type, self._extensions)
        assert translator is not None  # by the check of the whole program
        return translator

    def _define(self, operator: DecodedOperator, node: PaddleNodeContext, result: PaddleTranslation, name: str) -> None:
        """Set the variables of an operator's outputs to what its translator returns, in order or by port."""
        by_variable: dict[str, Output] = {}
        if isinstance(result, Mapping):
            for port, values in result.items():
                found: Sequence[Any] = as_outputs(values) if isinstance(values, (Node, Output)) else values
                pairs = zip(operator.outputs.get(port, ()), found)
                by_variable.update((variable, as_output(value)) for variable, value in pairs if value is not None)
        else:
            by_variable.update(zip(node.output_variables, outputs_of(result, node)))
        by_variable = {variable: self._as_declared(value, variable) for variable, value in by_variable.items()}
        name_new_nodes(list(by_variable.values()), name, self.scope.named, self.scope.unique)
        # A variable that an operator updates in place, in training only, keeps its value.
        kept = {*by_variable, *operator.input_names()}
        missing = [variable for variable in node.output_variables if variable not in kept]
        if missing and not operator.blocks:
            raise FrontendError(f"its output '{missing[0]}' is not supported")
        for variable, value in by_variable.items():
            self.define(variable, value)

    def _as_declared(self, value: Output, variable: str) -> Output:
        """Return a scalar as a vector of one element if the program says so, as older versions did."""
        declared = self._block.variables.get(variable)
        if declared is not None and declared.partial_shape == [1] and value.partial_shape == []:
            return ops.Reshape(value, int64([1]), False).output(0)
        return value


# Inputs that only training reads, which may have no value in a program for inference.
_NOT_READ = {("dropout", "Seed"), ("rnn", "DropoutState"), ("while", "StepScopes")}


def _names_read(block: DecodedBlock) -> set[str]:
    """Return the variables that a block or one in it reads, or the operator around it afterwards."""
    names = set(block.outputs)
    for inner in all_blocks(block):
        names.update(inner.outputs)
        for operator in inner.operators:
            names.update(operator.input_names())
    return names
