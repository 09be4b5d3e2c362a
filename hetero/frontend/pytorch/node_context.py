"""TorchNodeContext: the view of a PyTorch operator that its translator gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.pytorch.decoded import Argument, TorchNode
from hetero.frontend.pytorch.registry import canonical_name
from hetero.frontend.translation.decoded import DecodedTensor
from hetero.frontend.translation.node_context import NodeContext
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError


class TorchNodeContext(NodeContext):
    """An operator. Inputs are its tensors and numbers, attributes its arguments, by the names in its schema.

    An argument that is not given has its default value in the schema, which the translator knows. ``arguments``: those
    that are given, with values of the graph as Outputs.
    """

    def __init__(
        self,
        node: TorchNode,
        name: str,
        arguments: Mapping[str, Argument],
        tensors: Mapping[str, DecodedTensor],
    ) -> None:
        self._indices: dict[str, list[int]] = {}
        inputs: list[Argument] = []
        for key, value in arguments.items():
            values = value if _has_outputs(value) else [value]
            self._indices[key] = list(range(len(inputs), len(inputs) + len(values)))
            inputs += values
        # What an operator does in place is what it does otherwise.
        op_type = node.op_type[:-1] if node.is_in_place else node.op_type
        super().__init__(canonical_name(op_type), name, [_as_input(value) for value in inputs], len(node.outputs))
        self._node, self.arguments, self._tensors = node, arguments, tensors

    @property
    def overload(self) -> str:
        """The overload of the operator: ``Tensor`` of ``aten::add.Tensor``."""
        return self._node.overload

    def get_input_indices(self, name: str) -> Sequence[int]:
        return self._indices.get(name, [])

    def has_attribute(self, name: str) -> bool:
        return self.arguments.get(name) is not None

    def read_attribute(self, name: str) -> Any:
        value = self.arguments[name]
        if isinstance(value, Output) or _has_outputs(value):
            raise FrontendError(f"argument {name} is computed at run time")
        return value

    def is_computed(self, name: str) -> bool:
        """Return whether an argument, or a number in it, is a value of the graph."""
        value = self.arguments.get(name)
        return isinstance(value, Output) or _has_outputs(value)

    def output_tensor(self, index: int = 0) -> DecodedTensor:
        """Return what the program says of an output. Raises FrontendError if that is not a tensor."""
        name = self._node.outputs[index]
        if name is None or name not in self._tensors:
            raise FrontendError(f"output {index} is no tensor")
        return self._tensors[name]

    def output_type(self, index: int = 0) -> Type:
        return self.output_tensor(index).element_type

    def operands(self, *names: str) -> list[Output]:
        """Return inputs, tensors or numbers, in the element type of the first output, as torch promotes them."""
        return [self.converted(name, self.output_type()) for name in names]

    def converted(self, name: str, element_type: Type) -> Output:
        """Return an input in an element type."""
        value = self.arguments[name]
        if not isinstance(value, Output):
            return Constant(np.array(value).astype(element_type.to_dtype())).output(0)
        return value if value.element_type is element_type else ops.Convert(value, element_type).output(0)

    def integers(self, name: str, default: int | None = None) -> Output:
        """Return an integer or a list of them, of which some may be computed at run time, as an i64 vector."""
        value = default if self.arguments.get(name) is None and default is not None else self.arguments[name]
        return integer_vector(value if isinstance(value, list) else [value])

    def tensors(self, name: str) -> list[Output]:
        """Return a list of tensors."""
        return [self.get_input(name, index) for index in range(self.get_input_size(name))]


def integer_vector(numbers: Sequence[int | Output]) -> Output:
    """Return integers, of which some may be computed at run time, as an i64 vector."""
    if not any(isinstance(number, Output) for number in numbers):
        return Constant(np.array(numbers, np.int64)).output(0)
    parts = [
        ops.Reshape(number, np.array([1]), False) if isinstance(number, Output) else Constant(np.array([number]))
        for number in numbers
    ]
    return ops.Concat(parts, 0).output(0)


def _has_outputs(value: Argument) -> bool:
    return isinstance(value, list) and any(isinstance(part, Output) for part in value)


def _as_input(value: Argument) -> Output | None:
    """Return an argument as an input: a number or a list of numbers as a constant, None for others."""
    if isinstance(value, Output):
        return value
    if isinstance(value, (bool, int, float)):
        return Constant(np.array(value, np.float32) if isinstance(value, float) else np.array(value)).output(0)
    if isinstance(value, list) and value and all(isinstance(part, (int, float)) for part in value):
        dtype = np.float32 if any(isinstance(part, float) for part in value) else None
        return Constant(np.array(value, dtype)).output(0)
    return None
