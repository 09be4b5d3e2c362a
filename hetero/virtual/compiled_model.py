"""AutoCompiledModel: a model that is compiled for the devices of AUTO or MULTI, for the best one in the background."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NoReturn

from hetero import properties as props
from hetero.dispatch.devices import ListedDevice
from hetero.graph import Model
from hetero.plugin import CompiledModel, Executor, PreparedModel, RemoteContext, RemoteTensor
from hetero.system.errors import HeteroError, NotSupportedError, as_exception
from hetero.system.fork import renew_after_fork
from hetero.virtual.infer_request import AutoInferRequest
from hetero.virtual.pool import Candidates, Pool, Worker


class Startup:
    """Both compilations run on threads of their own. ``begin`` returns when the first of them has ended.

    ``helper`` is the device for the first inferences. When the best device is ready, it replaces the helper in the
    pool. A forked process, in which the threads are missing, begins the compilation for the best device again when
    ``resume`` is called.
    """

    def __init__(self, name: str, candidates: Candidates, helper: ListedDevice, pool: Pool) -> None:
        self._candidates, self._helper, self._pool = candidates, helper, pool
        self._executor = Executor(f"{name} compile", 2)
        self._error: Exception | None = None
        self._is_interrupted = False
        self._set_up()
        renew_after_fork(self, Startup._renew)

    def _set_up(self) -> None:
        self._lock, self._ready, self._ended = threading.Lock(), threading.Event(), threading.Event()

    def _renew(self) -> None:
        ended = self._ended.is_set()
        self._set_up()
        if ended:
            self._ended.set()
        self._is_interrupted = not ended

    @property
    def is_under_way(self) -> bool:
        return not self._ended.is_set()

    def begin(self) -> None:
        """Begin both compilations and wait for the first. Raise the error if no device compiles the model."""
        self._executor.submit(self._compile_best)
        self._executor.submit(self._compile_helper)
        self._ready.wait()
        if self._error is not None:
            raise self._error

    def resume(self) -> None:
        """Begin the compilation for the best device again, if it was interrupted by a fork."""
        with self._lock:
            is_interrupted, self._is_interrupted = self._is_interrupted, False
        if is_interrupted:
            self._executor.submit(self._compile_best)

    def wait(self) -> None:
        """Wait until the best device is ready, or has failed."""
        self.resume()
        self._ended.wait()

    def _compile_best(self) -> None:
        try:
            worker = self._candidates.first()
        except BaseException as error:
            self._error = as_exception(error, "the compilation in the background failed")
        else:
            with self._lock:
                helpers = [other for other in self._pool.workers if other is not worker]
                self._pool.replace(worker)
                self._ended.set()
            for helper in helpers:
                self._candidates.release(helper)
        self._ended.set()
        self._ready.set()

    def _compile_helper(self) -> None:
        try:
            worker = self._candidates.compile(self._helper)
        except HeteroError:
            return  # the best device decides, or the helper's error is reported when its turn comes
        if not self._add(worker):
            self._candidates.release(worker)
        self._ready.set()

    def _add(self, worker: Worker) -> bool:
        """Add the helper to the pool. Return False if it is not needed, as the best device was faster."""
        with self._lock:
            if self._ended.is_set():
                return worker in self._pool.workers
            self._pool.add(worker)
            return True


class AutoCompiledModel(CompiledModel):
    """The pool of devices, and how it changes: after the startup, and when a device fails.

    ``binds_requests``: each request runs on one device, chosen when the request is created.
    ``may_fall_back``: an inference whose device fails runs on another one.
    """

    # The devices are compiled with the properties, some of them later.
    mutable_properties = ()

    def __init__(
        self,
        prepared: PreparedModel,
        candidates: Candidates,
        pool: Pool,
        startup: Startup | None,
        binds_requests: bool,
        may_fall_back: bool,
    ) -> None:
        super().__init__(prepared)
        self.pool, self.startup = pool, startup
        self.binds_requests, self.may_fall_back = binds_requests, may_fall_back
        self._candidates = candidates
        self._renew()
        renew_after_fork(self, AutoCompiledModel._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    @property
    def executor(self) -> Executor:
        return self.pool.executor

    @property
    def device_names(self) -> list[str]:
        """The devices in use, without those for the first inferences."""
        return [] if self._is_starting else [worker.name for worker in self.workers]

    @property
    def workers(self) -> list[Worker]:
        """The workers in use, without those for requests whose device failed."""
        return [worker for worker in self.pool.workers if not worker.is_spare]

    @property
    def _is_starting(self) -> bool:
        return self.startup is not None and self.startup.is_under_way

    def create_sync_infer_request(self) -> AutoInferRequest:
        return AutoInferRequest(self)

    def takes(self, tensor: RemoteTensor) -> bool:
        """Return whether a device in use takes a remote tensor. Waits for the end of the startup."""
        self._wait_for_startup()
        return any(worker.takes(tensor) for worker in self.pool.workers)

    def find_other(self, failures: Mapping[Worker, Exception]) -> bool:
        """Make another worker available than those that failed. Return False if there is none."""
        if self._is_starting:
            self._wait_for_startup()
            return True
        if not failures:
            return False
        with self._lock:
            if any(worker not in failures for worker in self.pool.workers):
                return True  # another request was first
            try:
                worker = self._candidates.first({failed.name for failed in failures})
            except HeteroError:
                return False
            worker.is_spare = True
            self.pool.add(worker)
            return True

    def drop(self, failures: Mapping[Worker, Exception], instead: Worker) -> None:
        """Stop using devices that failed, as an inference succeeded without them."""
        with self._lock:
            dropped = [worker for worker in failures if self.pool.remove(worker)]
            if not dropped:
                return
            instead.is_spare = False
            for worker in dropped:
                self._candidates.exclude(worker, failures[worker])
        names, reasons = (" and ".join(worker.name for worker in dropped)), "; ".join(str(failures[w]) for w in dropped)
        now = ", ".join(worker.name for worker in self.workers)
        self.plugin.log.warning("%s: no longer on %s: %s; now on %s", self.name, names, reasons, now)

    def _wait_for_startup(self) -> None:
        if self.startup is not None:
            self.startup.wait()

    @property
    def context(self) -> RemoteContext:
        self._wait_for_startup()
        for worker in self.workers:
            try:
                return worker.compiled.context
            except NotSupportedError:
                continue
        raise NotSupportedError(f"no device that {self.device_name} uses for '{self.name}' has remote contexts")

    def get_runtime_model(self) -> Model:
        """Return the executed graph of the first device in use."""
        self._wait_for_startup()
        return self.workers[0].compiled.get_runtime_model()

    def export_sections(self) -> NoReturn:
        raise NotSupportedError(
            f"{self.device_name} cannot export models: compile for {' or '.join(self.device_names) or 'a device'} to "
            "export, or set CACHE_DIR"
        )

    def get_property(self, key: str) -> Any:
        """Return a property of its own, else that of the first device in use that has it."""
        workers = self.workers
        if key == props.execution_devices:
            return tuple(f"({worker.name})" if self._is_starting else worker.name for worker in workers)
        if key == props.optimal_number_of_infer_requests:
            return self._candidates.expected_limit() if self._is_starting else sum(worker.limit for worker in workers)
        if key == props.loaded_from_cache:
            return all(worker.compiled.properties.value_of(props.loaded_from_cache) for worker in workers)
        if key not in self.properties:
            for worker in workers:
                if key in worker.compiled.properties:
                    return worker.compiled.get_property(key)
        return super().get_property(key)
