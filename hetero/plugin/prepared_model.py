"""PreparedModel: a model that a device has transformed and may compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from hetero.core.types import Type
from hetero.graph import Model, Node, Output, Parameter, Result, get_layout, port_name, set_layout
from hetero.plugin.device import Device
from hetero.properties import PropertyTable
from hetero.system.errors import UnsupportedOperationError

if TYPE_CHECKING:
    from hetero.plugin.plugin import Plugin
    from hetero.plugin.remote import RemoteContext


class Ports(NamedTuple):
    """The name and the ports of a model. The ports do not refer to its graph."""

    name: str
    inputs: list[Output]
    outputs: list[Output]

    @classmethod
    def of(cls, model: Model) -> Ports:
        return cls(model.friendly_name, list(map(_detached, model.inputs)), list(map(_detached, model.outputs)))


def _detached(port: Output) -> Output:
    name = port.node.friendly_name
    copy: Node = Parameter(port.element_type, port.partial_shape, name=name)
    if isinstance(port.node, Result):
        copy = Result(copy, name=name)
    copy.output(0).names = set(port.names)
    set_layout(copy.output(0), get_layout(port))
    return copy.output(0)


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """Everything that ``Plugin.compile`` needs to make a CompiledModel."""

    plugin: Plugin
    device: Device
    #: The properties of the compilation.
    properties: PropertyTable
    #: The name and the ports of the model as the user gave it, which the compiled model gets.
    ports: Ports
    #: The model to run: the user's model after ``transform_model``.
    model: Model
    #: The device memory that the user chose for remote tensors; None for the default.
    context: RemoteContext | None = None
    #: The sections of the exported model if the model is imported, else empty.
    sections: Mapping[str, memoryview] = field(default_factory=dict)
    #: The copies of the user's nodes that the passes began with; empty if these nodes themselves or if not all passes
    #: keep values.
    copies: Mapping[Node, Node] = field(default_factory=dict)

    @property
    def friendly_name(self) -> str:
        """The name of the user's model."""
        return self.ports.name

    def refuse_strings(self) -> None:
        """Raise UnsupportedOperationError for an input or output of strings, for a device that has none."""
        for port in (*self.ports.inputs, *self.ports.outputs):
            if port.element_type is Type.string:
                problem = f"'{port_name(port)}' of '{self.friendly_name}' consists of strings"
                raise UnsupportedOperationError(f"{self.plugin.name} has no strings, but {problem}")

    def named(self, name: str) -> PreparedModel:
        """Return the same model under another name."""
        return replace(self, ports=self.ports._replace(name=name))
