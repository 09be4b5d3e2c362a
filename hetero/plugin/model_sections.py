"""A transformed model as the sections of a blob, for devices that go on from there: an IR, and the model's ports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hetero.containers import ContainerType
from hetero.errors import BlobError, FrontendError
from hetero.graph import Attribute, Model, Node, Op, Output, Parameter, Result
from hetero.graph.order import with_bodies
from hetero.plugin.blob import Section
from hetero.shape import PartialShape
from hetero.types import Type

if TYPE_CHECKING:
    from hetero.plugin.compiled_model import CompiledModel


def model_sections(compiled: CompiledModel, transformed: Model) -> dict[str, Section]:
    """The sections ``ports``, ``xml`` and ``weights``; ``models_in`` is the way back.

    Contents of constants are not copied. Raises BlobError for what an IR cannot hold, such as sequences.
    """
    return {"ports": ports_section(compiled), **ir_sections(compiled.name, transformed)}


def models_in(sections: Mapping[str, memoryview]) -> tuple[Model, Model]:
    """A model with the ports of the one that was compiled, and nothing between them, and the transformed model.

    Raises BlobError and FrontendError for sections that do not hold these.
    """
    original, transformed = ports_in(sections), ir_in(sections)
    for kind, mine, others in (
        ("inputs", original.inputs, transformed.inputs),
        ("outputs", original.outputs, transformed.outputs),
    ):
        if len(mine) != len(others) or not all(map(_fits, mine, others)):
            raise BlobError(f"the {kind} of the exported model are not those of its graph")
    return original, transformed


def ports_section(compiled: CompiledModel) -> bytes:
    """The name and the ports of a compiled model; ``ports_in`` is the way back."""
    ports = {"name": compiled.name, "inputs": compiled.inputs, "outputs": compiled.outputs}
    return json.dumps(ports, default=port_fields).encode()


def ports_in(sections: Mapping[str, memoryview]) -> Model:
    """A model with the ports in the section ``ports``, and nothing between them. Raises BlobError."""
    try:
        fields = json.loads(section_of(sections, "ports").tobytes())
        parameters = [parameter_of(port) for port in fields["inputs"]]
        results = [_named(port, Result(_Stated(*_type_and_shape(port)))) for port in fields["outputs"]]
        return Model(results, parameters, str(fields["name"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BlobError(f"the ports of the exported model cannot be understood: {error!r}") from error


def ir_sections(name: str, model: Model) -> dict[str, Section]:
    """The sections ``xml`` and ``weights`` of a model; ``ir_in`` is the way back. Raises BlobError with the name."""
    # Readers and writers of formats are only imported by those who export.
    from hetero.frontend.ir.weights import WeightsWriter
    from hetero.frontend.ir.writer import encoded, model_element

    weights = _Pieces()
    try:
        _check_operations(model)
        xml = encoded(model_element(model, WeightsWriter(weights)))
    except FrontendError as error:
        raise BlobError(f"model '{name}' cannot be exported: {error}") from error
    return {"xml": xml, "weights": weights}


def ir_in(sections: Mapping[str, memoryview]) -> Model:
    """The model in the sections ``xml`` and ``weights``. Raises BlobError and FrontendError."""
    from hetero.frontend.ir import IrFrontEnd

    return IrFrontEnd().convert(section_of(sections, "xml"), section_of(sections, "weights"))


def section_of(sections: Mapping[str, memoryview], name: str) -> memoryview:
    """A section by its name. Raises BlobError where there is none such."""
    if name not in sections:
        raise BlobError(f"the exported model has no section {name}")
    return sections[name]


def port_fields(port: Output) -> dict[str, Any]:
    """What is known of a port, as plain data; ``parameter_of`` makes a Parameter with such a port from it."""
    return {
        "name": port.node.friendly_name, "names": sorted(port.names), "type": str(port.element_type),
        "shape": str(port.partial_shape),
    }  # fmt: skip


def parameter_of(fields: Mapping[str, Any]) -> Parameter:
    """A Parameter with the port of these fields. Raises ValueError, TypeError and KeyError for wrong ones."""
    return _named(fields, Parameter(*_type_and_shape(fields)))


class _Pieces(list):
    """A file in which what is written stays in pieces."""

    write = list.append


class _Stated(Op):
    """A value of which type and shape are known, and not who makes it."""

    element_type = Attribute(Type)
    partial_shape = Attribute(PartialShape)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.element_type, self.partial_shape)


def _check_operations(model: Model) -> None:
    """Raises FrontendError for an operation that would not be found again by its name, or not as it is."""
    from hetero.frontend.ir.reader import Operations
    from hetero.frontend.ir.spelling import attribute_text, attribute_value

    known = Operations()
    for node in with_bodies(model.get_ordered_ops()):
        if known[node.type_info.version_id].get(node.type_info.name) is not type(node):
            raise FrontendError(f"{node.type_info.name} '{node.friendly_name}' is of no operation set")
        for attribute in node.attributes_declared:
            value = getattr(node, attribute.name)
            if value is None or isinstance(value, ContainerType):
                continue
            if repr(attribute_value(attribute, attribute_text(value))) != repr(value):
                raise FrontendError(f"'{node.friendly_name}' has {value!r} for {attribute.name}, which IR files alter")


def _fits(port: Output, other: Output) -> bool:
    """Whether a port may be what the transformations made of another; they may come to know more of it."""
    kinds = {port.element_type, other.element_type} - {Type.dynamic}
    return len(kinds) < 2 and port.partial_shape.compatible(other.partial_shape)


def _type_and_shape(port: Mapping[str, Any]) -> tuple[Type, PartialShape]:
    return Type(str(port["type"])), PartialShape(str(port["shape"]))


def _named(port: Mapping[str, Any], node: Node) -> Node:
    node.friendly_name = str(port["name"])
    node.output(0).names = set(map(str, port["names"]))
    return node
