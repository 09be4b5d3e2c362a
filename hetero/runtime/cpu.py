"""The device name ``CPU`` of programs for OpenVINO: HETERO with the devices that use the processor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.dispatch.devices.device_lists import CPU, has_cpu_device, with_processors
from hetero.runtime.device_name import parse_device_name
from hetero.system.errors import PropertyError
from hetero.system.messages import suggest

if TYPE_CHECKING:
    from hetero.runtime.core import Core

DISPATCHER = "HETERO"


def means_processors(core: Core, device_name: str) -> bool:
    """Return whether a name means the devices that use the processor, as no package has a device CPU."""
    kind, options = parse_device_name(device_name)
    return kind == CPU and options.get(props.device.id, "0") == "0" and not has_cpu_device(core)


def device_with(core: Core, key: str) -> str:
    """Return the first of these devices that has a property, or HETERO."""
    return next((name for name in with_processors(core, (CPU,)) if key in _keys(core, name)), DISPATCHER)


def set_on_processors(core: Core, values: Mapping[str, Any]) -> None:
    """Set properties on HETERO and on each of these devices that has them. Raises PropertyError for an unknown one."""
    keys = {name: _keys(core, name) for name in (DISPATCHER, *with_processors(core, (CPU,)))}
    known = set().union(*keys.values())
    for key in values:
        if key not in known:
            raise PropertyError(f"{CPU} has no property {key}; {suggest(key, sorted(known))}")
    for name in keys:
        core.set_property(name, {key: value for key, value in values.items() if key in keys[name]})


def _keys(core: Core, name: str) -> set[str]:
    return set(core.get_property(name, props.supported_properties))
