"""Workers and the pool that they form: the devices that a model is compiled for, and how many requests run on each.

Candidates are the devices that may run a model, and what they compiled.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from hetero import properties as props
from hetero.core.tensor import Tensor
from hetero.dispatch.devices import ListedDevice
from hetero.graph import Model
from hetero.plugin import CompiledModel, Executor, Plugin, RemoteTensor, SyncInferRequest
from hetero.plugin.compiled_model import checked
from hetero.properties import PropertyTable
from hetero.system.errors import DeviceError, HeteroError, NotSupportedError, UnsupportedOperationError, device_errors
from hetero.system.fork import renew_after_fork


class DeviceRequest:
    """A request of a device, and the tensors that are bound to it."""

    def __init__(self, compiled: CompiledModel) -> None:
        with device_errors(f"{compiled.device_name} failed to create a request of '{compiled.name}'"):
            self.request: SyncInferRequest = compiled.create_sync_infer_request()
        self._ports = (*compiled.inputs, *compiled.outputs)
        self._bound: list[Tensor | None] = [None] * len(self._ports)

    def bind(self, tensors: Sequence[Tensor]) -> None:
        """Bind the tensors of all inputs and outputs, in order, unless they are bound already."""
        for index, tensor in enumerate(tensors):
            if self._bound[index] is not tensor:
                self._bound[index] = None
                self.request.set_tensor(self._ports[index], tensor)
                self._bound[index] = tensor


class Worker:
    """A device that a model is compiled for.

    ``limit`` is the number of inferences that run at once: by default what the device calls optimal.
    """

    def __init__(self, name: str, compiled: CompiledModel, limit: int | None) -> None:
        self.name, self.compiled = name, compiled
        self.limit = limit or compiled.properties.value_of(props.optimal_number_of_infer_requests)
        #: Inferences that run now; the pool counts them.
        self.running = 0
        #: Requests of the user that are bound to the device.
        self.bound = 0
        #: Whether only requests use it for which another device failed.
        self.is_spare = False
        self._idle: list[DeviceRequest] = []

    def borrow(self) -> DeviceRequest:
        """Return an idle request, or create one."""
        try:
            return self._idle.pop()
        except IndexError:
            return DeviceRequest(self.compiled)

    def give_back(self, request: DeviceRequest) -> None:
        self._idle.append(request)

    def takes(self, tensor: RemoteTensor) -> bool:
        """Return whether the device can use a remote tensor, as its context is the compiled model's."""
        try:
            return self.compiled.context.holds(tensor)
        except NotSupportedError:
            return False


