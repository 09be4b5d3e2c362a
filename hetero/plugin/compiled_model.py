"""CompiledModel: a model made ready for a device."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.errors import NotSupportedError
from hetero.graph import Model, Output, Parameter
from hetero.plugin.async_infer_request import AsyncInferRequest
from hetero.plugin.blob import Section, pack_blob
from hetero.plugin.executors import Executor
from hetero.plugin.profiling import ExecutionTimes
from hetero.plugin.shared_properties import full_name, priority_of
from hetero.plugin.sync_infer_request import SyncInferRequest
from hetero.properties import PropertyTable

if TYPE_CHECKING:
    from hetero.plugin.plugin import Plugin
    from hetero.plugin.remote import RemoteContext


# Options that say where a model is compiled: they do not go with it.
_OF_THE_PLACE = (props.device.id, props.cache_dir)


class CompiledModel(ABC):
    """A model made ready for a device. An author defines ``create_sync_infer_request``.

    ``model`` is the model as the user gave it, from which the ports are taken; it is not kept. ``properties`` are
    those of the compilation, which can be read and no longer be set; ``context`` is the memory of the device that the
    user chose, if any.
    """

    def __init__(
        self, model: Model, plugin: Plugin, properties: PropertyTable, context: RemoteContext | None = None
    ) -> None:
        self.name = model.friendly_name
        self.inputs = [_detached(port) for port in model.inputs]
        self.outputs = [_detached(port) for port in model.outputs]
        self.plugin = plugin
        device_id = properties.value_of(props.device.id)
        own = (props.model_name, props.execution_devices, props.loaded_from_cache)
        self.properties = properties.read_only_copy(f"compiled model '{self.name}' of {plugin.name}", own)
        self.properties.fill(
            {props.model_name: self.name, props.execution_devices: (full_name(plugin.name, device_id),)}
        )
        plugin.log.info("'%s' is compiled, for %d streams", self.name, properties.value_of(props.num_streams))
        self._context = context
        #: Filled by requests while PERF_COUNT is set.
        self.execution_times = ExecutionTimes()

    @property
    def device_name(self) -> str:
        """The name under which the device is registered."""
        return self.plugin.name

    @functools.cached_property
    def context(self) -> RemoteContext:
        """The device's memory that requests take remote tensors of: the default one, unless another was chosen.

        Raises NotSupportedError where the device has none.
        """
        if self._context is not None:
            return self._context
        known = self.properties.value_of(props.device.id)
        return self.plugin.get_default_context({props.device.id: known} if known else {})

    @abstractmethod
    def create_sync_infer_request(self) -> SyncInferRequest:
        """A request with tensors of its own (required). Requests of one compiled model run independently."""

    def create_infer_request(self) -> AsyncInferRequest:
        """A request that can also run in the background (optional): by default all of it on ``executor``."""
        request = self.create_sync_infer_request()
        return AsyncInferRequest(request, [(self.executor, request.infer)])

    @functools.cached_property
    def executor(self) -> Executor:
        """The threads for inferences in the background, NUM_STREAMS of them; they end with the compiled model.

        With EXCLUSIVE_ASYNC_REQUESTS one thread that all compiled models of the device share which have it too.
        """
        if self.properties.value_of(props.exclusive_async_requests):
            return self.plugin.executors.get(f"{self.device_name} exclusive")
        return Executor(f"{self.device_name} {self.name}", self.properties.value_of(props.num_streams))

    @functools.cached_property
    def priority(self) -> int:
        """MODEL_PRIORITY as executors have it: where several compiled models share one, a larger number goes first."""
        return priority_of(self.properties)

    def export_sections(self) -> dict[str, Section]:
        """What the plugin's ``import_model`` makes this compiled model from again (optional), under names of its own.

        Of a transformed model ``model_sections`` makes them. By default raises NotSupportedError.
        """
        raise NotSupportedError(f"{self.device_name} cannot export compiled models")

    def export_model(self) -> list[bytes | memoryview]:
        """The exported model, in pieces to be written one after the other: the sections behind a header."""
        options = {key: value for key, value in self.properties.explicit().items() if key not in _OF_THE_PLACE}
        architecture = self.properties.value_of(props.device.architecture)
        return pack_blob(self.device_name, architecture, options, self.export_sections())

    def take_original(self, original: Model | Callable[[], Model]) -> None:  # noqa: B027
        """Called by the model cache on what it imported: the model that was compiled, the user's own, or what reads it.

        For devices that may want to compile again (optional). By default nothing is done.
        """

    def get_runtime_model(self) -> Model:
        """What is really executed, as a graph (optional). By default raises NotSupportedError."""
        raise NotSupportedError(f"{self.device_name} does not tell what it executes")

    def get_property(self, key: str) -> Any:
        """A property's value (optional): those of the compilation. Raises PropertyError for an unknown key."""
        return self.properties.get(key)

    def set_property(self, values: Mapping[str, Any]) -> None:
        """Set properties (optional). By default raises PropertyError: those of the compilation are settled."""
        self.properties.set(values)


def _detached(port: Output) -> Output:
    """A port of the same type, shape and names that does not keep the model's graph in memory."""
    copy = Parameter(port.element_type, port.partial_shape, name=port.node.friendly_name).output(0)
    copy.names = set(port.names)
    return copy
