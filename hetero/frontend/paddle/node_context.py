"""PaddleNodeContext: the view of a PaddlePaddle operator that its translator gets; the table of translators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.paddle.decoded import PaddleNode, PaddleVariable
from hetero.frontend.paddle.element_types import is_undefined, type_of
from hetero.frontend.translation.node_context import REQUIRED, NodeContext
from hetero.frontend.translation.subgraph import Subgraph
from hetero.frontend.translation.translators import ConversionResult, OperatorTable
from hetero.frontend.translation.values import int64
from hetero.graph import Constant, Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

if TYPE_CHECKING:
    from hetero.frontend.paddle.graph import PaddleBuilder

# The ports with the results of most operators, which come first among the outputs.
_MAIN_OUTPUTS = ("Out", "Y", "Output")


class PaddleNodeContext(NodeContext):
    """An operator, with the ports and attributes that it has in ProgramDesc: ``X``, ``Out``, ``axis``.

    Outputs that nothing reads are left out. ``output_variables``: the names of the variables that the others set.
    """

    def __init__(self, operator: PaddleNode, name: str, builder: PaddleBuilder) -> None:
        self._operator, self._builder, self._variables = operator, builder, builder.graph.variables
        self._inputs_by_port, inputs = _numbered(builder.values_by_port(operator))
        ports = sorted(operator.outputs, key=lambda port: port not in _MAIN_OUTPUTS)
        by_port = {port: [name for name in operator.outputs[port] if name in builder.names_read] for port in ports}
        self._outputs_by_port, self.output_variables = _numbered(
            {port: names for port, names in by_port.items() if names}
        )
        subgraphs = builder.subgraphs_of(operator)
        super().__init__(operator.op_type, name, inputs, len(self.output_variables), subgraphs)

    def get_input_indices(self, name: str) -> Sequence[int]:
        self._check_names(name)
        return self._inputs_by_port.get(name, [])

    def get_output_names(self) -> list[str]:
        return list(self._outputs_by_port) if self._operator.has_named_ports else []

    def get_output_indices(self, name: str) -> Sequence[int]:
        self._check_names(name)
        return self._outputs_by_port.get(name, [])

    def _check_names(self, name: str) -> None:
        if not self._operator.has_named_ports:
            raise FrontendError(
                f"the file has no names of the inputs and outputs of {self.get_op_type()}: "
                f"use an index instead of '{name}'"
            )

    def has_attribute(self, name: str) -> bool:
        return self._operator.attributes.get(name) is not None

    def read_attribute(self, name: str) -> Any:
        return self._operator.attributes[name]

    def block_lacks(self, index: int, output: int) -> bool:
        """Return whether a block does not set one of its outputs, a variable that has no value before it either."""
        block = self._operator.bodies[index]
        name = block.outputs[output]
        is_set = any(name in operator.output_keys() for operator in block.nodes)
        return not is_set and not self._builder.is_defined(name)

    def block_part(self, index: int, inputs: Sequence[int], outputs: Sequence[int]) -> Subgraph:
        """Return a block with only these of its inputs and outputs."""
        block = self._operator.bodies[index]
        kept = [[block.inputs[place] for place in inputs], [block.outputs[place] for place in outputs]]
        return self._builder.subgraph(replace(block, inputs=kept[0], outputs=kept[1]))

    def optional_tensors(self, name: str) -> list[Output | None]:
        """Return all values of a port, None for variables without a value."""
        return [self._inputs[index] for index in self.get_input_indices(name)]

    def type_attribute(self, *names: str) -> Type | None:
        """Return the first of these attributes that says an element type, or None."""
        for name in names:
            code = self.get_attribute(name, -1)
            if not is_undefined(code):
                return type_of(code)
        return None

    def output_variable(self, port: str = "Out") -> PaddleVariable:
        """Return what the program says of the first variable of an output."""
        names = self._operator.outputs.get(port) or [""]
        return self._variables.get(names[0], PaddleVariable())

    def output_count(self, port: str = "Out") -> int:
        """Return the number of variables of an output, with those that nothing reads."""
        return len(self._operator.outputs.get(port, ()))

    def integers(self, attribute: str, *ports: str, default: Any = REQUIRED) -> Output:
        """Return integers as an i64 vector: from the first of these ports that has values, else from the attribute.

        A port has one vector, or several values with one integer each. A port may also be named as the attribute.
        """
        for port in (*ports, attribute):
            values = self.get_inputs(port) if self._operator.has_named_ports and self.has_input(port) else []
            if len(values) == 1:
                return _as_vector(values[0])
            if values:
                # Each has one element, whatever the program says of its shape.
                return ops.Concat([ops.Reshape(_as_vector(value), int64([1]), False) for value in values], 0).output(0)
        numbers = self.get_attribute(attribute, default)
        return int64([numbers] if isinstance(numbers, (int, float)) else list(numbers)).output(0)

    def known_integers(self, attribute: str, *ports: str, default: Any = REQUIRED) -> list[int]:
        """Return integers like ``integers``. Raises FrontendError if they depend on the model's inputs."""
        value = exact_value(self.integers(attribute, *ports, default=default))
        if value is None:
            raise FrontendError(f"{attribute} must be known before the model runs")
        return [int(number) for number in value.reshape(-1)]

    def known_integer(self, attribute: str, *ports: str, default: Any = REQUIRED) -> int:
        """Return one integer like ``known_integers``."""
        (value,) = self.known_integers(attribute, *ports, default=default)
        return value

    def known_scalar(self, port: str) -> float:
        """Return the number in a constant input."""
        value = self.get_values_from_const_input(port)
        return value[0] if isinstance(value, list) else value

    def scalar(self, attribute: str, port: str, element_type: Type, default: Any = REQUIRED) -> Output:
        """Return a number as a scalar of an element type: from the port if it has a value, else the attribute."""
        if self.has_input(port):
            value = self.get_input(port)
            known = exact_value(value)
            if known is not None:
                return Constant(known.reshape(()).astype(element_type.to_dtype())).output(0)
            if value.partial_shape != []:
                value = ops.Reshape(value, int64([]), False).output(0)
            return value if value.element_type is element_type else ops.Convert(value, element_type).output(0)
        number = np.array(self.get_attribute(attribute, default))
        return Constant(number.astype(element_type.to_dtype())).output(0)


def _as_vector(value: Output) -> Output:
    known = exact_value(value)
    if known is not None:
        return int64(known.reshape(-1)).output(0)
    if value.element_type is not Type.i64:
        value = ops.Convert(value, Type.i64).output(0)
    is_vector = value.partial_shape.has_rank and len(value.partial_shape) == 1
    return value if is_vector else ops.Reshape(value, int64([-1]), False).output(0)


def _numbered(values: Mapping[str, Sequence[Any]]) -> tuple[dict[str, list[int]], list[Any]]:
    """Return the values of all ports in order, and the indices of those of each port."""
    indices: dict[str, list[int]] = {}
    flat: list[Any] = []
    for port, items in values.items():
        indices[port] = list(range(len(flat), len(flat) + len(items)))
        flat += items
    return indices, flat


# Values in the order of the outputs that something reads, or by port; None for a variable that stays without a value.
PaddleTranslation = ConversionResult | Mapping[str, Sequence[Output | None]]
# A function of a PaddleNodeContext.
PaddleTranslator = Callable[[Any], PaddleTranslation]

translators = OperatorTable()
# Decorator that registers a translator for operators by their types in ProgramDesc, and rows of operators.
translator, rows = translators.register, translators.register_rows
