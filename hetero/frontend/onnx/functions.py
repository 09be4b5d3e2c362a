"""ONNX functions: operators that a model, or ONNX itself, defines by a graph of other operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto

from hetero.frontend.onnx.value_types import type_proto
from hetero.graph import Output
from hetero.system.errors import FrontendError


def domain_of(name: str) -> str:
    """Return the normalized name of a domain. ONNX's own domain has two names, "" and "ai.onnx"."""
    return "" if name == "ai.onnx" else name


def versions_of(imports: Sequence[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the versions of the imported operator sets by domain."""
    return {domain_of(entry.domain): entry.version for entry in imports}


class StandardFunction:
    """An operator that ONNX itself defines as a function, in one version of its operator set."""

    def __init__(self, schema: Any, version: int) -> None:  # onnx's stubs of OpSchema lack functions
        self._schema, self._version = schema, version

    @classmethod
    def find(cls, domain: str, op_type: str, version: int) -> StandardFunction | None:
        """Return the operator's function, or None if ONNX has no such operator or defines no function for it."""
        try:
            schema: Any = onnx.defs.get_schema(op_type, version, domain)
        except (onnx.defs.SchemaError, TypeError):  # TypeError: the name in a damaged file is not a str
            return None
        return cls(schema, version) if schema.has_function or schema.has_context_dependent_function else None

    @property
    def defaults(self) -> dict[str, AttributeProto]:
        """The default values of the operator's attributes."""
        attributes = self._schema.attributes.items()
        return {name: a.default_value for name, a in attributes if a.default_value.type}

    def fixed_body(self) -> FunctionProto | None:
        """Return the function body if it is the same for all nodes, else None."""
        if not self._schema.has_function:
            return None
        version = _newest(self._schema.function_opset_versions, self._version)
        return FunctionProto.FromString(self._schema.get_function_with_opset_version(version))

    def body_for(self, node: NodeProto, inputs: Sequence[Output | None]) -> FunctionProto:
        """Return the function body for a node whose attributes are resolved. Raises FrontendError.

        ``inputs``: the values that the node reads, whose types and shapes the body may depend on.
        """
        fixed = self.fixed_body()
        if fixed is not None:
            return fixed
        version = _newest(self._schema.context_dependent_function_opset_versions, self._version)
        types = [TypeProto() if value is None else type_proto(value) for value in inputs]
        serialized = self._schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), [proto.SerializeToString() for proto in types]
        )
        body = FunctionProto.FromString(serialized)
        if not body.node:
            raise FrontendError("ONNX defines no function for inputs of these types")
        return body


def with_attributes(node: NodeProto, attributes: Mapping[str, AttributeProto]) -> NodeProto:
    """Return a copy of a node with only these attributes, renamed to the keys of the mapping."""
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for name, attribute in attributes.items():
        added = copy.attribute.add()
        added.CopyFrom(attribute)
        added.name = name
    return copy


def _newest(versions: Sequence[int], wanted: int) -> int:
    """Return the newest version that is not newer than ``wanted``, or the oldest if all are newer."""
    return max((version for version in versions if version <= wanted), default=min(versions))