class Pool:
    """The workers of a compiled model, in order of priority. Thread-safe.

    An inference takes the first idle worker that it accepts, and waits for one if all are busy. With ``round_robin``
    the search begins after the worker that was taken last.
    """

    def __init__(self, name: str, round_robin: bool = False) -> None:
        self.workers: list[Worker] = []
        #: Threads for inferences in the background: as many as run at once.
        self.executor = Executor(name)
        self._round_robin = round_robin
        self._next = 0
        self._changed = threading.Condition()
        renew_after_fork(self, Pool._renew)

    def _renew(self) -> None:
        self._changed = threading.Condition()
        for worker in self.workers:
            worker.running = 0

    def add(self, worker: Worker) -> None:
        with self._changed:
            self._use([*self.workers, worker])

    def replace(self, worker: Worker) -> None:
        """Use this worker alone. Inferences on the others go on."""
        with self._changed:
            self._use([worker])

    def remove(self, worker: Worker) -> bool:
        """Remove a worker. Return False if it was removed before."""
        with self._changed:
            if worker not in self.workers:
                return False
            self._use([other for other in self.workers if other is not worker])
            return True

    def _use(self, workers: list[Worker]) -> None:
        self.workers = workers
        self.executor.size = max(self.executor.size, sum(worker.limit for worker in workers))
        self._changed.notify_all()

    def take(self, accepts: Callable[[Worker], bool], check: Callable[[], None]) -> Worker | None:
        """Reserve an idle worker that ``accepts`` returns True for, after waiting for one if all are busy.

        Returns None if there is no such worker at all. ``check`` is called before each wait, and may raise.
        """
        with self._changed:
            while accepted := [worker for worker in self._in_order() if accepts(worker)]:
                for worker in accepted:
                    if worker.running < worker.limit:
                        worker.running += 1
                        self._next = self.workers.index(worker) + 1
                        return worker
                check()
                self._changed.wait()
            return None

    @contextmanager
    def reserved(self, check: Callable[[], None] = lambda: None) -> Iterator[Worker]:
        """Reserve a worker for the block, for a pool that always has one."""
        worker = self.take(lambda _: True, check)
        assert worker is not None
        try:
            yield worker
        finally:
            self.release(worker)

    def take_bound(self, worker: Worker) -> Worker:
        """Count an inference on the worker that a request is bound to. The device schedules these itself."""
        with self._changed:
            worker.running += 1
            return worker

    def _in_order(self) -> list[Worker]:
        start = self._next if self._round_robin else 0
        return [*self.workers[start:], *self.workers[:start]]

    def release(self, worker: Worker) -> None:
        with self._changed:
            worker.running -= 1
            self._changed.notify_all()  # one thread alone may be one that does not accept this worker

    def wake(self) -> None:
        """Let the waiting inferences check whether they were cancelled."""
        with self._changed:
            self._changed.notify_all()

    def least_bound(self) -> Worker:
        """Return the worker with the fewest bound requests for its limit, and count one more."""
        with self._changed:
            worker = min(self.workers, key=lambda worker: worker.bound // worker.limit)
            worker.bound += 1
            return worker


class Candidates:
    """Compiles a model for one device after the other, each at most once. Thread-safe.

    ``user`` is the virtual device and ``table`` its properties; ``limits`` are the numbers of requests that the user
    gave for devices. If CACHE_DIR is set, it applies to all devices, as the model cache is not a matter of the device.
    """

    def __init__(
        self,
        user: Plugin,
        model: Model,
        table: PropertyTable,
        devices: Sequence[ListedDevice],
        limits: Mapping[str, int],
    ) -> None:
        self.devices = list(devices)
        self._user, self._model, self._limits = user, model, limits
        self._cache = {key: value for key, value in table.explicit().items() if key == props.cache_dir}
        self._outcomes: dict[str, Worker | Exception] = {}
        self._renew()
        renew_after_fork(self, Candidates._renew)

    def _renew(self) -> None:
        self._locks = {device.name: threading.Lock() for device in self.devices}

    def compile(self, device: ListedDevice) -> Worker:
        """Return the worker of a device. Raise the error of its compilation."""
        with self._locks[device.name]:
            if device.name not in self._outcomes:
                self._outcomes[device.name] = self._outcome(device)
            outcome = self._outcomes[device.name]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _outcome(self, device: ListedDevice) -> Worker | Exception:
        problem = f"{device.name} failed to compile '{self._model.friendly_name}'"
        try:
            with device_errors(problem):
                compiled = self._user.host.compile_on(device.name, self._model, {**device.options, **self._cache})
                return Worker(device.name, checked(compiled, problem), self._limits.get(device.name))
        except HeteroError as error:
            return error

    def release(self, worker: Worker) -> None:
        """Forget what a device compiled, so that it compiles again if it is needed."""
        with self._locks[worker.name]:
            self._outcomes.pop(worker.name, None)

    def exclude(self, worker: Worker, error: Exception) -> None:
        """Never use a device again, which failed in an inference."""
        with self._locks[worker.name]:
            self._outcomes[worker.name] = DeviceError(str(error))  # without the traceback, which refers to tensors

    def all(self) -> list[Worker]:
        """Compile for all devices in parallel. Return the workers of those that succeed; raises as ``first`` does."""
        with ThreadPoolExecutor(len(self.devices), "hetero compile") as threads:
            context = contextvars.copy_context
            futures = [threads.submit(context().run, self.compile, device) for device in self.devices]
        failures = [error for future in futures if isinstance(error := future.exception(), Exception)]
        workers = [future.result() for future in futures if future.exception() is None]
        if not workers:
            raise self.failure(failures)
        self.report(failures, " and ".join(worker.name for worker in workers))
        return workers

    def expected_limit(self) -> int:
        """Return the number of requests at once that is optimal on the first device, before it has compiled."""
        device = self.devices[0]
        table = device.plugin.property_table(device.options)
        return self._limits.get(device.name) or table.value_of(props.optimal_number_of_infer_requests)

    def first(self, excluded: Collection[str] = ()) -> Worker:
        """Return the worker of the first device that compiles the model. Failures are logged.

        Raises the error of a single device, else UnsupportedOperationError or DeviceError with the reasons of all.
        """
        errors: list[Exception] = []
        for device in self.devices:
            if device.name in excluded:
                continue
            try:
                worker = self.compile(device)
            except HeteroError as error:
                errors.append(error)
                continue
            self.report(errors, worker.name)
            return worker
        raise self.failure(errors)

    def report(self, errors: Sequence[Exception], instead: str) -> None:
        """Log once that devices could not compile the model: at level INFO if they do not support all of it.

        Nothing is logged when the program ends, as that may be why a compilation in the background failed.
        """
        failed = [str(error) for error in errors if not isinstance(error, UnsupportedOperationError)]
        if failed and threading.main_thread().is_alive():
            self._user.log.warning("%s: %s; %s takes over", self._model.friendly_name, "; ".join(failed), instead)
        elif errors:
            reasons = "; ".join(map(str, errors))
            self._user.log.info("%s: %s; %s takes over", self._model.friendly_name, reasons, instead)

    def failure(self, errors: Sequence[Exception]) -> Exception:
        """Return the error for the user if no device could compile the model."""
        if len(errors) == 1:
            return errors[0]
        if not errors:
            return DeviceError(f"{self._user.name} has no other device for '{self._model.friendly_name}'")
        all_refuse = all(isinstance(error, UnsupportedOperationError) for error in errors)
        kind = UnsupportedOperationError if all_refuse else DeviceError
        return kind(f"{self._user.name} has no device for '{self._model.friendly_name}': {'; '.join(map(str, errors))}")
