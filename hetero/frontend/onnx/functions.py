"""Operators that ONNX itself defines as functions: by graphs of other operators."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto

from hetero.frontend.onnx.decoded import OnnxGraph, decode_function
from hetero.frontend.onnx.value_types import type_proto
from hetero.graph import Output
from hetero.system.errors import FrontendError


class StandardFunction:
    """An operator that ONNX itself defines as a function, in one version of its operator set."""

    def __init__(self, schema: Any, version: int) -> None:  # onnx's stubs of OpSchema lack functions
        self._schema, self._version = schema, version

    @classmethod
    @functools.cache
    def find(cls, domain: str, op_type: str, version: int) -> StandardFunction | None:
        """Return the operator's function, or None if ONNX has no such operator or defines no function for it."""
        try:
            schema: Any = onnx.defs.get_schema(op_type, version, domain)
        except (onnx.defs.SchemaError, TypeError):  # TypeError: the name in a damaged file is not a str
            return None
        return cls(schema, version) if schema.has_function or schema.has_context_dependent_function else None

    @functools.cached_property
    def fixed_body(self) -> OnnxGraph | None:
        """The function body if it is the same for all nodes, else None."""
        if not self._schema.has_function:
            return None
        version = _newest(self._schema.function_opset_versions, self._version)
        return self._decode(self._schema.get_function_with_opset_version(version), {})

    def body_for(self, node: NodeProto, inputs: Sequence[Output | None], versions: Mapping[str, int]) -> OnnxGraph:
        """Return the function body for a node whose attributes are resolved. Raises FrontendError.

        ``inputs``: the values that the node reads, whose types and shapes the body may depend on. ``versions``: of the
        operator sets of the model.
        """
        version = _newest(self._schema.context_dependent_function_opset_versions, self._version)
        types = [TypeProto() if value is None else type_proto(value) for value in inputs]
        body = self._decode(
            self._schema.get_context_dependent_function_with_opset_version(
                version, node.SerializeToString(), [proto.SerializeToString() for proto in types]
            ),
            versions,
        )
        if not body.nodes:
            raise FrontendError("ONNX defines no function for inputs of these types")
        return body

    def _decode(self, serialized: bytes, versions: Mapping[str, int]) -> OnnxGraph:
        values = (attribute.default_value for attribute in self._schema.attributes.values())
        return decode_function(
            FunctionProto.FromString(serialized), versions, [value for value in values if value.type]
        )


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


def _newest(versions: Sequence[int], limit: int) -> int:
    """Return the newest version that is not newer than ``limit``, or the oldest if all are newer."""
    return max((version for version in versions if version <= limit), default=min(versions))
