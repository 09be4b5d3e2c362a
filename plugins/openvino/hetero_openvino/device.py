"""A device of OpenVINO: its description and its properties, under OpenVINO's keys."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import openvino

from hetero import properties as props
from hetero.core.types import Type
from hetero.plugin import Device, Rank, common_properties
from hetero.properties import Mutability, Property
from hetero.properties.values import accepting, boolean, element_type, names
from hetero_openvino.memory import hetero_type

# Part of the key of the model cache, as each version exports models in its own form.
openvino_version = Property("OPENVINO_VERSION", str, openvino.get_version(), Mutability.RO)

# Keys whose values have the same meaning in hetero. For others the type of OpenVINO's value decides.
_KNOWN = {
    str(known): known
    for known in (
        *common_properties, props.inference_num_threads, props.hint.inference_precision,
        props.hint.model_distribution_policy,
    )
}  # fmt: skip
# Keys that hetero answers itself, and one with which later compilations fail: OpenVINO reserves processors for the life
# of the process.
_OMITTED = {
    props.supported_properties, props.available_devices, props.device.id, props.execution_devices,
    "ENABLE_CPU_RESERVATION",
}  # fmt: skip
_HETERO_ONLY = {
    props.device.id, props.hint.model_priority, props.exclusive_async_requests, props.disabled_passes,
    props.disable_transformations,
}  # fmt: skip


@dataclass(eq=False)
class OpenVinoDevice(Device):
    """A device, with its properties under OpenVINO's keys, whose defaults are OpenVINO's values."""

    engine_properties: tuple[Property, ...] = ()


@functools.cache
def describe(core: openvino.Core, name: str) -> OpenVinoDevice:
    """Return the device that OpenVINO lists under a name such as ``CPU`` or ``GPU.1``.

    Its EXECUTION_MODE_HINT becomes ACCURACY. With OpenVINO's own default, PERFORMANCE, it would compute f32 models in
    bf16 or f16, so that results would depend on the device that an operation is placed on.
    """
    supported = core.get_property(name, props.supported_properties)
    fastest = Type.dynamic
    if props.hint.inference_precision in supported:
        fastest = from_openvino(core.get_property(name, props.hint.inference_precision))
    if supported.get(props.hint.execution_mode) == Mutability.RW:
        core.set_property(name, {props.hint.execution_mode: props.hint.ExecutionMode.ACCURACY.text})
    properties = {key: made for key, kind in supported.items() if (made := _property(core, name, key, kind))}

    def default(known: Property) -> Any:
        return properties.get(known, known).default

    return OpenVinoDevice(
        id=name,
        full_name=default(props.device.full_name),
        architecture=default(props.device.architecture),
        type=default(props.device.type),
        capabilities=default(props.device.capabilities),
        max_streams=default(props.range_for_streams)[1],
        rank=Rank.PROCESSOR if name.startswith("CPU") else Rank.ACCELERATOR,
        compiles_fast=name.startswith("CPU"),
        writes_outputs=name.startswith("CPU"),
        fastest_type=fastest,
        engine_properties=tuple(properties.values()),
    )


def from_openvino(value: Any) -> Any:
    """Return the value of a property in plain terms: names of enumeration members, and hetero's element types."""
    if isinstance(value, openvino.Type):
        return hetero_type(value)
    if hasattr(type(value), "__members__"):
        return value.name
    return tuple(map(from_openvino, value)) if isinstance(value, (set, list, tuple)) else value


def to_openvino(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a compilation for OpenVINO, without those that only hetero has."""
    return {str(key): _plain(value) for key, value in options.items() if key not in _HETERO_ONLY}


def _plain(value: Any) -> Any:
    if isinstance(value, props.PropertyEnum):
        return value.text
    if isinstance(value, (Type, props.streams.Num)):
        return "AUTO" if value == props.streams.Num.AUTO else str(value.value if isinstance(value, Type) else value)
    return [_plain(item) for item in value] if isinstance(value, (set, tuple)) else value


def _property(core: openvino.Core, name: str, key: str, mutability: str) -> Property | None:
    """Return a property of a device with OpenVINO's value as the default; None if it cannot be read."""
    if key in _OMITTED or mutability not in tuple(Mutability):
        return None
    try:
        value = core.get_property(name, key)
    except (RuntimeError, TypeError):  # the value has no form in Python
        return None
    known = _KNOWN.get(key)
    convert = known.convert if known else _converter_like(value)
    accepts = known.accepts if known else ""
    return Property(key, convert, convert(from_openvino(value)), Mutability(mutability), accepts)


def _converter_like(value: Any) -> Callable[[Any], Any]:
    """Return a converter to values like one of OpenVINO's."""
    if isinstance(value, bool):
        return boolean
    if isinstance(value, openvino.Type):
        return element_type(*Type)
    if members := getattr(type(value), "__members__", None):
        return _one_of(*members, value.name)
    if isinstance(value, (set, list, tuple)):
        return names
    return type(value) if isinstance(value, (int, float)) else str


def _one_of(*members: str) -> Callable[[Any], str]:
    @accepting(f"one of {', '.join(members)}")
    def convert(value: Any) -> str:
        text = (value.text if isinstance(value, props.PropertyEnum) else str(value)).upper()
        if text not in members:
            raise ValueError
        return text

    return convert
