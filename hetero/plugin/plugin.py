"""Plugin: a device as hetero sees it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.errors import DeviceError, NotSupportedError, PropertyError
from hetero.graph import Model, Node
from hetero.messages import get_logger
from hetero.passes import Pass, PassManager, may_change_numerics
from hetero.plugin.executors import Executors
from hetero.plugin.query import QueryResult
from hetero.plugin.shared_properties import decide_streams, set_log_level
from hetero.properties import Property, PropertyTable

if TYPE_CHECKING:
    from hetero.plugin.compiled_model import CompiledModel
    from hetero.plugin.remote import RemoteContext
    from hetero.runtime import Core


class Plugin(ABC):
    """A kind of device. One object serves all devices of the kind, which ``DEVICE_ID`` tells apart.

    An author defines ``supported_properties``, ``query_model`` and ``compile_model``; the rest has a default.
    """

    #: The property keys of the device with types and defaults (required).
    supported_properties: Iterable[Property] = ()
    #: What the device does to a model before it runs it, in order (optional).
    passes: Sequence[Pass] = ()

    def __init__(self) -> None:
        self.name = type(self).__name__
        self.executors = Executors()
        self._core: Core | None = None
        # By device id; what is set without one counts for all devices of the kind.
        self._options: dict[str, dict[str, Any]] = {"": {}}

    def attach(self, name: str, core: Core) -> None:
        """Called by Core before anything else: the name that the device is registered under, and the Core itself."""
        self.name, self._core = name, core

    @property
    def log(self) -> logging.Logger:
        """The logger of the device, whose level is the property LOG_LEVEL."""
        return get_logger(f"hetero.{self.name}")

    @property
    def core(self) -> Core:
        """The Core that made the plugin, for devices that use other devices."""
        if self._core is None:
            raise DeviceError(f"{self.name} is used without a Core")
        return self._core

    @abstractmethod
    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        """Which operations of the model the device can run (required): friendly name to device name.

        Only names of the model's own nodes count, and only this device's name, with or without an id.
        The helper ``get_supported_nodes`` makes the result from one function that judges a single node.
        """

    @abstractmethod
    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> CompiledModel:
        """Make the model ready to run (required). The model may be changed: it is the caller's copy for the device.

        Options are properties for this compilation; they win over the plugin's own. ``context``: the device memory that
        remote tensors for the compiled model come from, one of the device's own making; None where none was chosen.
        """

    def transform_model(self, model: Model, properties: PropertyTable) -> Model:
        """What the device makes of a model before it runs it (optional); the model itself is changed.

        By default its ``passes``, without those that DISABLED_PASSES names, without those that round otherwise in
        the EXECUTION_MODE_HINT ACCURACY, and none with DISABLE_TRANSFORMATIONS.
        """
        if not properties.value_of(props.disable_transformations):
            disabled = [*properties.value_of(props.disabled_passes)]
            if properties.value_of(props.hint.execution_mode) == props.hint.ExecutionMode.ACCURACY:
                disabled += [one.__name__ for one in self.passes if may_change_numerics(one)]
            changed = PassManager(self.passes, disabled).run(model)
            self.log.debug("'%s' was changed by %s", model.friendly_name, ", ".join(changed) or "no pass")
        return model

    def import_model(
        self, sections: Mapping[str, memoryview], options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> CompiledModel:
        """Make a compiled model from what its ``export_sections`` gave (optional).

        By default raises NotSupportedError.
        """
        raise NotSupportedError(f"{self.name} cannot import compiled models")

    def cache_key(self, options: Mapping[str, Any]) -> tuple:
        """What a compilation depends on besides the model and the software, for the model cache (optional).

        By default the device's name, architecture, CACHING_PROPERTIES and all that can be set, but where it is done.
        """
        table = self.property_table(options)
        mutable = [key for key, kind in table.get(props.supported_properties).items() if kind == props.Mutability.RW]
        told = [props.device.architecture, props.device.full_name, *table.value_of(props.caching_properties)]
        keys = sorted({*mutable, *told} - {str(props.device.id), str(props.cache_dir)})
        return (self.name, *((key, str(table.get(key))) for key in keys if key in table))

    def create_context(self, params: Mapping[str, Any]) -> RemoteContext:
        """A context for tensors in the device's memory (optional). By default raises NotSupportedError."""
        raise NotSupportedError(f"{self.name} has no remote contexts: use tensors in host memory")

    def get_default_context(self, params: Mapping[str, Any]) -> RemoteContext:
        """The context that is used where none is chosen (optional). By default raises NotSupportedError."""
        raise NotSupportedError(f"{self.name} has no remote contexts: use tensors in host memory")

    def estimate_cost(self, node: Node, options: Mapping[str, Any]) -> float | None:
        """The seconds that a node takes on the device (optional); None, as by default, where it does not know.

        A finite number, not negative.
        Shapes may be dynamic. The dispatcher asks when it places by cost what has not been measured.
        """
        return None

    def device_ids(self) -> list[str]:
        """The ids of the devices present (optional): by default there is one, with the empty id."""
        return [""]

    def unavailable_devices(self) -> dict[str, str]:
        """Return the devices of this kind that are present but cannot be used (optional): the reason by full name."""
        return {}

    def describe(self, device_id: str) -> dict[str, Any]:
        """The read-only properties of one device (optional), such as FULL_DEVICE_NAME."""
        return {}

    def get_property(self, key: str, options: Mapping[str, Any]) -> Any:
        """A property's value; ``options`` may hold DEVICE_ID. Raises PropertyError for an unknown key."""
        return self.property_table(options).get(key)

    def set_property(self, values: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Set properties for later compilations, of one device only where ``options`` has a DEVICE_ID.

        Raises PropertyError for an unknown or read-only key or a bad value, and sets nothing then.
        """
        self.property_table({**values, **options})
        self._options.setdefault(options.get(props.device.id, ""), {}).update(values)

    def property_table(self, options: Mapping[str, Any]) -> PropertyTable:
        """The device's properties with the values that were set and those of ``options`` on top.

        Raises PropertyError for what is wrong with the options.
        """
        table = PropertyTable(self.supported_properties, self.name)
        ids = self.device_ids()
        wanted = str(options.get(props.device.id) or self._options[""].get(props.device.id, ""))
        if wanted and wanted not in ids:
            takes = ", ".join(filter(None, ids)) or "none, as there is one device"
            raise PropertyError(f"property {props.device.id} of {self.name} cannot be '{wanted}': it takes {takes}")
        device_id = wanted or next(iter(ids), "")
        own = self._options.get(device_id, {}) if device_id else {}
        table.set({**self._options[""], **own, **options})
        known = {props.available_devices: tuple(ids), **self.describe(device_id)}
        table.fill({key: value for key, value in known.items() if key in table})
        decide_streams(table)
        if props.log.level in options:
            set_log_level(self.log, table.get(props.log.level))
        return table
