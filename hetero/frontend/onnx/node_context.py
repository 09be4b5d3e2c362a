"""OnnxNodeContext: an ONNX node as its translator sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import AttributeProto, NodeProto

from hetero.errors import FrontendError
from hetero.frontend.node_context import REQUIRED, NodeContext
from hetero.frontend.onnx.subgraph import Subgraph
from hetero.frontend.onnx.tensors import TensorReader
from hetero.frontend.onnx.value_types import value_type
from hetero.graph import Output


class OnnxNodeContext(NodeContext):
    """A node, its inputs (None where left out), its attributes, and the reader for tensors among them."""

    def __init__(
        self,
        node: NodeProto,
        name: str,
        inputs: Sequence[Output | None],
        attributes: Mapping[str, AttributeProto | Subgraph],
        tensors: TensorReader,
    ) -> None:
        self._node, self._name, self._inputs = node, name, inputs
        self._attributes, self._tensors = attributes, tensors

    def with_inputs(self, inputs: Sequence[Output | None]) -> OnnxNodeContext:
        """The node as if it had other inputs."""
        return OnnxNodeContext(self._node, self._name, inputs, self._attributes, self._tensors)

    @property
    def name(self) -> str:
        return self._name

    def get_op_type(self) -> str:
        return self._node.op_type

    def get_input_size(self) -> int:
        return len(self._inputs)

    def has_input(self, index: int) -> bool:
        return index < len(self._inputs) and self._inputs[index] is not None

    def get_input(self, index: int) -> Output:
        if not self.has_input(index):
            raise FrontendError(f"input {index} is missing")
        return self._inputs[index]  # type: ignore[return-value]

    def get_optional_input(self, index: int) -> Output | None:
        """The value that an input reads, None where the input is left out."""
        return self._inputs[index] if self.has_input(index) else None

    def get_inputs(self) -> list[Output]:
        """All inputs, for operators that take any number of them."""
        return [self.get_input(index) for index in range(len(self._inputs))]

    def get_output_size(self) -> int:
        return len(self._node.output)

    def has_output(self, index: int) -> bool:
        """Whether anybody may read an output."""
        return index < len(self._node.output) and bool(self._node.output[index])

    def has_attribute(self, name: str) -> bool:
        return name in self._attributes

    def get_attribute(self, name: str, default: Any = REQUIRED) -> Any:
        """An attribute: a number, a str, a tuple of them, an array of a tensor, a type with its shape, a Subgraph."""
        attribute = self._attributes.get(name)
        if attribute is None:
            if default is REQUIRED:
                raise FrontendError(f"attribute {name} is missing")
            return default
        if isinstance(attribute, Subgraph):
            return attribute
        if attribute.type in _PLAIN:
            return getattr(attribute, _PLAIN[attribute.type])
        if attribute.type in _LISTS:
            return tuple(getattr(attribute, _LISTS[attribute.type]))
        if attribute.type == AttributeProto.STRING:
            return attribute.s.decode()
        if attribute.type == AttributeProto.STRINGS:
            return tuple(text.decode() for text in attribute.strings)
        if attribute.type == AttributeProto.TENSOR:
            return self._tensors.read(attribute.t)
        if attribute.type == AttributeProto.TYPE_PROTO:
            return value_type(attribute.tp)
        raise FrontendError(f"attribute {name} is of a kind that is not supported")


_PLAIN = {AttributeProto.INT: "i", AttributeProto.FLOAT: "f"}
_LISTS = {AttributeProto.INTS: "ints", AttributeProto.FLOATS: "floats"}
