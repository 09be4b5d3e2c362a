"""BatchInferRequest: an inference that may run together with others, as one batch; and how they wait for each other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from hetero.plugin import RemoteTensor, SyncInferRequest
from hetero.system.fork import renew_after_fork
from hetero.virtual.infer_request import PooledInferRequest

if TYPE_CHECKING:
    from hetero.virtual.batch import BatchCompiledModel


class Batch:
    """Requests that were gathered. If ``is_full``, the last of them runs the batch and calls ``end``."""

    def __init__(self, deadline: float) -> None:
        self.requests: list[BatchInferRequest] = []
        self.deadline = deadline
        self.is_closed = self.is_full = False
        #: Whether the batched inference failed, so that each request must run by itself.
        self.has_failed = False
        self._ended = threading.Event()

    def end(self, has_failed: bool) -> None:
        self.has_failed = has_failed
        self._ended.set()

    def wait(self) -> None:
        """Wait for the end of the batched inference."""
        try:
            self._ended.wait()
        except BaseException:  # such as Ctrl-C: until the end, the batch uses the tensors of its requests
            self._ended.wait()
            raise


class Gathering:
    """Gathers ``size`` requests, or those that came within ``timeout()`` seconds. Thread-safe.

    ``present()`` is the number of all requests that exist: if all of them wait, no other can come.
    """

    def __init__(self, size: int, timeout: Callable[[], float], present: Callable[[], int]) -> None:
        self._size, self._timeout, self._present = size, timeout, present
        self._renew()
        renew_after_fork(self, Gathering._renew)

    def _renew(self) -> None:
        self._changed = threading.Condition()
        self._open: Batch | None = None

    def join(self, request: BatchInferRequest) -> Batch:
        """Add a request to the open batch and return the batch when it is closed. Raises if it is cancelled before."""
        with self._changed:
            batch = self._open
            if batch is None:
                batch = self._open = Batch(time.monotonic() + self._timeout())
            batch.requests.append(request)
            if len(batch.requests) == self._size:
                batch.is_full = True
                self._close(batch)
            elif len(batch.requests) >= self._present():
                self._close(batch)
            else:
                self._wait(batch, request)
        return batch

    def _wait(self, batch: Batch, request: BatchInferRequest) -> None:
        try:
            while not batch.is_closed:
                request.check_cancelled()
                remaining = batch.deadline - time.monotonic()
                if remaining <= 0:
                    self._close(batch)
                else:
                    self._changed.wait(min(remaining, threading.TIMEOUT_MAX))
        except BaseException:
            if not batch.is_closed:
                batch.requests.remove(request)
                if not batch.requests:
                    self._open = None
            elif batch.is_full:  # it was closed while this thread was interrupted
                batch.wait()
            raise

    def _close(self, batch: Batch) -> None:
        batch.is_closed = True
        self._open = None
        self._changed.notify_all()

    def wake(self) -> None:
        """Let the waiting requests check whether they were cancelled."""
        with self._changed:
            self._changed.notify_all()


class BatchInferRequest(PooledInferRequest):
    """A request of one sample. The last request of a full batch runs the inference for all of them."""

    compiled_model: BatchCompiledModel

    def __init__(self, compiled_model: BatchCompiledModel) -> None:
        super().__init__(compiled_model, compiled_model.single, compiled_model.binds_requests)
        # The error of writing the outputs after a batch.
        self._output_error: Exception | None = None

    def check_inputs(self) -> None:
        SyncInferRequest.check_inputs(self)  # a tensor that does not fit must not reach the batch of others

    def start(self) -> None:
        gathering = self.compiled_model.gathering
        if gathering is not None:
            batch = gathering.join(self)
            if batch.is_full:
                if batch.requests[-1] is self:
                    self._run_batch(batch)
                else:
                    batch.wait()
                if not batch.has_failed:
                    if self._output_error is not None:
                        raise self._output_error
                    return
        with self._pool.reserved(self.check_cancelled) as worker:
            self.run_on(worker)

    def _run_batch(self, batch: Batch) -> None:
        """Run the inference of all requests of a batch. If it fails, they run by themselves."""
        has_failed = True
        try:
            with self.compiled_model.batched.reserved() as worker:
                used = worker.borrow()
                request = used.request
                for index, member in enumerate(batch.requests):
                    member.send_inputs(index, request)
                request.infer()
                for index, member in enumerate(batch.requests):
                    member.take_outputs(index, request)
                worker.give_back(used)
            has_failed = False
        except Exception as error:
            self.compiled_model.plugin.log.info("%s: a batch failed: %s", self.compiled_model.name, error)
        finally:
            batch.end(has_failed)

    def send_inputs(self, index: int, batched: SyncInferRequest) -> None:
        """Copy the inputs to a sample of the batched request."""
        for tensor, joined in zip(self.input_tensors(), batched.input_tensors()):
            tensor.copy_to(joined.array[index : index + 1])

    def take_outputs(self, index: int, batched: SyncInferRequest) -> None:
        """Copy the outputs, and the profile, from the batched request. An error is raised by ``start``."""
        self._output_error = None
        try:
            for tensor, joined in zip(self.output_tensors(), batched.output_tensors()):
                tensor.copy_from(joined.array[index : index + 1])
            if self.is_profiled:
                self._profile = batched.get_profiling_info()
        except Exception as error:
            self._output_error = self.device_error(error, "start")

    def cancel(self) -> None:
        super().cancel()
        if self.compiled_model.gathering is not None:
            self.compiled_model.gathering.wake()

    def takes(self, tensor: RemoteTensor) -> bool:
        return self.compiled_model.single.workers[0].takes(tensor)
