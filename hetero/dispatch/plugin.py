"""HeteroPlugin: the device HETERO, which runs one model on several devices."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hetero import plugin
from hetero import properties as props
from hetero.dispatch.compiled_model import HeteroCompiledModel
from hetero.dispatch.cost.database import CostDatabase
from hetero.dispatch.cutting.deployment import Deployer
from hetero.dispatch.cutting.failover import device_timeout, runtime_fallback, variable_snapshots
from hetero.dispatch.cutting.plan import shared_context
from hetero.dispatch.cutting.plan_sections import devices_of_plan, plan_in
from hetero.dispatch.devices import (
    CPU,
    ListedDevice,
    named_devices,
    names_of,
    own_options,
    unavailable_reasons,
    with_processors,
)
from hetero.dispatch.drawing import visualize
from hetero.dispatch.execution.infer_request import placement_report
from hetero.dispatch.placement.affinity import Strategy, pin
from hetero.dispatch.placement.strategy import ByCost, PlacementStrategy
from hetero.dispatch.placement.support import Support, greedy, undivided
from hetero.dispatch.report import log
from hetero.graph import Model
from hetero.graph.unique_names import make_names_unique
from hetero.plugin import Plugin, PreparedModel, QueryResult, RemoteContext, scheduling_properties
from hetero.plugin.blobs.model_sections import ports_in
from hetero.plugin.prepared_model import Ports
from hetero.properties import Property, PropertyTable
from hetero.properties.values import member_of
from hetero.system.code_key import code_key
from hetero.system.errors import BlobError, DeviceError, NotSupportedError, PropertyError, UnsupportedOperationError

placement_strategy = Property("PLACEMENT", member_of(PlacementStrategy), PlacementStrategy.GREEDY)
# The folder of measured costs; empty for one in the user's cache folder.
costs_dir = Property("COSTS_DIR", str, "")
# Changes when a model is calibrated, so that models in the model cache are compiled again.
costs_state = Property("COSTS_STATE", str, "", props.Mutability.RO)
# Whether the first device must run all operations: the other devices are checked, but not used.
strict = Property("STRICT", props.boolean, False)
affinities = Property("AFFINITIES", props.mapping, {}, accepts="operation names or patterns with a device for each")


class _SeveralDevices(plugin.Device):
    def properties(self) -> dict[str, Any]:
        return {**super().properties(), props.caching_properties: (costs_state,)}


_SEVERAL_DEVICES = _SeveralDevices(
    full_name="several devices as one",
    capabilities=(props.device.Capability.EXPORT_IMPORT,),
    max_streams=os.cpu_count() or 1,
)


class HeteroPlugin(Plugin):
    """The device HETERO, which runs a model on the devices of MULTI_DEVICE_PRIORITIES, placed as PLACEMENT says.

    A property that HETERO does not have is passed to each of its devices that has it.
    """

    is_virtual = True
    supported_properties = (
        props.available_devices,
        props.device.full_name,
        placement_report,
        props.device.priorities,
        props.device.properties,
        props.cache_dir,
        props.device.capabilities,
        affinities,
        placement_strategy,
        costs_dir,
        costs_state,
        strict,
        props.hint.model_distribution_policy,
        runtime_fallback,
        device_timeout,
        variable_snapshots,
        *scheduling_properties,
    )
    # Properties of its own that are passed to the devices too.
    _passed_on = (
        props.enable_profiling,
        props.log.level,
        props.cache_dir,
        props.num_streams,
        props.hint.performance_mode,
        props.hint.num_requests,
    )

    def devices(self) -> list[plugin.Device]:
        return []  # not listed as a device, as it has no hardware of its own

    def device(self, options: Mapping[str, Any]) -> plugin.Device:
        return _SEVERAL_DEVICES

    def property_table(self, options: Mapping[str, Any]) -> PropertyTable:
        table = super().property_table(options)
        if names := table.get(props.device.priorities):
            if names == (CPU,) and placement_strategy not in table.explicit():
                # The devices compute on one processor, so that no two of them save time together.
                table.set_internal({placement_strategy: PlacementStrategy.UNDIVIDED})
            table.set({props.device.priorities: with_processors(self.host, names)})
        table.set_internal({props.execution_devices: table.get(props.device.priorities) or (self.name,)})
        if _chosen_placement(table) in (PlacementStrategy.MIN_CUT, PlacementStrategy.PIPELINE):
            table.set_internal({costs_state: CostDatabase(table.get(costs_dir)).state()})
        return table

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        table, devices = self._devices(options)
        copy = model.clone()
        make_names_unique(copy)
        names, strategy = names_of(copy.get_ordered_ops()), _strategy(table, devices)
        pin(copy, table.get(affinities), devices)
        deployer = Deployer(copy, devices, strategy)
        support, placement = deployer.agreed(*Support().place(copy, devices, strategy))
        kept = names_of(copy.get_ordered_ops())
        # Any device can leave out an Assign that another one overwrites.
        result = QueryResult(dict.fromkeys(set(names).difference(kept), devices[0].name))
        for supported in reversed([*support.queries.values()]):
            result.update(supported)  # has Parameters, Constants and Results too
        result.update((node.friendly_name, where.device.name) for node, where in placement.placed.items())
        for node, reason in placement.unplaced.items():
            result.pop(node.friendly_name, None)  # a device may support it, but not its whole group
            result.refused[node.friendly_name] = reason
        return result

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> HeteroCompiledModel:
        table, devices = self._devices(options)
        deployer = self._deployer(model, table, devices)
        try:
            deployment = deployer.deploy()
        except UnsupportedOperationError as error:
            reasons = [str(error), *unavailable_reasons(self, table.get(props.device.priorities))]
            raise UnsupportedOperationError("; ".join(reasons)) from error
        visualize(model, deployment.subgraphs, deployment.report)
        for failure in deployment.support.failures[:1]:
            log.warning("%s: %s; other devices take over", model.friendly_name, failure.error)
        prepared = PreparedModel(self, self.device(options), table, Ports.of(model), model)
        return HeteroCompiledModel(prepared, deployment.plan, deployment.report, deployer)

    def _deployer(self, model: Model, table: PropertyTable, devices: Sequence[ListedDevice]) -> Deployer:
        _apply_log_levels(devices)
        make_names_unique(model)
        pin(model, table.get(affinities), devices)
        return Deployer(model, devices, _strategy(table, devices))

    def import_model(
        self, sections: Mapping[str, memoryview], options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> HeteroCompiledModel:
        values = dict(options)
        cached: dict[str, Any] = {props.loaded_from_cache: True} if values.pop(props.loaded_from_cache, False) else {}
        table, devices = self._devices_for(devices_of_plan(sections), values)
        _apply_log_levels(devices.values())
        plan, report = plan_in(sections, lambda name, blob: devices[name].import_blob(blob, cached))
        table.add(props.loaded_from_cache, bool(cached))
        prepared = PreparedModel(self, self.device(options), table, ports_in(sections), Model([], []))
        return HeteroCompiledModel(
            prepared, plan, report, make_deployer=lambda model: self._deployer(model, table, list(devices.values()))
        )

    def cache_key(self, options: Mapping[str, Any]) -> tuple[Any, ...]:
        table, devices = self._devices(options)
        plugins: list[type] = [type(device.plugin) for device in devices]
        software = [(code_key(kind), self.host.get_versions(device.name)) for kind, device in zip(plugins, devices)]
        keys = [device.plugin.cache_key(device.options) for device in devices]
        return (super().cache_key(table.explicit()), *software, *keys)

    def _devices_for(
        self, needed: Sequence[str], options: Mapping[str, Any]
    ) -> tuple[PropertyTable, dict[str, ListedDevice]]:
        """Return the properties, and the devices by name. Raise BlobError if one that the model needs is missing."""
        begin = f"the exported model runs on {' and '.join(needed)}"
        for name in needed:
            try:
                self.host.resolve_device(name)
            except DeviceError as error:
                raise BlobError(f"{begin}, but {error}") from error
        table, devices = self._devices(options)
        names = [device.name for device in devices]
        missing = [name for name in needed if name not in names]
        if missing:
            actual, expected = (f"{self.name}:{','.join(some)}" for some in (names, needed))
            raise BlobError(f"{begin}, but {actual} has no {missing[0]}: import it for {expected}")
        return table, {device.name: device for device in devices}

    def get_default_context(self, params: Mapping[str, Any]) -> RemoteContext:
        """Return the default context of all devices, if they share one."""
        _, devices = self._devices(params)
        return shared_context({device.name: device.default_context() for device in devices})

    def create_context(self, params: Mapping[str, Any]) -> RemoteContext:
        raise NotSupportedError(f"{self.name} has no memory of its own: create a context of one of its devices")

    def _devices(self, options: Mapping[str, Any]) -> tuple[PropertyTable, list[ListedDevice]]:
        """Return the dispatcher's own properties, and the devices in order of priority with their options.

        With STRICT, only the first device is returned.
        """
        table = self.property_table(own_options(self, options))
        names = table.get(props.device.priorities)
        timeout = table.get(device_timeout) / 1e3
        listed = named_devices(self, table, options, names, self._passed_on)
        devices = [replace(device, timeout=timeout) for device in listed]
        if table.get(strict):
            self.host.resolve_device(names[0])  # raises if the first device is unavailable
            return table, devices[:1]
        return table, devices


def _apply_log_levels(devices: Iterable[ListedDevice]) -> None:
    for device in devices:
        device.plugin.apply_log_level(device.options)


def _chosen_placement(table: PropertyTable) -> PlacementStrategy:
    """Return the placement that was chosen; MODEL_DISTRIBUTION_POLICY is OpenVINO's way to choose PIPELINE.

    Raises PropertyError for a policy that is not implemented.
    """
    policies = table.get(props.hint.model_distribution_policy)
    policy = props.hint.ModelDistributionPolicy
    if policy.TENSOR_PARALLEL in policies:
        key = props.hint.model_distribution_policy
        raise PropertyError(
            f"{key} {policy.TENSOR_PARALLEL.text} is not supported: use {policy.PIPELINE_PARALLEL.text}"
        )
    if policy.PIPELINE_PARALLEL in policies and placement_strategy not in table.explicit():
        return PlacementStrategy.PIPELINE
    return table.get(placement_strategy)


def _strategy(table: PropertyTable, devices: Sequence[ListedDevice]) -> Strategy:
    """Return the function of the placement that was chosen."""
    by_cost = ByCost(devices, CostDatabase(table.get(costs_dir)))
    strategies = {
        PlacementStrategy.GREEDY: greedy,
        PlacementStrategy.UNDIVIDED: undivided,
        PlacementStrategy.MIN_CUT: by_cost.min_cut,
        PlacementStrategy.PIPELINE: by_cost.pipeline,
    }
    return strategies[_chosen_placement(table)]
