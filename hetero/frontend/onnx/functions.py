"""Functions: operators whose meaning a model, or ONNX itself, gives as nodes of other operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, TypeProto

from hetero.errors import FrontendError
from hetero.frontend.onnx.value_types import type_proto
from hetero.graph import Output

# Domain, name and overload of a function of the model.
FunctionKey = tuple[str, str, str]


def domain_of(name: str) -> str:
    """A domain as operator sets name it: ONNX's own has two names."""
    return "" if name == "ai.onnx" else name


def versions_of(imports: Sequence[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Versions of operator sets by domain."""
    return {domain_of(entry.domain): entry.version for entry in imports}


def functions_of(model: ModelProto) -> dict[FunctionKey, FunctionProto]:
    """The functions that the model itself defines."""
    return {(domain_of(f.domain), f.name, f.overload): f for f in model.functions}


class StandardFunction:
    """An operator of a standard domain that ONNX gives as a function, in one version of its operator set."""

    def __init__(self, schema: onnx.defs.OpSchema, version: int) -> None:
        self._schema, self._version = schema, version

    @classmethod
    def find(cls, domain: str, op_type: str, version: int) -> StandardFunction | None:
        """The operator's function; None where there is no such operator, or ONNX gives none for it."""
        try:
            schema = onnx.defs.get_schema(op_type, version, domain)
        except (onnx.defs.SchemaError, TypeError):  # a damaged name is one of bytes
            return None
        return cls(schema, version) if schema.has_function or schema.has_context_dependent_function else None

    @property
    def defaults(self) -> dict[str, AttributeProto]:
        """The attributes that hold where a node does not state them."""
        attributes = self._schema.attributes.items()
        return {name: a.default_value for name, a in attributes if a.default_value.type}

    def fixed_body(self) -> FunctionProto | None:
        """The function where it is the same for all nodes."""
        if not self._schema.has_function:
            return None
        version = _newest(self._schema.function_opset_versions, self._version)
        return FunctionProto.FromString(self._schema.get_function_with_opset_version(version))

    def body_for(self, node: NodeProto, inputs: Sequence[Output | None]) -> FunctionProto:
        """The function for a node, of which all attributes are resolved, with these inputs. Raises FrontendError."""
        fixed = self.fixed_body()
        if fixed is not None:
            return fixed
        version = _newest(self._schema.context_dependent_function_opset_versions, self._version)
        types = [TypeProto() if value is None else type_proto(value) for value in inputs]
        body = self._schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), [proto.SerializeToString() for proto in types]
        )
        found = FunctionProto.FromString(body)
        if not found.node:
            raise FrontendError("ONNX gives no function for inputs of these types")
        return found


def with_attributes(node: NodeProto, attributes: Mapping[str, AttributeProto]) -> NodeProto:
    """A copy of a node with these attributes only, under these names."""
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for name, attribute in attributes.items():
        added = copy.attribute.add()
        added.CopyFrom(attribute)
        added.name = name
    return copy


def _newest(versions: Sequence[int], wanted: int) -> int:
    """The newest version that is not newer than the one wanted, or else the oldest."""
    return max((version for version in versions if version <= wanted), default=min(versions))
