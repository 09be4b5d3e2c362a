"""The plugin: nodes as devices, and queries and compilations, which the nodes do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hetero import properties as props
from hetero.graph import Model
from hetero.plugin import (
    Device,
    Plugin,
    Ports,
    PreparedModel,
    QueryResult,
    RemoteContext,
    common_properties,
    unsupported,
)
from hetero.properties import Property, PropertyTable
from hetero_ray.cluster import Placement, check_connection
from hetero_ray.compiled_model import RayCompiledModel
from hetero_ray.device import OWN_PROPERTIES, RayDevice, node_options, ray_device
from hetero_ray.remote import RayContext
from hetero_ray.sendable import sendable_sections
from hetero_ray.shipping import Cargo, ObjectStore


class RayPlugin(Plugin):
    """The nodes of a Ray cluster. A subgraph runs on the device RAY_DEVICE of a node, by default its first one."""

    # Those of each node are added by properties_of().
    supported_properties = (*common_properties, *OWN_PROPERTIES)

    def __init__(self, placements: Sequence[Placement]) -> None:
        super().__init__()
        self._devices = [RayDevice(number, placement) for number, placement in enumerate(placements)]
        self.store = ObjectStore()
        self._queried: Cargo | None = None

    def close(self) -> None:
        self._queried = None

    def devices(self) -> Sequence[RayDevice]:
        check_connection()
        return self._devices

    def properties_of(self, device: Device, values: Mapping[str, Any]) -> Sequence[Property]:
        return cast(RayDevice, device).properties_of(ray_device.checked(values.get(ray_device, ""), self.name))

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        table = self.property_table(options)
        device = cast(RayDevice, self.device(table.explicit()))
        sections, reasons = sendable_sections(model, device.client)
        refused = {node.friendly_name: reason for node, reason in reasons.items()}
        cargo = self.store.pack(sections)
        name, passed = node_options(device, table)
        supported, also_refused = device.client.call("query", name, passed, cargo.shipment, *cargo.references)
        names = {node.friendly_name for node in model.get_ordered_ops()} - refused.keys()
        result = QueryResult({name: device.name for name in supported if name in names})
        result.refused = {**also_refused, **refused}
        self._queried = cargo  # a compilation of the model, or of parts of it, finds its weights in the store
        return result

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> RayCompiledModel:
        table = self.property_table(options)
        device = cast(RayDevice, self.device(table.explicit()))
        sections, reasons = sendable_sections(model, device.client)
        if reasons:
            raise unsupported(device.name, reasons)
        return RayCompiledModel(PreparedModel(self, device, table, Ports.of(model), model, context), sections)

    def compile(self, prepared: PreparedModel) -> RayCompiledModel:
        return RayCompiledModel(prepared, prepared.sections)  # of an imported model

    def create_context(self, params: Mapping[str, Any]) -> RayContext:
        others = {key: value for key, value in params.items() if key != props.device.id}
        return RayContext(cast(RayDevice, self.device(params)).name, self, others)

    get_default_context = create_context

    def get_property(self, key: str, options: Mapping[str, Any]) -> Any:
        table = self.property_table(options)
        value = table.get(key)
        if key in self._changing(table):
            device = cast(RayDevice, self.device(options))
            return device.client.call("get_property", node_options(device, table)[0], str(key))
        return value

    def _changing(self, table: PropertyTable) -> set[str]:
        """Return the read-only properties that only the node's device has, such as the memory in use."""
        read_only = {key for key, kind in table.get(props.supported_properties).items() if kind == props.Mutability.RO}
        of_table = (props.supported_properties, props.execution_devices, props.caching_properties)
        return read_only - set(map(str, (*of_table, *self.supported_properties)))
