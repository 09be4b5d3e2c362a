"""The devices of a compilation: device strings, the devices that a list names, and their options.

The dispatcher, the virtual devices and Core use what is exported here.
"""

from hetero.dispatch.devices.listed_device import EstimateError, Failure, ListedDevice, named, names_of
from hetero.dispatch.devices.names import (
    CPU,
    DISPATCHER,
    DeviceName,
    kind_of,
    means_processors,
    parse_device_name,
    preferred_devices,
    processor_keys,
    processor_with,
    split_number,
    with_processors,
)
from hetero.dispatch.devices.resolution import named_devices, own_options, unavailable_reasons

__all__ = [
    "CPU", "DISPATCHER", "DeviceName", "EstimateError", "Failure", "ListedDevice", "kind_of",
    "means_processors", "named", "named_devices", "names_of", "own_options", "parse_device_name", "preferred_devices",
    "processor_keys", "processor_with", "split_number", "unavailable_reasons", "with_processors",
]  # fmt: skip
