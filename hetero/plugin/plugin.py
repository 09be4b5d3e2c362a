"""Plugin: a device as hetero sees it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.graph import Model, Node, is_terminal
from hetero.passes import Pass, PassManager, does_keep_values, keeps_values, may_change_numerics
from hetero.plugin.blobs.model_sections import models_in
from hetero.plugin.device import Device
from hetero.plugin.host import Host
from hetero.plugin.loading.registry import installed_plugins
from hetero.plugin.lone_operations import drop_folded
from hetero.plugin.prepared_model import Ports, PreparedModel
from hetero.plugin.query import QueryResult, get_supported_nodes, unsupported
from hetero.plugin.requests.executors import Executors
from hetero.plugin.shared_properties import (
    decide_precision,
    decide_streams,
    full_name,
    hint_properties,
    own_sample,
    set_log_level,
)
from hetero.properties import Property, PropertyTable
from hetero.system.errors import DeviceError, NotSupportedError, PropertyError
from hetero.system.messages import get_logger
from hetero.system.tracing import traced

if TYPE_CHECKING:
    from hetero.plugin.compiled_model import CompiledModel
    from hetero.plugin.remote import RemoteContext

# The device of a plugin that does not say which there are.
_ONE_DEVICE = (Device(),)


def _about_options(
    plugin: Plugin, model: Any = None, options: Mapping[str, Any] | None = None, *others: Any, **named: Any
) -> tuple[str, str]:
    """Return the name of a model, "" for the sections of an import, and that of the device, for a span."""
    return getattr(model, "friendly_name", ""), full_name(plugin.name, (options or {}).get(props.device.id, ""))


def _about_prepared(plugin: Plugin, prepared: PreparedModel) -> tuple[str, str]:
    return prepared.friendly_name, full_name(plugin.name, prepared.device.id)


# The methods whose calls are spans, in derived classes too.
_TRACED: dict[str, Callable[..., tuple[str, str]]] = {
    "query_model": _about_options,
    "compile_model": _about_options,
    "import_model": _about_options,
    "compile": _about_prepared,
}


class Plugin:
    """A kind of device. One object serves all devices of the kind.

    An author defines ``supported_properties``, ``unsupported_reason`` and ``compile``; everything else has a default.
    """

    #: The property keys of the device with types and defaults (required).
    supported_properties: Collection[Property] = ()
    #: Graph passes that the device applies to a model before it runs it, in order (optional).
    passes: Sequence[Pass] = ()
    #: Whether it runs models on other devices, as HETERO does, and has no device of its own (optional).
    is_virtual = False
    #: Whether it holds strings (optional). If not, a query refuses the operations that read or write some, also those
    #: that ``passes`` compute.
    has_strings = True
    #: Whether it may support an operation only with those around it (optional), as by a fusion. If so, a user's query
    #: judges each operation alone too, as it can be pinned alone.
    judges_together = False

    def __init_subclass__(cls) -> None:
        for method, about in _TRACED.items():
            if method in vars(cls):
                setattr(cls, method, traced(f"Plugin::{method}", about)(vars(cls)[method]))

    def __init__(self) -> None:
        self.name = type(self).__name__
        self.executors = Executors()
        self._host: Host | None = None
        # By device id; options set without an id apply to all devices of the kind.
        self._options: dict[str, dict[str, Any]] = {"": {}}

    def attach(self, name: str, host: Host) -> None:
        """Set the name that the device is registered under, and the host. Core calls this before anything else."""
        self.name, self._host = name, host
        self.apply_log_level(self._options[""])

    @property
    def package(self) -> str:
        """Name and version of the package that registered the device; "" if none did."""
        return installed_plugins().packages.get(self.name, "")

    def close(self) -> None:
        """Release what the plugin holds (optional). Compiled models go on working. By default there is nothing."""

    @property
    def log(self) -> logging.Logger:
        """The logger of the device, whose level is the property LOG_LEVEL."""
        return get_logger(f"hetero.{self.name}")

    @property
    def host(self) -> Host:
        """Access to other devices, for a plugin that uses them. Raises DeviceError if no Core made the plugin."""
        if self._host is None:
            raise DeviceError(f"{self.name} is used without a Core")
        return self._host

    # What an author defines.

    def unsupported_reason(self, node: Node, device: Device) -> str | None:
        """Return why a device cannot run a node of a transformed model, None if it can (required).

        Shapes may be partly unknown. Parameters, Constants and Results are not asked about.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define unsupported_reason")

    def unsupported_nodes(self, model: Model, properties: PropertyTable, device: Device) -> dict[Node, str]:
        """Return the nodes of a transformed model that a device cannot run, each with the reason (optional).

        For an engine that judges whole models. By default ``unsupported_reason`` judges each node.
        """
        operations = [node for node in model.get_ordered_ops() if not is_terminal(node)]
        return {node: reason for node in operations if (reason := self.unsupported_reason(node, device))}

    def compile(self, prepared: PreparedModel) -> CompiledModel:
        """Compile a model of which every operation is supported (required). ``prepared.model`` may be changed."""
        raise NotImplementedError(f"{type(self).__name__} does not define compile")

    def devices(self) -> Sequence[Device]:
        """Return the devices that are present (optional): by default one, with an empty id.

        A plugin without any is listed as unavailable, unless it is virtual.
        """
        return _ONE_DEVICE

    def unavailable_devices(self) -> dict[str, str]:
        """Return the devices that are present but cannot be used (optional): the reason by name, such as ``GPU.1``.

        A device that fails keeps its number, so that ``devices`` has the others under theirs.
        """
        return {}

    # The steps of OpenVINO's plugin API. The defaults build on the methods above.

    @traced("Plugin::query_model", _about_options)
    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        """Return which operations of the model the device can run: friendly name to device name, such as "GPU.1".

        By default every node of the transformed model is judged by ``unsupported_reason``. Only names of the model's
        own nodes count, and only this device's name, with or without an id. The result has the transformed model too,
        of which parts can be compiled.
        """
        properties = self.property_table(options)
        copy, copies = model.clone_with_nodes()
        prepared = self.prepare(copy, properties)
        if prepared.model.keeps_values and does_keep_values(type(self).transform_model):
            prepared = replace(prepared, copies=copies)
        refused = self.refused_nodes(prepared)
        name = full_name(self.name, prepared.device.id or properties.value_of(props.device.id))
        result = get_supported_nodes(model, prepared.model, refused.get, name, self.has_strings)
        drop_folded(model, prepared.model, result, lambda alone: self.query_model(alone, options))
        if type(self).compile_model is Plugin.compile_model:
            result.prepared = prepared
        return result

    @traced("Plugin::compile_model", _about_options)
    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> CompiledModel:
        """Compile a model. It is the caller's copy for the device, which may change it.

        ``options`` are properties of this compilation; they win over the plugin's own. ``context`` is device memory for
        remote tensors, made by this plugin. Raises UnsupportedOperationError, which names operations, if the device
        cannot run the whole model. By default the transformed model is handed to ``compile``.
        """
        prepared = self.prepare(model, self.property_table(options), context)
        if refused := self.refused_nodes(prepared):
            raise unsupported(self.name, refused)
        return self.compile(prepared)

    def prepare(self, model: Model, properties: PropertyTable, context: RemoteContext | None = None) -> PreparedModel:
        """Transform a model, which may be changed, for ``compile``. It may have operations that the device refuses."""
        device, ports = self.device(properties.explicit()), Ports.of(model)
        return PreparedModel(self, device, properties, ports, self.transform_model(model, properties), context)

    def refused_nodes(self, prepared: PreparedModel) -> dict[Node, str]:
        """Return the nodes of a prepared model that the device cannot run, each with the reason."""
        return self.unsupported_nodes(prepared.model, prepared.properties, prepared.device)

    @traced("Plugin::import_model", _about_options)
    def import_model(
        self, sections: Mapping[str, memoryview], options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> CompiledModel:
        """Restore a compiled model from the sections that its ``export_sections`` returned.

        ``options`` have LOADED_FROM_CACHE if the sections come from the model cache. By default the model in sections
        made by ``model_sections`` is handed to ``compile``.
        """
        ports, transformed = models_in(sections)
        properties = self.import_properties(options)
        device = self.device(properties.explicit())
        return self.compile(PreparedModel(self, device, properties, ports, transformed, context, sections))

    @keeps_values
    def transform_model(self, model: Model, properties: PropertyTable) -> Model:
        """Apply the device's graph passes to a model in place and return it (optional).

        One that keeps values, as passes do that ``keeps_values`` marks, may be marked too.

        By default these are ``passes``, without those in DISABLED_PASSES, without those that change rounding if
        EXECUTION_MODE_HINT is ACCURACY, and none with DISABLE_TRANSFORMATIONS.
        """
        if not properties.value_of(props.disable_transformations):
            disabled = [*properties.value_of(props.disabled_passes)]
            if properties.value_of(props.hint.execution_mode) == props.hint.ExecutionMode.ACCURACY:
                disabled += [step.__name__ for step in self.passes if may_change_numerics(step)]
            changed = PassManager(self.passes, disabled).run(model)
            self.log.debug("'%s' was changed by %s", model.friendly_name, ", ".join(changed) or "no pass")
        return model

    def cache_key(self, options: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return everything that a compilation depends on besides the model and the software (optional).

        It is part of the key of the model cache: by default CACHING_PROPERTIES, which include the device's name and
        architecture, and all writable properties except DEVICE_ID and CACHE_DIR.
        """
        table = self.property_table(options)
        mutable = [key for key, kind in table.get(props.supported_properties).items() if kind == props.Mutability.RW]
        keys = sorted({*mutable, *table.get(props.caching_properties)} - {str(props.device.id), str(props.cache_dir)})
        return (self.name, *((key, f"{table.get(key)}") for key in keys))

    def create_context(self, params: Mapping[str, Any]) -> RemoteContext:
        """Return a context for tensors in device memory (optional). By default raises NotSupportedError."""
        raise NotSupportedError(f"{self.name} has no remote contexts: use tensors in host memory")

    def get_default_context(self, params: Mapping[str, Any]) -> RemoteContext:
        """Return the context that is used by default (optional). By default raises NotSupportedError."""
        raise NotSupportedError(f"{self.name} has no remote contexts: use tensors in host memory")

    def estimate_cost(self, node: Node, options: Mapping[str, Any]) -> float | None:
        """Estimate the seconds that a node takes on the device (optional): finite, not negative, None if unknown.

        Shapes may be dynamic. The dispatcher asks if it places operations by cost and has no measurement.
        """
        return None

    def device(self, options: Mapping[str, Any]) -> Device:
        """Return the device that DEVICE_ID names in the options or in the plugin's own; without one the first device.

        Raises PropertyError for an id that no device has, DeviceError for that of an unavailable one.
        """
        devices = self.devices()
        device_id = str(options.get(props.device.id) or self._options[""].get(props.device.id, ""))
        match = next((device for device in devices if not device_id or device.is_named(device_id)), None)
        if match is None:
            if reason := self.unavailable_devices().get(full_name(self.name, device_id)):
                raise DeviceError(f"device {full_name(self.name, device_id)} is not available: {reason}")
            ids = ", ".join(device.id or "0" for device in devices)
            raise PropertyError(f"property {props.device.id} of {self.name} cannot be '{device_id}': it takes {ids}")
        return match

    def properties_of(self, device: Device, values: Mapping[str, Any]) -> Collection[Property]:
        """Return the properties of one device (optional): by default ``supported_properties``.

        ``values`` are those that the user set.
        """
        return self.supported_properties

    def import_properties(self, options: Mapping[str, Any]) -> PropertyTable:
        """Return the properties of an imported model: ``property_table``, and LOADED_FROM_CACHE from the options."""
        values = dict(options)
        loaded_from_cache = values.pop(props.loaded_from_cache, False)
        table = self.property_table(values)
        table.add(props.loaded_from_cache, props.loaded_from_cache.checked(loaded_from_cache, self.name))
        return table

    def get_property(self, key: str, options: Mapping[str, Any]) -> Any:
        """Return the value of a property; ``options`` may hold DEVICE_ID. Raises PropertyError for an unknown key."""
        return self.property_table(options).get(key)

    def set_property(self, values: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Set properties for later compilations, for one device only if ``options`` has a DEVICE_ID.

        Raises PropertyError for an unknown or read-only key or an invalid value; then no property is set.
        """
        self.property_table({**values, **options})
        device_id = self.device(options).id if props.device.id in options else ""
        self._options.setdefault(device_id, {}).update(values)
        self.apply_log_level(values)

    def apply_log_level(self, options: Mapping[str, Any]) -> None:
        """Set the level of the logger to LOG_LEVEL in the options of a compilation, if they have it.

        Raises PropertyError for a bad value. Nothing else changes the level: to be asked has no effect.
        """
        if props.log.level in options and props.log.level in self.supported_properties:
            set_log_level(self.log, props.log.level.checked(options[props.log.level], self.name))

    def property_table(self, options: Mapping[str, Any]) -> PropertyTable:
        """Return the device's properties: values that were set, overridden by ``options``.

        Raises PropertyError for an unknown key or an invalid value.
        """
        device = self.device(options)
        own = self._options.get(device.id, {}) if device.id else {}
        values = {**self._options[""], **own, **options}
        table = PropertyTable((*own_sample, *hint_properties, *self.properties_of(device, values)), self.name)
        table.set(values)
        for key in table.ignored(options):
            self.log.debug("%s has no use for %s=%s and ignores this hint", self.name, key, table.get(key))
        known = {props.available_devices: tuple(device.id for device in self.devices()), **device.properties()}
        known[props.execution_devices] = (full_name(self.name, table.value_of(props.device.id)),)
        of_device = known.get(props.caching_properties, table.value_of(props.caching_properties))
        caching = (props.device.architecture, props.device.full_name, *of_device)
        known[props.caching_properties] = {str(key): props.Mutability.RO.value for key in caching if key in table}
        table.set_internal({key: value for key, value in known.items() if key in table})
        decide_streams(table)
        decide_precision(table, device.fastest_type)
        return table
