"""HeteroPlugin: the device HETERO."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from hetero import plugin
from hetero import properties as props
from hetero.dispatch.affinity import Device, pin
from hetero.dispatch.compiled_model import HeteroCompiledModel, placement_report
from hetero.dispatch.cost_database import CostDatabase
from hetero.dispatch.deployment import Deployer
from hetero.dispatch.devices import find_devices, make_devices, why_left_out
from hetero.dispatch.drawing import visualize
from hetero.dispatch.failover import Fallback, device_timeout, runtime_fallback
from hetero.dispatch.placement.greedy import greedy
from hetero.dispatch.placement.strategy import ByCost, Strategy
from hetero.dispatch.placement.strategy import Placement as PlacementStrategy
from hetero.dispatch.plan_sections import devices_of_plan, plan_in
from hetero.dispatch.report import log
from hetero.dispatch.support import Support
from hetero.errors import BlobError, DeviceError, NotSupportedError, PropertyError, UnsupportedOperationError
from hetero.graph import Model
from hetero.passes.unique_names import make_names_unique
from hetero.plugin import Plugin, PreparedModel, QueryResult, RemoteContext, scheduling_properties
from hetero.plugin.model_sections import ports_in
from hetero.properties import Property, PropertyTable
from hetero.properties.values import member_of

placement_strategy = Property("PLACEMENT", member_of(PlacementStrategy), PlacementStrategy.GREEDY)
# Where measured costs are kept: a folder of the user's cache, when it is empty.
costs_dir = Property("COSTS_DIR", str, "")
# Changes when a model is calibrated, so that a cached model is compiled again then.
costs_state = Property("COSTS_STATE", str, "", props.Mutability.RO)
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
    """Runs a model on several devices, chosen by MULTI_DEVICE_PRIORITIES and PLACEMENT.

    A property that it does not know is handed to those of the devices that do.
    """

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
        props.caching_properties,
        props.hint.model_distribution_policy,
        runtime_fallback,
        device_timeout,
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

    def devices(self) -> list[plugin.Device]:
        return []  # none that users can name

    def device(self, options: Mapping[str, Any]) -> plugin.Device:
        return _SEVERAL_DEVICES

    def property_table(self, options: Mapping[str, Any]) -> PropertyTable:
        table = super().property_table(options)
        if _chosen(table) is not PlacementStrategy.GREEDY:
            table.fill({costs_state: CostDatabase(table.get(costs_dir)).state()})
        return table

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        table, devices = self._devices(options)
        copy = model.clone()
        make_names_unique(copy)
        pin(copy, table.get(affinities))
        support, placement = Support.ask(copy, devices).place(copy, devices, _strategy(table, devices))
        result = QueryResult()
        for device in reversed(devices):
            result.update(support.queries[device.name])  # this has Parameters, Constants and Results too
        result.update((node.friendly_name, where.device.name) for node, where in placement.placed.items())
        for node, reason in placement.unplaced.items():
            result.pop(node.friendly_name, None)  # a device may claim it, but not all that must be with it
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
            reasons = [str(error), *why_left_out(self.host, table.get(props.device.priorities))]
            raise UnsupportedOperationError("; ".join(reasons)) from error
        visualize(model, deployment.subgraphs, deployment.report)
        for failure in deployment.support.failures[:1]:
            log.warning("%s: %s; other devices run what it does not", model.friendly_name, failure.error)
        fallback = Fallback((lambda: deployer) if _may_fall_back(table) else None)
        prepared = PreparedModel(self, self.device(options), table, model, model)
        return HeteroCompiledModel(prepared, deployment.plan, deployment.report, fallback)

    def _deployer(self, model: Model, table: PropertyTable, devices: Sequence[Device]) -> Deployer:
        make_names_unique(model)
        pin(model, table.get(affinities))
        return Deployer(model.friendly_name, model, devices, Support.ask(model, devices), _strategy(table, devices))

    def import_model(
        self, sections: Mapping[str, memoryview], options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> HeteroCompiledModel:
        table, devices = self._devices_for(devices_of_plan(sections), options)
        ports = ports_in(sections)
        plan, report = plan_in(sections, lambda name, blob: devices[name].import_blob(blob))
        prepared = PreparedModel(self, self.device(options), table, ports, ports)
        compiled = HeteroCompiledModel(prepared, plan, report, Fallback(None))
        if _may_fall_back(table):
            compiled.make_deployer = lambda model: self._deployer(model, table, list(devices.values()))
        return compiled

    def cache_key(self, options: Mapping[str, Any]) -> tuple:
        table, devices = self._devices(options)
        keys = [(device.plugin.cache_key(device.options), self.host.get_versions(device.name)) for device in devices]
        by_cost = _strategy_name(table) != PlacementStrategy.GREEDY
        calibrations = CostDatabase(table.get(costs_dir)).calibrations() if by_cost else []
        return (super().cache_key(table.explicit()), calibrations, *keys)

    def _devices_for(
        self, needed: Sequence[str], options: Mapping[str, Any]
    ) -> tuple[PropertyTable, dict[str, Device]]:
        """The devices for an exported model by their names. Raises BlobError where one that it needs is missing."""
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
            given, wanted = (f"{self.name}:{','.join(some)}" for some in (names, needed))
            raise BlobError(f"{begin}, but {given} has no {missing[0]}: import it for {wanted}")
        return table, {device.name: device for device in devices}

    def get_default_context(self, params: Mapping[str, Any]) -> RemoteContext:
        raise NotSupportedError(f"{self.name} has no memory of its own: take the context of one of its devices")

    create_context = get_default_context

    def _devices(self, options: Mapping[str, Any]) -> tuple[PropertyTable, list[Device]]:
        """The dispatcher's own properties, and the devices in order of priority with theirs."""
        keys = {str(key) for key in self.supported_properties}
        table = self.property_table({key: value for key, value in options.items() if key in keys})
        shared = {key: value for key, value in options.items() if key not in keys}
        names = table.get(props.device.priorities)
        found = find_devices(self.host, self.name, names)
        known = {key for plugin, _ in found.values() for key in plugin.supported_properties}
        if unknown := {key: value for key, value in shared.items() if key not in known}:
            self.property_table(unknown)  # raises PropertyError for a key that no device has
        shared.update({key: value for key, value in table.explicit().items() if key in self._handed_on})
        return table, make_devices(self.host, names, found, shared, table.get(props.device.properties))


