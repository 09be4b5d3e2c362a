"""Workers and the pool that they form: the devices that a model is compiled for, and how many requests run on each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from hetero import properties as props
from hetero.core.tensor import Tensor
from hetero.plugin import CompiledModel, Executor, RemoteTensor, SyncInferRequest
from hetero.system.errors import NotSupportedError
from hetero.system.fork import renew_after_fork


class DeviceRequest:
    """A request of a device, and the tensors that are bound to it."""

    def __init__(self, compiled: CompiledModel) -> None:
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
            self._changed.notify()

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
