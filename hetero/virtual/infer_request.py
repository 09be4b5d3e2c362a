"""Requests whose inferences run on a device of a pool, with the tensors of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero.core.tensor import Tensor
from hetero.graph import Output, port_name
from hetero.plugin import CompiledModel, ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.plugin.requests.sync_infer_request import repair_tensor
from hetero.system.errors import TensorError, device_error
from hetero.virtual.pool import DeviceRequest, Pool, Worker

if TYPE_CHECKING:
    from hetero.virtual.compiled_model import AutoCompiledModel


class PooledInferRequest(SyncInferRequest):
    """Base of requests that run on requests of devices.

    A request that is bound to a device keeps a request of that device, with its variables.
    """

    def __init__(self, compiled_model: CompiledModel, pool: Pool, is_bound: bool) -> None:
        super().__init__(compiled_model)
        self._pool = pool
        self._running: SyncInferRequest | None = None
        self._profile: list[ProfilingInfo] = []
        self._bound: tuple[Worker, DeviceRequest] | None = None
        if is_bound:
            worker = pool.least_bound()
            self._bound = worker, DeviceRequest(worker.compiled)

    def check_inputs(self) -> None:
        """Join the batches. The request of the device checks the tensors."""
        if self._batches:
            self._join_batches()

    def check_outputs(self) -> None:
        """Do nothing: the request of the device checks the tensors."""

    def run_on(self, worker: Worker) -> None:
        """Run the inference on a device. Raises its errors."""
        is_bound = self._bound is not None and self._bound[0] is worker
        used = self._bound[1] if self._bound is not None and is_bound else worker.borrow()
        used.bind([*self.input_tensors(), *self.output_tensors()])
        request = self._running = used.request
        try:
            request.cancelled = False
            self.check_cancelled()
            request.infer()
            if self.is_profiled:
                self._profile = request.get_profiling_info()
        finally:
            self._running = None
        # A cancellation may have found the request of the device and reach it later, when another inference uses it.
        if not (is_bound or self.cancelled):
            worker.give_back(used)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return list(self._profile)

    def query_state(self) -> list[VariableState]:
        return self._bound[1].request.query_state() if self._bound is not None else []

    def cancel(self) -> None:
        super().cancel()
        running = self._running
        try:
            if running is not None:
                running.cancel()
        finally:
            self._pool.wake()

    def check_context(self, port: Output, tensor: RemoteTensor) -> None:
        if not self.takes(tensor):
            where = f"'{port_name(port)}' is given a remote tensor of {tensor.get_device_name()}"
            name = self.compiled_model.device_name
            raise TensorError(f"{where}, which no device of {name} takes: copy it to a host tensor")


class AutoInferRequest(PooledInferRequest):
    """A request that runs on any device of the compiled model.

    If a device fails and ENABLE_RUNTIME_FALLBACK is set, the inference runs again on another device; if that succeeds,
    the first one is dropped for all requests.
    """

    compiled_model: AutoCompiledModel

    def __init__(self, compiled_model: AutoCompiledModel) -> None:
        super().__init__(compiled_model, compiled_model.pool, compiled_model.binds_requests)
        self._remote: list[RemoteTensor] = []
        # Errors of devices in the current inference.
        self._failures: dict[Worker, Exception] = {}

    def start(self) -> None:
        self._failures = {}
        while True:
            worker = self._take()
            try:
                self.run_on(worker)
                break
            except BaseException as error:
                self._note_failure(worker, error)
                for port, tensor in zip(self.compiled_model.outputs, self.output_tensors()):
                    repair_tensor(port, tensor)
            finally:
                self._pool.release(worker)
        if self._failures:
            self.compiled_model.drop(self._failures, worker)

    def _take(self) -> Worker:
        """Reserve a device. Raise the first error of a device if no other can run the inference."""
        if self._bound is not None and self._bound[0] not in self._failures:
            return self._pool.take_bound(self._bound[0])
        compiled = self.compiled_model
        if compiled.startup is not None:
            compiled.startup.resume()
        while True:
            worker = self._pool.take(self._accepts, self.check_cancelled)
            if worker is not None:
                return worker
            if not compiled.find_other(self._failures):
                raise next(iter(self._failures.values()), None) or self._refusal()

    def _accepts(self, worker: Worker) -> bool:
        if worker in self._failures or (worker.is_spare and not self._failures):
            return False
        return not self._remote or all(map(worker.takes, self._remote))

    def _refusal(self) -> TensorError:
        names = ", ".join(sorted({tensor.get_device_name() for tensor in self._remote}))
        return TensorError(
            f"'{self.compiled_model.name}' has remote tensors of {names}, but no device of "
            f"{self.compiled_model.device_name} that takes them is in use: copy them to host tensors"
        )

    def _note_failure(self, worker: Worker, error: BaseException) -> None:
        """Record the error of a device, or raise it if no other device may run the inference instead."""
        error = device_error(error, f"{worker.name} failed in an inference of '{self.compiled_model.name}'")
        is_of_user = self.cancelled or (isinstance(error, TensorError) and not error.is_of_device)
        if is_of_user or not self.compiled_model.may_fall_back:
            raise error
        self._failures[worker] = error

    def takes(self, tensor: RemoteTensor) -> bool:
        return self.compiled_model.takes(tensor)

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        super().set_tensor(port, tensor)
        self._remote = [bound for bound in self._tensors.values() if isinstance(bound, RemoteTensor)]