def _may_fall_back(table: PropertyTable) -> bool:
    return table.get(runtime_fallback) and len(table.get(props.device.priorities)) > 1


def _strategy_name(table: PropertyTable) -> PlacementStrategy:
    """The placement strategy that was chosen; MODEL_DISTRIBUTION_POLICY is OpenVINO's way to ask for a pipeline.

    Raises PropertyError for a policy that there is not.
    """
    policies = table.get(props.hint.model_distribution_policy)
    policy = props.hint.ModelDistributionPolicy
    if policy.TENSOR_PARALLEL in policies:
        key = props.hint.model_distribution_policy
        raise PropertyError(f"{key} {policy.TENSOR_PARALLEL} is not there yet: take {policy.PIPELINE_PARALLEL}")
    if policy.PIPELINE_PARALLEL in policies and placement_strategy not in table.explicit():
        return PlacementStrategy.PIPELINE
    return table.get(placement_strategy)


def _chosen(table: PropertyTable) -> PlacementStrategy:
    """The placement that was chosen; MODEL_DISTRIBUTION_POLICY is OpenVINO's way to ask for a pipeline."""
    policies = table.get(props.hint.model_distribution_policy)
    if props.hint.ModelDistributionPolicy.PIPELINE_PARALLEL in policies and placement_strategy not in table.explicit():
        return PlacementStrategy.PIPELINE
    return table.get(placement_strategy)


def _strategy(table: PropertyTable, devices: Sequence[Device]) -> Strategy:
    """The strategy for the placement that was chosen. Raises PropertyError for a policy that there is not."""
    policy = props.hint.ModelDistributionPolicy
    if policy.TENSOR_PARALLEL in table.get(props.hint.model_distribution_policy):
        key = props.hint.model_distribution_policy
        raise PropertyError(f"{key} {policy.TENSOR_PARALLEL} is not there yet: take {policy.PIPELINE_PARALLEL}")
    by_cost = ByCost(devices, CostDatabase(table.get(costs_dir)))
    strategies = {
        PlacementStrategy.GREEDY: greedy,
        PlacementStrategy.MIN_CUT: by_cost.min_cut,
        PlacementStrategy.PIPELINE: by_cost.pipeline,
    }
    return strategies[_chosen(table)]
