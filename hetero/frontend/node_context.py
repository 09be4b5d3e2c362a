"""NodeContext: what a translator sees of the node that it translates."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.errors import FrontendError
from hetero.frontend.subgraph import Subgraph
from hetero.graph import Output
from hetero.types import Type

# The default of an attribute that must be there.
REQUIRED: Any = object()
# What numbers and strings can be asked for as.
DataType = Callable[[Any], Any] | Type


class NodeContext(ABC):
    """One node of a model in its own format, with inputs that are translated already, None where left out.

    A format states how attributes are read, and what it has of names of inputs and outputs, versions and subgraphs.
    """

    def __init__(self, op_type: str, name: str, inputs: Sequence[Output | None], output_size: int) -> None:
        self._op_type, self._name, self._inputs, self._output_size = op_type, name, inputs, output_size

    @property
    def name(self) -> str:
        """The node's name, for messages and for the operation that takes its place."""
        return self._name

    def get_op_type(self) -> str:
        """The type of the operation in the format's own words."""
        return self._op_type

    def get_opset_version(self) -> int:
        """The version of the operation set, or of the operation, that the node is meant by; 0 without versions."""
        return 0

    def get_input_size(self, name: str | None = None) -> int:
        """The number of inputs, or of values of the input of a name; those counted that are left out between others."""
        return len(self._inputs) if name is None else len(self.get_input_places(name))

    def has_input(self, index: int | str) -> bool:
        """Whether an input, by index or name, is given a value."""
        places = self.get_input_places(index) if isinstance(index, str) else [index]
        return any(0 <= place < len(self._inputs) and self._inputs[place] is not None for place in places)

    def get_input(self, index: int | str, index_in_list: int = 0) -> Output:
        """The value that an input reads: by index, by name, or by name and place where the name is of a list.

        Raises FrontendError when the input is left out.
        """
        if isinstance(index, str):
            places = self.get_input_places(index)
            if not 0 <= index_in_list < len(places):
                raise FrontendError(f"input '{index}' is missing, or its value {index_in_list} is")
            index = places[index_in_list]
        if not self.has_input(index):
            raise FrontendError(f"input {index} is missing")
        return self._inputs[index]  # type: ignore[return-value]

    def get_optional_input(self, index: int | str) -> Output | None:
        """The value that an input reads, None where the input is left out."""
        return self.get_input(index) if self.has_input(index) else None

    def get_inputs(self) -> list[Output]:
        """All inputs, for operators that take any number of them."""
        return [self.get_input(index) for index in range(len(self._inputs))]

    def get_input_places(self, name: str) -> Sequence[int]:
        """The indices of the values of a named input, one of a name that is not of a list.

        Raises FrontendError where the node has no names for its inputs (as here) or no such name.
        """
        raise FrontendError(f"inputs of {self._op_type} have no names here: '{name}' must be an index")

    def with_inputs(self, inputs: Sequence[Output | None]) -> NodeContext:
        """The node as if it had other inputs."""
        changed = copy.copy(self)
        changed._inputs = inputs
        return changed

    def get_output_size(self, name: str | None = None) -> int:
        """The number of outputs, or of values of the output of a name."""
        return self._output_size if name is None else len(self.get_output_places(name))

    def get_output_names(self) -> list[str]:
        """The names of outputs in order, one of a list once; empty where the format gives them none."""
        return []

    def get_output_places(self, name: str) -> Sequence[int]:
        """The indices of the values of a named output. Raises FrontendError as ``get_input_places`` does."""
        raise FrontendError(f"outputs of {self._op_type} have no names here: '{name}' must be an index")

    def has_output(self, index: int) -> bool:
        """Whether anybody may read an output."""
        return 0 <= index < self._output_size

    @abstractmethod
    def has_attribute(self, name: str) -> bool:
        """Whether the node states an attribute."""

    @abstractmethod
    def read_attribute(self, name: str) -> Any:
        """The value of an attribute that the node states: a number, a str, a sequence of them, an array, a Type …"""

    def get_attribute(self, name: str, default_value: Any = REQUIRED, dtype: DataType | None = None) -> Any:
        """An attribute as a Python value, of numbers and strings as ``dtype`` where it is given: ``int``, ``Type.f32``.

        Raises FrontendError when it is left out and there is no default, or is not what ``dtype`` can be made of.
        """
        if not self.has_attribute(name):
            if default_value is REQUIRED:
                raise FrontendError(f"attribute {name} is missing")
            return default_value
        return _converted(self.read_attribute(name), dtype, f"attribute {name}")

    def get_values_from_const_input(
        self, index: int | str, default_value: Any = REQUIRED, dtype: DataType | None = None
    ) -> Any:
        """The contents of a constant input: of a scalar a Python value, else a flat list of them.

        ``default_value`` is for an input that is left out. Raises FrontendError where there is none then, where the
        contents are not known before the model runs, or are not what ``dtype`` can be made of.
        """
        from hetero.ops.values import exact_value

        if default_value is not REQUIRED and not self.has_input(index):
            return default_value
        value = exact_value(self.get_input(index))
        if value is None:
            raise FrontendError(f"input {index} must be constant")
        values = value.item() if value.ndim == 0 else value.reshape(-1).tolist()
        return _converted(values, dtype, f"input {index}")

    def get_subgraph_size(self) -> int:
        """How many graphs the node has: branches and bodies of control flow."""
        return 0

    def get_subgraph(self, index: int) -> Subgraph:
        """One of its graphs. Raises FrontendError where there is none of this index."""
        raise FrontendError(f"it has {self.get_subgraph_size()} graphs, none of index {index}")


def _converted(value: Any, dtype: DataType | None, what: str) -> Any:
    """The value as ``dtype``, each element of a sequence or an array."""
    if dtype is None:
        return value
    convert = np.dtype(dtype.to_dtype()).type if isinstance(dtype, Type) else dtype
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
