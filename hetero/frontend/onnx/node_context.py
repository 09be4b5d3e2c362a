"""OnnxNodeContext, an ONNX node as its translator sees it, and the table of translators.

Domains are named as in ONNX files, for example "com.microsoft"; ONNX's own domain is "".
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import DTypeLike
from onnx import AttributeProto

from hetero.core.types import Type
from hetero.frontend.onnx.decoded import OnnxNode
from hetero.frontend.onnx.tensors import TensorReader, element_type
from hetero.frontend.onnx.value_types import value_type
from hetero.frontend.translation.node_context import REQUIRED, NodeContext
from hetero.frontend.translation.subgraph import Subgraph
from hetero.frontend.translation.translators import OperatorTable
from hetero.frontend.translation.values import int64
from hetero.graph import Output
from hetero.system.allocation import check_strings
from hetero.system.errors import FrontendError


class OnnxNodeContext(NodeContext):
    """A NodeContext of an ONNX node, with the reader of its tensor attributes and the version of its operator set.

    An attribute is a number, a str, a tuple of these, an array (of a tensor), a type with its shape, or a Subgraph.
    Inputs and outputs have the names of the ONNX specification if the onnx package knows the operator.
    """

    def __init__(
        self,
        node: OnnxNode,
        name: str,
        inputs: Sequence[Output | None],
        attributes: Mapping[str, AttributeProto | Subgraph],
        tensors: TensorReader,
    ) -> None:
        subgraphs = [value for value in attributes.values() if isinstance(value, Subgraph)]
        super().__init__(node.op_type, name, inputs, len(node.outputs), subgraphs)
        self._node, self._attributes, self._tensors = node, attributes, tensors

    def get_opset_version(self) -> int:
        return self._node.version

    def get_domain(self) -> str:
        """Return the domain of the operator, for example "com.microsoft"; ONNX's own domain is ""."""
        return self._node.domain

    def get_input_indices(self, name: str) -> Sequence[int]:
        formal = self._formal_names("inputs")
        return _indices(formal, name, len(self._inputs)) if formal else super().get_input_indices(name)

    def get_output_names(self) -> list[str]:
        return [name for name, _ in self._formal_names("outputs")][: self.get_output_size()]

    def get_output_indices(self, name: str) -> Sequence[int]:
        formal = self._formal_names("outputs")
        return _indices(formal, name, self.get_output_size()) if formal else super().get_output_indices(name)

    def has_output(self, index: int) -> bool:
        return super().has_output(index) and self._node.outputs[index] is not None

    def has_attribute(self, name: str) -> bool:
        return name in self._attributes

    def get_array(self, name: str, dtype: DTypeLike, default: Any = REQUIRED) -> np.ndarray:
        """Return an attribute with a list of numbers as an array, decoded at once: trees have millions of numbers."""
        attribute = self._attributes.get(name)
        if isinstance(attribute, AttributeProto) and attribute.type in _LIST_FIELDS:
            return np.array(getattr(attribute, _LIST_FIELDS[attribute.type]), dtype)
        return np.array(self.get_attribute(name, default), dtype)

    def get_type_attribute(self, name: str, default: Type) -> Type:
        """Return the element type that an attribute states as TensorProto.DataType; the default if missing or 0."""
        number = self.get_attribute(name, 0)
        return element_type(number) if number else default

    def get_input_or_attribute(self, index: int, name: str) -> Output:
        """Return an input that is an attribute with integers in earlier operator sets. Raises FrontendError."""
        return int64(self.get_attribute(name)).output(0) if self.has_attribute(name) else self.get_input(index)

    def get_optional_input_or_attribute(self, index: int, name: str) -> Output | None:
        """Return ``get_input_or_attribute``, or None if the node has neither."""
        is_present = self.has_input(index) or self.has_attribute(name)
        return self.get_input_or_attribute(index, name) if is_present else None

    def check_only_supported(self, **values: Any) -> None:
        """Raise FrontendError if an attribute has another value than the one that is supported."""
        for name, value in values.items():
            if self.get_attribute(name, value) != value:
                raise FrontendError(f"attribute {name} is supported only with the value {value}")

    def read_attribute(self, name: str) -> Any:
        attribute = self._attributes[name]
        if isinstance(attribute, Subgraph):
            return attribute
        if attribute.type in _NUMBER_FIELDS:
            return getattr(attribute, _NUMBER_FIELDS[attribute.type])
        if attribute.type in _LIST_FIELDS:
            return tuple(getattr(attribute, _LIST_FIELDS[attribute.type]))
        if attribute.type == AttributeProto.STRING:
            return attribute.s.decode()
        if attribute.type == AttributeProto.STRINGS:
            texts = tuple(map(bytes.decode, attribute.strings))
            check_strings(texts)  # translators make arrays of them
            return texts
        if attribute.type == AttributeProto.TENSOR:
            return self._tensors.read(attribute.t)
        if attribute.type == AttributeProto.TYPE_PROTO:
            return value_type(attribute.tp)
        raise FrontendError(f"attribute {name} has an unsupported type")

    def _formal_names(self, ports: str) -> tuple[tuple[str, bool], ...]:
        return _formal_names(self._node.op_type, self._node.version, self._node.domain, ports)


@functools.cache
def _formal_names(op_type: str, version: int, domain: str, ports: str) -> tuple[tuple[str, bool], ...]:
    """Return (name, is variadic) of each of an operator's "inputs" or "outputs"; () if the operator is unknown."""
    try:
        schema = onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return ()
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    return tuple((port.name, port.option == variadic) for port in getattr(schema, ports))


def _indices(formal: Sequence[tuple[str, bool]], name: str, count: int) -> Sequence[int]:
    """Return the indices of a named port among ``count`` values. Raises FrontendError if there is no such name."""
    for index, (known, is_variadic) in enumerate(formal):
        if known == name:
            return range(index, count if is_variadic else min(index + 1, count))
    raise FrontendError(f"there is no '{name}': the names are {', '.join(known for known, _ in formal)}")


# The fields of AttributeProto that hold numbers and lists of numbers.
_NUMBER_FIELDS = {AttributeProto.INT: "i", AttributeProto.FLOAT: "f"}
_LIST_FIELDS = {AttributeProto.INTS: "ints", AttributeProto.FLOATS: "floats"}


translators = OperatorTable()
translator, rows = translators.register, translators.register_rows
