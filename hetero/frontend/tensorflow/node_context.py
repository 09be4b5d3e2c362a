"""TensorflowNodeContext: the view of a TensorFlow operator that its translator gets; handles; the table of translators.

A Handle is a value that is not a tensor: a resource, which operators pass on and use by reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hetero.core.types import Type
from hetero.frontend.source import Companion
from hetero.frontend.tensorflow.decoded import TensorflowGraph, TensorflowNode
from hetero.frontend.tensorflow.decoding.attributes import Attributes
from hetero.frontend.tensorflow.decoding.element_types import complex_dtype
from hetero.frontend.tensorflow.decoding.output_names import output_ranges
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.subgraph import ModelScope, Subgraph
from hetero.frontend.translation.translators import OperatorTable
from hetero.graph import Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

if TYPE_CHECKING:
    from hetero.frontend.tensorflow.graph import TensorflowBuilder
    from hetero.frontend.tensorflow.translators.containers.tables import Tables
    from hetero.frontend.translation.variables import Variables


class Handle:
    """A resource. Two handles are equal if they stand for the same resource."""

    def captured(self, scope: ModelScope) -> Self:
        """Return the handle as a body sees it."""
        return self


@dataclass(frozen=True)
class VariableHandle(Handle):
    """A variable, by its name. ``is_reference``: in TensorFlow 1, operators read it as if it were its contents."""

    name: str
    is_reference: bool = False


Value = Output | Handle
# The result of a translator that may return Handles: a Translation, a Handle or a list of values.
Values = Any


class TensorflowNodeContext(NodeContext):
    """An operator. Its inputs have indices, its attributes and outputs the names in TensorFlow's documentation.

    Attributes are numbers, bools, strs, Types, PartialShapes, arrays, FunctionNames or lists of them. An input that is
    a resource, such as a variable or a table, is a Handle and not an Output. A complex tensor is a real one with an
    additional last axis of length 2: real part, imaginary part; its shape and axes in the file do not count that axis.
    """

    def __init__(self, node: TensorflowNode, name: str, builder: TensorflowBuilder) -> None:
        self._node, self._handles, self._builder = node, builder.inputs_of(node), builder
        self._values = [self._contents(value) for value in self._handles]
        self._ranges = output_ranges(node)
        self.has_all_outputs = bool(self._ranges)
        count = max((indices.stop for indices in self._ranges.values()), default=builder.output_count(node.name))
        tensors = [value if isinstance(value, Output) else None for value in self._values]
        super().__init__(node.op_type, name, tensors, count)

    def _contents(self, value: Value) -> Value:
        """Return the contents of a variable that operators read directly, other values unchanged."""
        if isinstance(value, VariableHandle) and value.is_reference:
            return self.variables.read(value.name)
        return value

    @property
    def variables(self) -> Variables:
        """The model's variables."""
        return self._builder.variables

    def has_attribute(self, name: str) -> bool:
        return name in self._node.attributes

    def read_attribute(self, name: str) -> Any:
        return self._node.attributes[name]

    def is_complex(self, name: str = "T") -> bool:
        """Return whether an attribute is one of the complex types, which read as Type.dynamic."""
        attributes = self._node.attributes
        return isinstance(attributes, Attributes) and complex_dtype(attributes.data_type(name)) is not None

    def refuse_complex(self) -> None:
        """Raise FrontendError if the tensors of the node are complex."""
        if any(self.is_complex(name) for name in ("T", "Tparams")):
            raise FrontendError("complex numbers are not supported")

    def part_type(self, name: str) -> Type:
        """Return the type of the parts of an attribute that is a complex type."""
        attributes = self._node.attributes
        is_double = isinstance(attributes, Attributes) and complex_dtype(attributes.data_type(name)) == np.complex128
        return Type.f64 if is_double else Type.f32

    def get_output_names(self) -> list[str]:
        return list(self._ranges)

    def get_output_indices(self, name: str) -> Sequence[int]:
        if not self._ranges:
            return super().get_output_indices(name)
        if name not in self._ranges:
            raise FrontendError(f"{self._op_type} has no output '{name}'; it has {', '.join(self._ranges)}")
        return self._ranges[name]

    def get_values(self) -> list[Value]:
        """Return all inputs, Outputs and Handles."""
        return list(self._values)

    def get_handle(self, index: int) -> Handle:
        """Return an input that is a resource. Raises FrontendError if it is a tensor."""
        value = self._handles[index] if 0 <= index < len(self._handles) else None
        if not isinstance(value, Handle):
            raise FrontendError(f"input {index} must be a resource")
        return value

    @property
    def resource_name(self) -> str:
        """The name of the resource that the node stands for."""
        return self._node.resource_name

    def variable_name(self, index: int) -> str:
        """Return the name of the variable that an input is. Raises FrontendError for other inputs."""
        handle = self.get_handle(index)
        if not isinstance(handle, VariableHandle):
            raise FrontendError(f"input {index} must be a variable")
        return handle.name

    @property
    def tables(self) -> Tables:
        """The contents of the model's hash tables."""
        return self._builder.context.tables

    def asset(self, index: int) -> Companion:
        """Return the file that an input names. Raises FrontendError if it is no file of the model."""
        name = exact_value(self.get_input(index))
        file = None if name is None else self._builder.context.asset(str(np.ravel(name)[0]))
        if file is None:
            raise FrontendError(f"input {index} must be the name of a file of the model")
        return file

    def is_needed(self, index: int) -> bool:
        """Return whether another node or the model's result reads an output."""
        return self._builder.is_read(self._node.name, index)

    @property
    def graph(self) -> TensorflowGraph:
        """The graph that the operator is in, where its own name is ``node_name``."""
        return self._builder.graph

    @property
    def functions(self) -> Mapping[str, TensorflowGraph]:
        """The graphs of the model's functions by name."""
        return self._builder.context.decoded.functions

    @property
    def node_name(self) -> str:
        return self._node.name

    def get_subgraph_size(self) -> int:
        return len(self._node.functions())

    def get_subgraph(self, index: int) -> Subgraph:
        """Return a function that the operator calls: "then", "else" of If; condition, body of While.

        Raises FrontendError if the operator has fewer functions.
        """
        functions = self._node.functions()
        if not 0 <= index < len(functions):
            raise FrontendError(f"it has {len(functions)} functions, none of index {index}")
        return self.function(functions[index])

    def subgraph_of(self, graph: TensorflowGraph) -> Subgraph:
        """Return a graph as a function that the operator calls."""
        return self._builder.subgraph(graph)

    def function(self, name: str) -> Subgraph:
        """Return a function of the model by its name. Raises FrontendError if there is none."""
        return self._builder.function(name)


translators = OperatorTable()
# Decorator that registers a translator for operators by name: ``@translator("Relu")``.
translator, rows = translators.register, translators.register_rows
