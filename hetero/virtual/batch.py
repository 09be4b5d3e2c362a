"""The device BATCH, which gathers inferences of one sample and runs them as one batch on another device."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping
from typing import Any, NoReturn

from hetero import properties as props
from hetero.dispatch.devices import ListedDevice
from hetero.graph import Model
from hetero.plugin import CompiledModel, Executor, PreparedModel, RemoteContext
from hetero.plugin.prepared_model import Ports
from hetero.properties import PropertyTable
from hetero.system.errors import DeviceError, NotSupportedError
from hetero.virtual.batch_request import BatchInferRequest, Gathering
from hetero.virtual.batching import Batching, NotBatchable
from hetero.virtual.plugin import VirtualPlugin, virtual_properties
from hetero.virtual.pool import Candidates, Pool

# The batch size for a device that does not know its own.
DEFAULT_SIZE = 8


class BatchPlugin(VirtualPlugin):
    """The device BATCH, as in ``BATCH:GPU`` or ``BATCH:GPU(8)``.

    The model is compiled twice: for one sample and for a batch. A model that cannot be batched runs as it is.
    """

    supported_properties = virtual_properties(
        props.auto_batch_timeout, props.optimal_batch_size, props.hint.allow_auto_batching, props.hint.num_requests
    )

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> BatchCompiledModel:
        table, devices, numbers = self.resolve(options)
        (device,) = devices
        size = self._size(table, device, numbers)
        prepared = PreparedModel(self, self.device(options), table, Ports.of(model), Model([], []))
        single = self._compiled(model, table, device)
        batched, size = self._batched(model, table, device, size)
        table.set_internal({props.optimal_batch_size: size})
        return BatchCompiledModel(prepared, single, batched, size, bool(model.variables))

    def resolve(self, options: Mapping[str, Any]) -> tuple[PropertyTable, list[ListedDevice], dict[str, int]]:
        table, devices, numbers = super().resolve(options)
        if len(devices) > 1:
            names = ",".join(device.name for device in devices)
            raise DeviceError(
                f"{self.name}:{names} names {len(devices)} devices: it takes one, as in {self.name}:{devices[0].name}"
            )
        return table, devices, numbers

    def _size(self, table: PropertyTable, device: ListedDevice, numbers: Mapping[str, int]) -> int:
        """Return the batch size: that in the device's name, else the device's optimal one.

        It is at most PERFORMANCE_HINT_NUM_REQUESTS if that is set, and 1 without ALLOW_AUTO_BATCHING.
        """
        if not table.get(props.hint.allow_auto_batching):
            return 1
        optimal = device.plugin.property_table(device.options).value_of(props.optimal_batch_size)
        size = numbers.get(device.name) or optimal or DEFAULT_SIZE
        requests = table.get(props.hint.num_requests)
        return min(size, requests) if requests else size

    def _compiled(self, model: Model, table: PropertyTable, device: ListedDevice) -> Pool:
        pool = Pool(f"{self.name} {model.friendly_name}")
        pool.add(Candidates(self, model, table, [device], {}).first())
        return pool

    def _batched(self, model: Model, table: PropertyTable, device: ListedDevice, size: int) -> tuple[Pool | None, int]:
        """Return the model for a batch and the batch size. They are None and 1 if there are no batches."""
        if size == 1:
            return None, 1
        try:
            return self._compiled(Batching(model, size).model, table, device), size
        except (NotBatchable, DeviceError) as error:
            self.log.warning("%s: its inferences run one by one: %s", model.friendly_name, error)
        return None, 1

    def get_property(self, key: str, options: Mapping[str, Any]) -> Any:
        if key == props.optimal_batch_size:
            table, devices, numbers = self.resolve(options)
            return self._size(table, devices[0], numbers)
        return super().get_property(key, options)


class BatchCompiledModel(CompiledModel):
    """The model for one sample and that for a batch, which is None if there are no batches."""

    mutable_properties = (props.auto_batch_timeout,)

    def __init__(
        self, prepared: PreparedModel, single: Pool, batched: Pool | None, size: int, binds_requests: bool
    ) -> None:
        super().__init__(prepared)
        self.single, self._batched, self._size = single, batched, size
        self.binds_requests = binds_requests
        self._requests: weakref.WeakSet[BatchInferRequest] = weakref.WeakSet()
        self.gathering = Gathering(size, self._timeout, lambda: len(self._requests)) if batched is not None else None

    @property
    def batched(self) -> Pool:
        assert self._batched is not None
        return self._batched

    def _timeout(self) -> float:
        return self.properties.get(props.auto_batch_timeout) / 1e3

    @functools.cached_property
    def executor(self) -> Executor:
        """Threads for the requests of the batches that run and of the one that is gathered, which wait on them."""
        running = self._optimal_number()
        return Executor(f"{self.device_name} {self.name}", running + (self._size if self._batched else 0))

    def _optimal_number(self) -> int:
        return self._size * (self._batched or self.single).workers[0].limit

    def create_sync_infer_request(self) -> BatchInferRequest:
        request = BatchInferRequest(self)
        self._requests.add(request)
        return request

    @property
    def context(self) -> RemoteContext:
        return self._device_model.context

    @property
    def _device_model(self) -> CompiledModel:
        return self.single.workers[0].compiled

    def get_runtime_model(self) -> Model:
        """Return the executed graph of the device for a batch, if there are batches."""
        return (self._batched or self.single).workers[0].compiled.get_runtime_model()

    def export_sections(self) -> NoReturn:
        name = self.single.workers[0].name
        advice = f"compile for {name} to export, or set CACHE_DIR"
        raise NotSupportedError(f"{self.device_name} cannot export models: {advice}")

    def get_property(self, key: str) -> Any:
        """Return a property of its own, else that of the device."""
        if key == props.execution_devices:
            return (self.single.workers[0].name,)
        if key == props.optimal_number_of_infer_requests:
            return self._optimal_number()
        if key == props.loaded_from_cache:
            return self._device_model.properties.value_of(props.loaded_from_cache)
        if key not in self.properties and key in self._device_model.properties:
            return self._device_model.get_property(key)
        return super().get_property(key)
