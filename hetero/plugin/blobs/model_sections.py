"""A transformed model as the sections of a blob: an OpenVINO IR, and the ports of the original model."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from hetero.core.layout import Layout
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Op, Output, Parameter, Result, defined_operations, get_layout
from hetero.graph.order import walk_nested
from hetero.plugin.blobs.blob import Section
from hetero.plugin.loading.registry import installed_plugins
from hetero.plugin.prepared_model import Ports
from hetero.system.errors import BlobError, FrontendError, GraphError

if TYPE_CHECKING:
    from hetero.plugin.compiled_model import CompiledModel


def model_sections(compiled: CompiledModel, transformed: Model) -> dict[str, Section]:
    """Return the sections ``ports``, ``xml`` and ``weights``, which ``models_in`` reads.

    The contents of constants are not copied. Raises BlobError if an IR cannot hold the model, such as for sequences.
    """
    return {"ports": ports_section(compiled), **ir_sections(compiled.name, transformed)}


def models_in(sections: Mapping[str, memoryview]) -> tuple[Ports, Model]:
    """Return the ports of the user's model, and the transformed model.

    Raises BlobError and FrontendError for missing or damaged sections.
    """
    ports, transformed = ports_in(sections), ir_in(sections)
    for kind, mine, others in (
        ("inputs", ports.inputs, transformed.inputs),
        ("outputs", ports.outputs, transformed.outputs),
    ):
        if len(mine) != len(others) or not all(map(port_fits, mine, others)):
            raise BlobError(f"the {kind} of the exported model are not those of its graph")
    return ports, transformed


def ports_section(compiled: CompiledModel) -> bytes:
    """Return the section with the name and the ports of a compiled model, which ``ports_in`` reads."""
    ports = {"name": compiled.name, "inputs": compiled.inputs, "outputs": compiled.outputs}
    return json.dumps(ports, default=port_fields).encode()


def ports_in(sections: Mapping[str, memoryview]) -> Ports:
    """Return the name and the ports in the section ``ports``. Raises BlobError."""
    try:
        fields = json.loads(section_of(sections, "ports").tobytes())
        inputs = [parameter_of(port).output(0) for port in fields["inputs"]]
        outputs = [_result_of(port).output(0) for port in fields["outputs"]]
        return Ports(str(fields["name"]), inputs, outputs)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BlobError(f"the ports of the exported model cannot be understood: {error!r}") from error


def ir_sections(name: str, model: Model) -> dict[str, Section]:
    """Return the sections ``xml`` and ``weights`` of a model, which ``ir_in`` reads. Raises BlobError.

    A section ``operations`` lists the classes of custom operations.
    """
    # The IR frontend is imported only for exports.
    from hetero.frontend.ir.weights import WeightsWriter
    from hetero.frontend.ir.writer import encoded, model_element

    weights = _Pieces()
    try:
        own = _check_operations(walk_nested(model.get_ordered_ops()))
        xml = encoded(model_element(model, WeightsWriter(cast(BinaryIO, weights))))
    except (FrontendError, GraphError) as error:
        raise BlobError(f"model '{name}' cannot be exported: {error}") from error
    sections: dict[str, Section] = {"xml": xml, "weights": weights}
    if own:
        sections["operations"] = json.dumps([_identity(cls) for cls in own]).encode()
    return sections


def ir_fault(node: Node) -> str | None:
    """Return why an IR cannot hold a node, such as a sequence; None if it can."""
    from hetero.frontend.ir.weights import WeightsWriter
    from hetero.frontend.ir.writer import encoded, layer_element

    try:
        _check_operations(walk_nested([node]))
        encoded(layer_element(node, WeightsWriter(io.BytesIO())))
    except (FrontendError, GraphError) as error:
        return str(error)
    return None


def _check_operations(nodes: Iterable[Node]) -> list[type[Op]]:
    """Return the classes of custom operations. Raises FrontendError for an operation that an IR would change."""
    from hetero.frontend.ir.attributes import read_back
    from hetero.frontend.ir.reader import Operations

    known = Operations()
    own: dict[tuple[Any, ...], type[Op]] = {}
    for node in (node for node in nodes if isinstance(node, Op)):
        cls, info = type(node), node.type_info
        if known[info.version_id].get(info.name) is not cls and own.setdefault(info, cls) is not cls:
            raise FrontendError(f"'{node.friendly_name}' and another operation have different classes {info.name}")
        if isinstance(node, Constant):
            continue
        again = read_back(node)
        if own.get(info) is cls and not cls.is_declared():
            _check_nothing_else(node, again)
    return list(own.values())


def ir_in(sections: Mapping[str, memoryview]) -> Model:
    """Return the model in the sections ``xml`` and ``weights``. Raises BlobError and FrontendError."""
    from hetero.frontend import OpExtension
    from hetero.frontend.ir import IrFrontEnd

    frontend = IrFrontEnd()
    for cls in _own_operations(sections):
        frontend.add_extension(OpExtension(cls))
    return frontend.convert(section_of(sections, "xml"), section_of(sections, "weights"))


def _own_operations(sections: Mapping[str, memoryview]) -> list[type[Op]]:
    """Return the classes in the section ``operations``. Raises BlobError if one is not defined."""
    if "operations" not in sections:
        return []
    try:
        return [_class_of(*map(str, identity)) for identity in json.loads(sections["operations"].tobytes())]
    except (ValueError, TypeError) as error:
        raise BlobError(f"the operations of the exported model cannot be understood: {error!r}") from error


def _identity(cls: type[Op]) -> tuple[str, str, str, str]:
    return (*cls.type_info, cls.__module__, cls.__qualname__)


def _class_of(name: str, version: str, module: str, qualified_name: str) -> type[Op]:
    """Return the class, or else another class with the same type info. Raises BlobError if there is none."""
    for make_extensions in (False, True):
        if make_extensions:
            installed_plugins().loaded_extensions  # noqa: B018 - packages define their classes there
        named = [cls for cls in defined_operations() if tuple(cls.type_info) == (name, version)]
        if named:
            return next((cls for cls in named if _identity(cls)[2:] == (module, qualified_name)), named[0])
    raise BlobError(
        f"the exported model has operations {version}::{name}, the class {qualified_name} of {module}, which is not "
        "defined: import it, or install its package, first"
    )


def section_of(sections: Mapping[str, memoryview], name: str) -> memoryview:
    """Return a section by name. Raises BlobError if it is missing."""
    if name not in sections:
        raise BlobError(f"the exported model has no section {name}")
    return sections[name]


def port_fields(port: Output) -> dict[str, Any]:
    """Return the name, type, shape and layout of a port as plain data, which ``parameter_of`` reads."""
    return {
        "name": port.node.friendly_name, "names": sorted(port.names), "type": port.element_type.to_string(),
        "shape": str(port.partial_shape), "dimensions": port.partial_shape.names, "layout": str(get_layout(port)),
    }  # fmt: skip


def parameter_of(fields: Mapping[str, Any]) -> Parameter:
    """Return a Parameter for the fields of a port. Raises ValueError, TypeError and KeyError for invalid fields."""
    shape = PartialShape(str(fields["shape"])).with_names(dict(fields["dimensions"]))
    node = Parameter(Type(str(fields["type"])), shape, name=str(fields["name"]))
    node.output(0).names = set(map(str, fields["names"]))
    node.layout = Layout(str(fields["layout"]))
    return node


def _result_of(fields: Mapping[str, Any]) -> Result:
    parameter = parameter_of(fields)
    result = Result(parameter, name=parameter.friendly_name)
    result.output(0).names = parameter.output(0).own_names
    return result


class _Pieces(list[bytes | memoryview]):
    """A file-like object that keeps the pieces that are written to it."""

    write = list.append


def _check_nothing_else(node: Op, again: Op) -> None:
    """Raise FrontendError if a node has state that its class does not declare as an attribute: it would be lost."""
    for name, value in vars(node).items():
        is_plain = isinstance(value, (bool, int, float, str)) and name not in ("_friendly_name", "_instance_id")
        if is_plain and getattr(again, name, None) != value:
            visit = f"{type(node).__name__}.visit_attributes"
            raise FrontendError(f"'{node.friendly_name}' has {name} = {value!r}, which {visit} does not visit")


def port_fits(port: Output, other: Output) -> bool:
    """Return whether two ports agree in type and shape, as far as both are known."""
    kinds = {port.element_type, other.element_type} - {Type.dynamic}
    return len(kinds) < 2 and port.partial_shape.compatible(other.partial_shape)
