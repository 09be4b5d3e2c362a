"""VirtualPlugin: what AUTO, MULTI and BATCH share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from hetero import properties as props
from hetero.dispatch.devices import ListedDevice, named_devices, own_options, split_number, with_processors
from hetero.graph import Model
from hetero.plugin import Device, Plugin, QueryResult
from hetero.properties import Property, PropertyTable
from hetero.system.errors import DeviceError, NotSupportedError

#: Properties of all virtual devices that are passed to their devices.
passed_on_properties = (
    props.enable_profiling,
    props.cache_dir,
    props.hint.performance_mode,
    props.hint.num_requests,
    props.hint.model_priority,
    props.hint.execution_mode,
)


class VirtualPlugin(Plugin):
    """A device that runs whole models on the devices of MULTI_DEVICE_PRIORITIES.

    A property that it does not have is passed to each of its devices that has it.
    """

    is_virtual = True
    #: How many devices take the place of ``CPU``; None for all.
    most_processors: int | None = 1

    def devices(self) -> list[Device]:
        return []  # not listed as a device, as it has no hardware of its own

    def device(self, options: Mapping[str, Any]) -> Device:
        return Device(full_name=self.name)

    def property_table(self, options: Mapping[str, Any]) -> PropertyTable:
        table = super().property_table(options)
        if names := table.get(props.device.priorities):
            table.set({props.device.priorities: with_processors(self.host, names, self.most_processors)})
        return table

    def device_list(self, table: PropertyTable) -> Sequence[str]:
        """Return the names of the devices to use, in order of priority, each possibly with a number in parentheses."""
        return table.get(props.device.priorities)

    def resolve(self, options: Mapping[str, Any]) -> tuple[PropertyTable, list[ListedDevice], dict[str, int]]:
        """Return the device's own properties, its devices in order of priority, and the numbers given for devices."""
        table = self.property_table(own_options(self, options))
        numbered = [split_number(name) for name in self.device_list(table)]
        devices = named_devices(self, table, options, [name for name, _ in numbered], passed_on_properties)
        return table, devices, {name: number for name, number in numbered if number is not None}

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        """Return the answer of the first device that supports the whole model, else of the first that answers."""
        _, devices, _ = self.resolve(options)
        answers: list[QueryResult] = []
        errors: list[DeviceError] = []
        for device in devices:
            try:
                answers.append(device.query(model))
            except DeviceError as error:
                errors.append(error)
                continue
            if all(node.friendly_name in answers[-1] for node in model.get_ordered_ops()):
                answers = answers[-1:]
                break
        if not answers:
            raise errors[0]
        result = QueryResult(dict.fromkeys(answers[0], self.name))
        result.refused = answers[0].refused
        return result

    def get_property(self, key: str, options: Mapping[str, Any]) -> Any:
        """Return a property; EXECUTION_DEVICES and OPTIMIZATION_CAPABILITIES are those of all devices."""
        if key == props.execution_devices:
            table = self.property_table(own_options(self, options))
            return tuple(split_number(name)[0] for name in self.device_list(table)) or table.get(key)
        if key != props.device.capabilities:
            return super().get_property(key, options)
        _, devices, _ = self.resolve(options)
        capabilities = {name for device in devices for name in self.host.get_property(device.name, key)}
        return tuple(sorted(capabilities - {props.device.Capability.EXPORT_IMPORT}))

    def cache_key(self, options: Mapping[str, Any]) -> NoReturn:
        raise NotSupportedError(f"{self.name} is not cached as a whole: its devices are")

    def import_model(self, sections: Any, options: Mapping[str, Any], context: Any = None) -> NoReturn:
        raise NotSupportedError(
            f"{self.name} cannot import models: import the model for the device that exported it, or set CACHE_DIR"
        )

    def get_default_context(self, params: Mapping[str, Any]) -> NoReturn:
        raise NotSupportedError(f"{self.name} has no memory of its own: use the context of one of its devices")

    create_context = get_default_context


def virtual_properties(*own: Property) -> tuple[Property, ...]:
    """Return the properties of a virtual device: those of all, and its own."""
    return (
        props.device.full_name,
        props.device.capabilities,
        props.device.priorities,
        props.device.properties,
        props.cache_dir,
        props.enable_profiling,
        props.optimal_number_of_infer_requests,
        props.log.level,
        *own,
    )
