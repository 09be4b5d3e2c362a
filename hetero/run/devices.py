"""Lists of devices, and of the operations that a device supports, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hetero import properties as props
from hetero.core.types import Type
from hetero.dispatch.devices import parse_device_name
from hetero.dispatch.drawing import PlacedOn, draw, picture_of_affinities
from hetero.graph import Model, is_terminal
from hetero.graph.unique_names import make_names_unique
from hetero.run.yaml_runs.sources import writable_file
from hetero.runtime import Core
from hetero.system.errors import ConfigError, HeteroError


@dataclass(frozen=True)
class DeviceInfo:
    """A usable device."""

    name: str
    full_name: str
    type: str
    capabilities: tuple[str, ...]
    details: dict[str, str]
    #: The type that EXECUTION_MODE_HINT=PERFORMANCE makes f32 models compute in; empty if it changes nothing.
    faster_type: str


@dataclass(frozen=True)
class OperationQuery:
    """An operation of a model: the device that supports it, or the reason why none does."""

    name: str
    type_name: str
    device: str | None
    refused: str | None


@dataclass(frozen=True)
class Query:
    """The report of a query."""

    model: str
    device: str
    operations: list[OperationQuery]


@dataclass(frozen=True)
class DeviceList:
    """The usable devices, and the reasons why others are not."""

    devices: list[DeviceInfo]
    unavailable: dict[str, str]


def find_devices(core: Core) -> list[DeviceInfo]:
    """List the usable devices. Properties that a device lacks, or fails to return, are empty."""

    def read(device: str, key: str, default: Any = "") -> Any:
        try:
            return core.get_property(device, key)
        except HeteroError:
            return default

    return [
        DeviceInfo(
            name,
            str(read(name, props.device.full_name)),
            # A word, such as "integrated"; str() of the enum is OpenVINO's "Type.INTEGRATED".
            str(read(name, props.device.type)).removeprefix("Type.").lower(),
            tuple(read(name, props.device.capabilities)),
            {str(key): str(value) for key, value in read(name, props.device.details, {}).items()},
            faster_type(core, name),
        )
        for name in core.host.available_devices
    ]


def faster_type(core: Core, device: str) -> str:
    """Return the type that EXECUTION_MODE_HINT=PERFORMANCE makes f32 models compute in; empty if it changes nothing."""
    precision, mode = props.hint.inference_precision, props.hint.execution_mode
    try:
        usual = core.get_property(device, precision)
        allowed = core.get_property(device, precision, {mode: mode.checked("PERFORMANCE")})
    except HeteroError:  # a virtual device, or one that fails
        return ""
    return str(allowed.to_string()) if allowed in (Type.f16, Type.bf16) and allowed is not usual else ""


def query_operations(
    core: Core, model: Model, device: str, properties: Mapping[str, Any] | None = None
) -> list[OperationQuery]:
    """List the operations of a model, in topological order, with the result of ``Core.query_model``.

    Nodes with equal names are renamed in the model.
    """
    make_names_unique(model)
    query = core.query_model(model, device, properties)
    operations = []
    for node in (node for node in model.get_ordered_ops() if not is_terminal(node)):
        supporting = query.get(node.friendly_name)
        refused = None if supporting else query.refused.get(node.friendly_name, "not supported")
        operations.append(OperationQuery(node.friendly_name, node.type_info.name, supporting, refused))
    return operations


def drawing_file(text: str) -> Path:
    """Return the path of a drawing to write. Raises ConfigError if it cannot be written or is no .dot file."""
    file = writable_file(text, Path())
    if file.suffix != ".dot":
        raise ConfigError(
            f"cannot draw to {file}: its name must end in .dot; 'hetero report' writes pages for a browser"
        )
    return file


def draw_operations(model: Model, operations: Sequence[OperationQuery], device: str, file: Path) -> None:
    """Draw the result of ``query_operations``. Raises OSError."""
    where = {o.name: PlacedOn(o.device, o.refused or "can run it") for o in operations}
    order = parse_device_name(device).options.get(props.device.priorities, ())
    devices = dict.fromkeys([*order, *(o.device for o in operations if o.device)])
    draw(picture_of_affinities(model, list(devices), where), file)
