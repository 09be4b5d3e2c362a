"""CompiledModel: a model compiled for a device."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.graph import ConstOutput, Model
from hetero.plugin.blobs.blob import Section, pack_blob
from hetero.plugin.requests.async_infer_request import AsyncInferRequest
from hetero.plugin.requests.executors import Executor
from hetero.plugin.requests.profiling import ExecutionTimes
from hetero.plugin.requests.sync_infer_request import SyncInferRequest
from hetero.plugin.shared_properties import full_name
from hetero.properties import Property
from hetero.system.errors import DeviceError, NotSupportedError

if TYPE_CHECKING:
    from hetero.plugin.prepared_model import PreparedModel
    from hetero.plugin.remote import RemoteContext


# Options that are not exported, as they depend on the machine.
_MACHINE_OPTIONS = (props.device.id, props.cache_dir, props.tuning_file)


class CompiledModel(ABC):
    """A model compiled for a device. An author defines ``create_sync_infer_request``.

    The properties of the compilation can be read but not set, except those in ``mutable_properties``.
    """

    #: Properties that can be set after the compilation, for later inferences (optional).
    mutable_properties: Collection[Property] = (props.enable_profiling,)

    def __init__(self, prepared: PreparedModel) -> None:
        plugin, properties = prepared.plugin, prepared.properties
        self.name, self.inputs, self.outputs = prepared.ports
        for port in (*self.inputs, *self.outputs):
            port.__class__ = ConstOutput  # no other object has these ports
        self.plugin, self.device = plugin, prepared.device
        own = (props.model_name, props.loaded_from_cache)
        owner = f"compiled model '{self.name}' of {plugin.name}"
        self.properties = properties.read_only_copy(owner, own, self.mutable_properties)
        self.properties.set_internal({props.model_name: self.name})
        plugin.log.info("'%s' is compiled, for %d streams", self.name, properties.value_of(props.num_streams))
        self._context = prepared.context
        #: Whether PERF_COUNT is set.
        self.is_profiled: bool = properties.value_of(props.enable_profiling)
        #: Filled by requests if PERF_COUNT is set.
        self.execution_times = ExecutionTimes()

    @property
    def device_name(self) -> str:
        """The name under which the device is registered."""
        return self.plugin.name

    @property
    def full_device_name(self) -> str:
        """The name with the id, such as ``GPU.1``."""
        return full_name(self.plugin.name, self.device.id)

    @functools.cached_property
    def context(self) -> RemoteContext:
        """The context of remote tensors for this model: the one given to the compilation, else the default.

        Raises NotSupportedError if the device has none.
        """
        if self._context is not None:
            return self._context
        known = self.properties.value_of(props.device.id)
        return self.plugin.get_default_context({props.device.id: known} if known else {})

    @abstractmethod
    def create_sync_infer_request(self) -> SyncInferRequest:
        """Create a request with its own tensors (required). Requests of one compiled model are independent."""

    def create_infer_request(self) -> AsyncInferRequest:
        """Create a request that can run in the background (optional): by default as a whole on ``executor``."""
        request = self.create_sync_infer_request()
        return AsyncInferRequest(request, [(self.executor, request.infer)])

    @functools.cached_property
    def executor(self) -> Executor:
        """Threads for inferences in the background, which end with the compiled model.

        There are NUM_STREAMS, or OPTIMAL_NUMBER_OF_INFER_REQUESTS if a device needs more requests to be always busy.
        With EXCLUSIVE_ASYNC_REQUESTS it is one thread, shared by all such compiled models of the device.
        """
        if self.properties.value_of(props.exclusive_async_requests):
            return self.plugin.executors.get(f"{self.device_name} exclusive")
        counts = map(self.properties.value_of, (props.num_streams, props.optimal_number_of_infer_requests))
        return Executor(f"{self.device_name} {self.name}", max(counts))

    @functools.cached_property
    def priority(self) -> int:
        """MODEL_PRIORITY as a number for executors: tasks with larger numbers run first."""
        return list(props.hint.Priority).index(self.properties.value_of(props.hint.model_priority))

    def export_sections(self) -> dict[str, Section]:
        """Return the named sections from which the plugin's ``import_model`` restores this model (optional).

        ``model_sections`` returns them for a transformed model. By default raises NotSupportedError.
        """
        raise NotSupportedError(f"{self.device_name} cannot export compiled models")

    def export_model(self) -> list[bytes | memoryview]:
        """Return the exported model as pieces to be concatenated: a header and the sections."""
        options = {key: value for key, value in self.properties.set_by_user().items() if key not in _MACHINE_OPTIONS}
        architecture = self.properties.value_of(props.device.architecture)
        return pack_blob(self.device_name, architecture, self.plugin.package, options, self.export_sections())

    def tune(self, file: str | Path = "", progress: Callable[[str, int, int], None] | None = None) -> Path:
        """Measure how the device runs the model's operations fastest, for later compilations (optional).

        A request must have run before. Returns the file of the results: ``file``, or the device's own by default.
        ``progress`` is called with the operation, the number of those done, and that of all. By default raises
        NotSupportedError.
        """
        raise NotSupportedError(f"{self.device_name} has nothing to tune")

    def set_original(self, original: Model | Callable[[], Model]) -> None:  # noqa: B027
        """Receive the original model, or a function that reads it, after an import by the model cache (optional).

        For devices that may compile again. By default does nothing.
        """

    def get_runtime_model(self) -> Model:
        """Return the graph that is executed (optional). By default raises NotSupportedError."""
        raise NotSupportedError(f"{self.device_name} does not report its executed graph")

    def get_property(self, key: str) -> Any:
        """Return a property of the compilation (optional). Raises PropertyError for an unknown key."""
        return self.properties.get(key)

    def set_property(self, values: Mapping[str, Any]) -> None:
        """Set properties (optional). Raises PropertyError for those that are not in ``mutable_properties``."""
        self.properties.set(values)
        self.is_profiled = self.properties.value_of(props.enable_profiling)


def checked(compiled: Any, problem: str) -> CompiledModel:
    """Return what a device compiled. Raise DeviceError if it is no CompiledModel."""
    if not isinstance(compiled, CompiledModel):
        raise DeviceError(f"{problem}: it returned {type(compiled).__name__}, not a CompiledModel")
    return compiled
