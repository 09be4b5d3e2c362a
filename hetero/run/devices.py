"""What devices there are, and what one of them can run of a model, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hetero import properties as props
from hetero.dispatch.affinity import is_placed
from hetero.errors import HeteroError
from hetero.graph import Model
from hetero.passes.unique_names import make_names_unique
from hetero.runtime import Core


@dataclass(frozen=True)
class DeviceInfo:
    """A device that can be used now."""

    name: str
    full_name: str
    type: str
    capabilities: tuple[str, ...]


@dataclass(frozen=True)
class OperationQuery:
    """An operation of a model: the device that can run it, or why none can."""

    name: str
    type_name: str
    device: str | None
    refused: str | None


def find_devices(core: Core) -> list[DeviceInfo]:
    """The devices of the installed plugin packages; a property that a device lacks, or fails to tell, is left empty."""

    def read(device: str, key: str) -> Any:
        try:
            return core.get_property(device, key)
        except HeteroError:
            return ""

    return [
        DeviceInfo(
            name,
            str(read(name, props.device.full_name)),
            str(read(name, props.device.type)),
            tuple(read(name, props.device.capabilities)),
        )
        for name in core.available_devices
    ]


def query_operations(
    core: Core, model: Model, device: str, config: Mapping[str, Any] | None = None
) -> list[OperationQuery]:
    """Every operation of a model in order, with what ``Core.query_model`` says of it. Gives nodes unique names."""
    make_names_unique(model)
    found = core.query_model(model, device, config)
    operations = []
    for node in filter(is_placed, model.get_ordered_ops()):
        where = found.get(node.friendly_name)
        refused = None if where else found.refused.get(node.friendly_name, "not supported")
        operations.append(OperationQuery(node.friendly_name, node.type_info.name, where, refused))
    return operations
