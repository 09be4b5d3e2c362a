"""Device: one device of a plugin's kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.core.types import Type
from hetero.system.errors import DeviceError

if TYPE_CHECKING:
    from hetero.plugin.plugin import Plugin

#: The id of a device, as a regular expression.
DEVICE_ID = r"\w+(?:\.\w+)*"


class Rank(IntEnum):
    """Kinds of devices in the order in which AUTO prefers them, the last one first."""

    REFERENCE = 0
    PROCESSOR = 1
    ACCELERATOR = 2


@dataclass(eq=False)
class Device:
    """One device of a kind, and the properties that describe it. A plugin may derive its own class."""

    #: The id in DEVICE_ID and in ``GPU.1``; empty if the kind has one device, which DEVICE_ID 0 names too.
    id: str = ""
    full_name: str = ""
    architecture: str = ""
    type: props.device.Type = props.device.Type.INTEGRATED
    #: OPTIMIZATION_CAPABILITIES, such as "FP16" and "EXPORT_IMPORT".
    capabilities: tuple[str, ...] = ()
    #: Device memory in bytes; 0 if unknown.
    memory_size: int = 0
    #: Maximum number of inferences that are worth running at the same time.
    max_streams: int = 1
    #: AUTO prefers devices of higher rank.
    rank: Rank = Rank.ACCELERATOR
    #: Whether a model compiles much faster than on devices that generate code. AUTO runs the first inferences on such a
    #: device while another one compiles.
    compiles_fast: bool = False
    #: Whether an inference that raises nothing has written every output, also if a driver fails. HETERO does not check
    #: the outputs of static shapes then. The conformance kit checks it.
    writes_outputs: bool = False
    #: The floating-point type in which the device computes f32 models fastest. It does so if the user sets
    #: EXECUTION_MODE_HINT to PERFORMANCE, which sets INFERENCE_PRECISION_HINT; dynamic: in the model's own types.
    fastest_type: Type = Type.dynamic

    def is_named(self, device_id: str) -> bool:
        """Return whether a DEVICE_ID is that of this device."""
        return device_id == (self.id or "0")

    def properties(self) -> dict[str, Any]:
        """Return the values of read-only properties by key. A derived class adds its own (optional)."""
        return {
            props.device.full_name: self.full_name,
            props.device.architecture: self.architecture,
            props.device.type: self.type,
            props.device.capabilities: self.capabilities,
            props.range_for_streams: (1, self.max_streams),
        }


def devices_of(plugin: Plugin) -> list[Device]:
    """Return the devices of a plugin. Raise DeviceError if ``devices()`` returns anything but devices with names."""
    found: Any = plugin.devices()
    source = f"devices() of {plugin.name}" + (f" in package {plugin.package}" if plugin.package else "")
    try:
        devices = list(found)
    except TypeError:
        raise DeviceError(f"{source} returned {found!r}, not a list of hetero.plugin.Device") from None
    ids = set()
    for device in devices:
        if not isinstance(device, Device):
            raise DeviceError(f"{source} returned {device!r} in its list, not a hetero.plugin.Device")
        is_id = isinstance(device.id, str) and re.fullmatch(DEVICE_ID, device.id)
        if not is_id and (device.id != "" or len(devices) > 1):
            accepted = "letters, digits and underscores, such as '0'; only a single device may have none"
            raise DeviceError(f"{source} returned a device with the id {device.id!r}: an id has {accepted}")
        if device.id in ids:
            raise DeviceError(f"{source} returned two devices with the id {device.id!r}: each takes its own")
        ids.add(device.id)
    return devices
