"""The plugin: nodes as devices, and queries and compilations, which the nodes do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hetero.graph import Model
from hetero.plugin import Device, Plugin, PreparedModel, QueryResult, RemoteContext, common_properties
from hetero.plugin.model_sections import ir_sections
from hetero.plugin.prepared_model import Ports
from hetero.properties import Property
from hetero_ray.cluster import Placement
from hetero_ray.compiled_model import RayCompiledModel
from hetero_ray.device import OWN_PROPERTIES, RayDevice, node_options, ray_device
from hetero_ray.shipping import ObjectStore


class RayPlugin(Plugin):
    """The nodes of a Ray cluster. A subgraph runs on the device RAY_DEVICE of a node, by default its first one."""

    # Those of each node are added by properties_of().
    supported_properties = (*common_properties, *OWN_PROPERTIES)

    def __init__(self, placements: Sequence[Placement]) -> None:
        super().__init__()
        self._devices = [RayDevice(number, placement) for number, placement in enumerate(placements)]
        self.store = ObjectStore()

    def devices(self) -> Sequence[RayDevice]:
        return self._devices

    def properties_of(self, device: Device, values: Mapping[str, Any]) -> Sequence[Property]:
        return cast(RayDevice, device).properties_of(ray_device.checked(values.get(ray_device, ""), self.name))

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        table = self.property_table(options)
        device = cast(RayDevice, self.device(table.explicit()))
        cargo = self.store.pack(ir_sections(model.friendly_name, model))
        name, passed = node_options(device, table)
        supported, refused = device.client.call("query", name, passed, cargo.shipment, *cargo.references)
        names = {node.friendly_name for node in model.get_ordered_ops()}
        result = QueryResult({name: device.name for name in supported if name in names})
        result.refused = refused
        return result

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> RayCompiledModel:
        table = self.property_table(options)
        device = self.device(table.explicit())
        return self.compile(PreparedModel(self, device, table, Ports.of(model), model, context))

    def compile(self, prepared: PreparedModel) -> RayCompiledModel:
        return RayCompiledModel(prepared)
