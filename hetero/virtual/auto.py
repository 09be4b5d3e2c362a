"""The devices AUTO, which chooses a device, and MULTI, which uses several devices at once."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from hetero import properties as props
from hetero.dispatch.devices import ListedDevice, preferred_devices
from hetero.graph import Model
from hetero.plugin import PreparedModel, RemoteContext
from hetero.plugin.prepared_model import Ports
from hetero.properties import Property, PropertyTable, intel_auto
from hetero.properties.hint import PerformanceMode, Priority
from hetero.properties.values import member_of
from hetero.virtual.compiled_model import AutoCompiledModel, Startup
from hetero.virtual.plugin import VirtualPlugin, virtual_properties
from hetero.virtual.pool import Candidates, Pool

_COMMON = (
    props.hint.num_requests,
    props.hint.model_priority,
    props.hint.execution_mode,
    intel_auto.device_bind_buffer,
    intel_auto.schedule_policy,
    intel_auto.devices_utilization_threshold,
    intel_auto.low_power_device,
    intel_auto.perf_curve_table,
)


class AutoPlugin(VirtualPlugin):
    """The device AUTO.

    With PERFORMANCE_HINT LATENCY or THROUGHPUT it uses the first device in its list that compiles the whole model; with
    CUMULATIVE_THROUGHPUT all that do. Without a list it uses all available devices, those of higher rank first.
    """

    supported_properties = virtual_properties(
        props.hint.performance_mode, intel_auto.enable_startup_fallback, intel_auto.enable_runtime_fallback, *_COMMON
    )
    most_processors: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self._compiled: weakref.WeakKeyDictionary[AutoCompiledModel, None] = weakref.WeakKeyDictionary()

    def device_list(self, table: PropertyTable) -> Sequence[str]:
        """Return the list of the user, or all devices except those that the user excluded as in ``AUTO:-GPU``."""
        names = super().device_list(table)
        excluded = [name[1:] for name in names if name.startswith("-")]
        named = [name for name in names if not name.startswith("-")]
        return [name for name in named or preferred_devices(self.host, excluded) if name not in excluded]

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> AutoCompiledModel:
        table, devices, numbers = self.resolve(options)
        has_variables = bool(model.variables)
        binds_requests = has_variables or table.get(intel_auto.device_bind_buffer)
        is_cumulative = self.is_cumulative(table)
        # Variables live on one device.
        may_fall_back = table.value_of(intel_auto.enable_runtime_fallback) and len(devices) > 1 and not has_variables
        if not is_cumulative:
            devices = self._by_priority(devices, table.get(props.hint.model_priority))
        prepared = PreparedModel(self, self.device(options), table, Ports.of(model), Model([], []))
        candidates = Candidates(self, model, table, devices, numbers)
        name = f"{self.name} {model.friendly_name}"
        pool = Pool(name, table.get(intel_auto.schedule_policy) == intel_auto.SchedulePolicy.ROUND_ROBIN)
        startup, helper = None, _startup_device(devices)
        if is_cumulative:
            for worker in candidates.all():
                pool.add(worker)
        elif helper is not None and not binds_requests and table.get(intel_auto.enable_startup_fallback):
            startup = Startup(name, candidates, helper, pool)
            startup.begin()
        else:
            pool.add(candidates.first())
        compiled = AutoCompiledModel(prepared, candidates, pool, startup, binds_requests, may_fall_back)
        self._compiled[compiled] = None
        return compiled

    def is_cumulative(self, table: PropertyTable) -> bool:
        """Return whether all devices run inferences at once."""
        return table.get(props.hint.performance_mode) == PerformanceMode.CUMULATIVE_THROUGHPUT

    def _by_priority(self, devices: Sequence[ListedDevice], priority: Priority) -> list[ListedDevice]:
        """Return the devices with those last that run a model of a higher MODEL_PRIORITY."""
        order = list(Priority)
        occupied = {
            name
            for reference in self._compiled.keyrefs()  # one step, while other threads compile
            if (other := reference()) is not None
            and order.index(other.properties.get(props.hint.model_priority)) > order.index(priority)
            for name in other.device_names
        }
        return sorted(devices, key=lambda device: device.name in occupied)


class MultiPlugin(AutoPlugin):
    """The device MULTI: AUTO that uses all devices of its list at once."""

    most_processors = 1

    supported_properties = virtual_properties(
        Property(props.hint.performance_mode, member_of(PerformanceMode), PerformanceMode.THROUGHPUT),
        *_COMMON,
    )
    most_processors = 1

    def property_table(self, options: Mapping[str, Any]) -> PropertyTable:
        table = super().property_table(options)
        # Its default is passed on to the devices, whose own default is LATENCY.
        table.set({props.hint.performance_mode: table.get(props.hint.performance_mode)})
        return table

    def device_list(self, table: PropertyTable) -> Sequence[str]:
        return table.get(props.device.priorities)

    def is_cumulative(self, table: PropertyTable) -> bool:
        return True


def _startup_device(devices: Sequence[ListedDevice]) -> ListedDevice | None:
    """Return the device for the first inferences, None if the best device compiles fast itself."""
    fast = [device for device in devices if device.plugin.device(device.options).compiles_fast]
    return fast[0] if fast and fast[0] is not devices[0] else None
