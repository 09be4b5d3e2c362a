"""HeteroPlugin: the device HETERO."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from hetero import properties as props
from hetero.dispatch.affinity import Device, pin, place
from hetero.dispatch.claims import Claims
from hetero.dispatch.compiled_model import HeteroCompiledModel, placement_report
from hetero.errors import DeviceError, NotSupportedError
from hetero.graph import Model
from hetero.passes.unique_names import make_names_unique
from hetero.plugin import Plugin, QueryResult, RemoteContext, scheduling_properties
from hetero.properties import Property, PropertyTable

affinities = Property("AFFINITIES", props.mapping, {}, accepts="operation names or patterns with a device for each")


class HeteroPlugin(Plugin):
    """Runs a model on several devices, chosen by MULTI_DEVICE_PRIORITIES: the first that can run an operation does.

    A property that it does not know is handed to those of the devices that do.
    """

    supported_properties = (
        props.available_devices,
        props.device.full_name,
        placement_report,
        props.device.priorities,
        props.device.properties,
        props.cache_dir,
        affinities,
        *scheduling_properties,
    )
    # Its own, and its devices' as well.
    _handed_on = (
        props.enable_profiling,
        props.log.level,
        props.cache_dir,
        props.num_streams,
        props.hint.performance_mode,
        props.hint.num_requests,
    )

    def device_ids(self) -> list[str]:
        return []  # there is no device of its own to list

    def describe(self, device_id: str) -> dict[str, Any]:
        return {props.device.full_name: "several devices as one", props.range_for_streams: (1, os.cpu_count() or 1)}

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        table, devices = self._devices(options)
        copy = model.clone()
        make_names_unique(copy)
        pin(copy, table.get(affinities))
        queries = Claims.ask(copy, devices).queries
        placement = place(copy, devices, queries)
        result = QueryResult()
        for device in reversed(devices):
            result.update(queries[device.name])  # this has Parameters, Constants and Results too
        result.update((node.friendly_name, where.device.name) for node, where in placement.placed.items())
        for node, reason in placement.homeless.items():
            result.pop(node.friendly_name, None)  # a device may claim it, but not all that must be with it
            result.refused[node.friendly_name] = reason
        return result

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> HeteroCompiledModel:
        table, devices = self._devices(options)
        make_names_unique(model)
        pin(model, table.get(affinities))
        return HeteroCompiledModel(model, devices, Claims.ask(model, devices), self, table)

    def get_default_context(self, params: Mapping[str, Any]) -> RemoteContext:
        raise NotSupportedError(f"{self.name} has no memory of its own: take the context of one of its devices")

    create_context = get_default_context

    def _devices(self, options: Mapping[str, Any]) -> tuple[PropertyTable, list[Device]]:
        """The dispatcher's own properties, and the devices in order of priority with theirs."""
        keys = {str(key) for key in self.supported_properties}
        own = {key: value for key, value in options.items() if key in keys}
        shared = {key: value for key, value in options.items() if key not in keys}
        table = self.property_table(own)
        shared.update({key: value for key, value in table.given().items() if key in self._handed_on})
        names = table.get(props.device.priorities)
        if not names:
            example = f"{self.name}:{','.join(self.core.available_devices)}"
            raise DeviceError(f"{self.name} is given no devices: name them in order of priority, as in {example}")
        devices_twice = [name for name in names if names.count(name) > 1]
        if devices_twice or self.name in names:
            raise DeviceError(
                f"{self.name}:{','.join(names)} cannot use {(*devices_twice, self.name)[0]} so: each device once"
            )
        per_device = table.get(props.device.properties)
        for name in per_device.keys() - set(names):
            raise DeviceError(f"DEVICE_PROPERTIES names {name}, which is not among the devices {', '.join(names)}")
        return table, self._make_devices(names, shared, per_device)

    def _make_devices(
        self, names: Sequence[str], shared: Mapping[str, Any], per_device: Mapping[str, Mapping[str, Any]]
    ) -> list[Device]:
        devices = []
        unknown = dict(shared)
        for name in names:
            plugin, options = self.core.resolve_device(name)
            known = {str(key) for key in self.core.get_property(name, props.supported_properties)}
            unknown = {key: value for key, value in unknown.items() if key not in known}
            options.update({key: value for key, value in shared.items() if key in known})
            options.update(per_device.get(name, {}))
            devices.append(Device(name, plugin, options))
        if unknown.keys() - set(self._handed_on):
            self.property_table(unknown)  # raises PropertyError for a key that no device has
        return devices
