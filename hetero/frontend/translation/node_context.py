"""NodeContext, a node of a model file as its translator sees it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from hetero.core.types import Type
from hetero.frontend.translation.subgraph import Subgraph
from hetero.graph import Output
from hetero.system.errors import FrontendError

# The default value of a required attribute.
REQUIRED: Any = object()
# The types that numbers and strings can be converted to.
DataType = Callable[[Any], Any] | Type


class NodeContext(ABC):
    """One node of a model file. Its inputs are translated already; an omitted input is None.

    Each format has a subclass that reads attributes and, if the format has them, named ports, versions and subgraphs.
    """

    #: False if the file does not say how many outputs the node has, but only which ones are read.
    has_all_outputs = True

    def __init__(
        self,
        op_type: str,
        name: str,
        inputs: Sequence[Output | None],
        output_size: int,
        subgraphs: Sequence[Subgraph] = (),
    ) -> None:
        self._op_type, self._name, self._inputs, self._output_size = op_type, name, inputs, output_size
        self._graphs = subgraphs

    @property
    def name(self) -> str:
        """The node's name, for messages and for the operation that replaces it."""
        return self._name

    def get_op_type(self) -> str:
        """Return the operator type as the format spells it."""
        return self._op_type

    def get_opset_version(self) -> int:
        """Return the version of the node's operator set or operator; 0 in formats without versions."""
        return 0

    def get_input_size(self, name: str | None = None) -> int:
        """Return the number of inputs, or of values of a named input. Omitted inputs between others count."""
        return len(self._inputs) if name is None else len(self.get_input_indices(name))

    def has_input(self, index: int | str) -> bool:
        """Return whether an input, by index or name, has a value."""
        indices = self.get_input_indices(index) if isinstance(index, str) else [index]
        return any(0 <= i < len(self._inputs) and self._inputs[i] is not None for i in indices)

    def get_input(self, index: int | str, index_in_list: int = 0) -> Output:
        """Return the value of an input by index, by name, or by name and index within a variadic input.

        Raises FrontendError if the input is omitted.
        """
        if isinstance(index, str):
            indices = self.get_input_indices(index)
            if not 0 <= index_in_list < len(indices):
                raise FrontendError(f"value {index_in_list} of input '{index}' is missing")
            index = indices[index_in_list]
        if not self.has_input(index):
            raise FrontendError(f"input {index} is missing")
        return self._inputs[index]  # type: ignore[return-value]  # has_input: it is not None

    def get_optional_input(self, index: int | str) -> Output | None:
        """Return the value of an input, or None if the input is omitted."""
        return self.get_input(index) if self.has_input(index) else None

    def get_inputs(self, name: str | None = None) -> list[Output]:
        """Return the values of all inputs, or of a named input. Raises FrontendError if one is omitted."""
        indices = range(len(self._inputs)) if name is None else self.get_input_indices(name)
        return [self.get_input(index) for index in indices]

    def get_input_indices(self, name: str) -> Sequence[int]:
        """Return the indices of the values of a named input: several for a variadic input, else at most one.

        Raises FrontendError if the inputs of the node have no names (the default) or not this one.
        """
        raise FrontendError(f"the inputs of {self._op_type} have no names: use an index instead of '{name}'")

    def with_inputs(self, inputs: Sequence[Output | None]) -> Self:
        """Return a copy of the node with other inputs."""
        changed = copy.copy(self)
        changed._inputs = inputs
        return changed

    def get_output_size(self, name: str | None = None) -> int:
        """Return the number of outputs, or of values of a named output."""
        return self._output_size if name is None else len(self.get_output_indices(name))

    def get_output_names(self) -> list[str]:
        """Return the names of the outputs in order, a variadic output once; empty if the outputs have no names."""
        return []

    def get_output_indices(self, name: str) -> Sequence[int]:
        """Return the indices of the values of a named output. Raises FrontendError like ``get_input_indices``."""
        raise FrontendError(f"the outputs of {self._op_type} have no names: use an index instead of '{name}'")

    def has_output(self, index: int) -> bool:
        """Return whether an output exists and may be read."""
        return 0 <= index < self._output_size

    @abstractmethod
    def has_attribute(self, name: str) -> bool:
        """Return whether the node has a value for an attribute."""

    @abstractmethod
    def read_attribute(self, name: str) -> Any:
        """Return the value of a present attribute: a number, a str, a sequence of them, an array, a Type …"""

    def get_attribute(self, name: str, default_value: Any = REQUIRED, dtype: DataType | None = None) -> Any:
        """Return an attribute as a Python value, converted to ``dtype`` if given, for example ``int`` or ``Type.f32``.

        Raises FrontendError if the attribute is missing and has no default, or cannot be converted to ``dtype``.
        """
        if not self.has_attribute(name):
            if default_value is REQUIRED:
                raise FrontendError(f"attribute {name} is missing")
            return default_value
        return _converted(self.read_attribute(name), dtype, f"attribute {name}")

    def get_values_from_const_input(
        self, idx: int | str, default_value: Any = REQUIRED, dtype: DataType | None = None
    ) -> Any:
        """Return the contents of a constant input: a Python value for a scalar, else a flat list of values.

        ``default_value`` replaces an omitted input. Raises FrontendError if the input is omitted and has no default, is
        not constant, or cannot be converted to ``dtype``.
        """
        from hetero.ops.checks import exact_value

        if default_value is not REQUIRED and not self.has_input(idx):
            return default_value
        value = exact_value(self.get_input(idx))
        if value is None:
            raise FrontendError(f"input {idx} must be constant")
        values = value.item() if value.ndim == 0 else value.reshape(-1).tolist()
        return _converted(values, dtype, f"input {idx}")

    def get_subgraph_size(self) -> int:
        """Return the number of subgraphs: branches, loop bodies, called functions."""
        return len(self._graphs)

    def get_subgraph(self, index: int) -> Subgraph:
        """Return a subgraph by index. Raises FrontendError if the index is out of range."""
        if not 0 <= index < len(self._graphs):
            raise FrontendError(f"it has {len(self._graphs)} graphs, none of index {index}")
        return self._graphs[index]


def _converted(value: Any, dtype: DataType | None, what: str) -> Any:
    """Return a value, or each element of a sequence or array, converted to ``dtype``; ``what`` is for messages."""
    if dtype is None:
        return value
    convert: Any = dtype.to_dtype().type if isinstance(dtype, Type) else dtype
    try:
        if isinstance(value, np.ndarray):
            return value.astype(convert)
        if isinstance(value, (list, tuple)):
            return type(value)(_as_python(convert(element)) for element in value)
        return _as_python(convert(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise FrontendError(f"{what} is {value!r}, which cannot be {getattr(dtype, '__name__', dtype)}") from error


def _as_python(number: Any) -> Any:
    return number.item() if isinstance(number, np.generic) else number
