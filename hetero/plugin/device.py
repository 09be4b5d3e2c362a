"""Device: one device of a plugin's kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from hetero import properties as props


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
