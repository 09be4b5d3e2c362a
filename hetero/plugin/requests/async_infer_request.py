"""AsyncInferRequest: runs a synchronous request in the background, in one or more stages."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from hetero.plugin.requests.executors import Executor
from hetero.plugin.requests.sync_infer_request import SyncInferRequest
from hetero.system.errors import (
    CancelledError,
    DeviceError,
    RequestBusyError,
    as_exception,
    device_error,
    device_errors,
)
from hetero.system.fork import renew_after_fork

Stage = tuple[Executor, Callable[[], None]]
Callback = Callable[[Exception | None], None]
LOST_IN_FORK = "was started in the parent process and does not run in this one, which was forked meanwhile"


class Completion(Future[None]):
    """The end of an inference in the background, with its error. Both can be read without the lock of the future."""

    is_finished = False
    error: Exception | None = None

    def finish(self, error: Exception | None) -> None:
        self.error, self.is_finished = error, True
        if error is None:
            self.set_result(None)
        else:
            self.set_exception(error)


def _do_nothing() -> None:
    return


class AsyncInferRequest:
    """Runs a request's stages one after the other, each on its executor, so that stages of several requests overlap."""

    def __init__(self, request: SyncInferRequest, pipeline: Sequence[Stage]) -> None:
        self.request = request
        self._pipeline = list(pipeline)
        #: Held while an inference begins, and by those who use the idle request.
        self.lock = threading.Lock()
        self._busy = False
        self._began = 0.0
        #: Seconds that the last inference took, from its start to its end.
        self.latency = 0.0
        self._callback: Callback | None = None
        # The thread of the callback, so that a slow one does not hold up the device's threads.
        self._callback_executor: Executor | None = None
        # The threads that are in the callback, by their idents.
        self._in_callback: set[int] = set()
        self._done: Completion | None = None
        renew_after_fork(self, AsyncInferRequest._renew)

    def _renew(self) -> None:
        self.lock, self._busy, self._in_callback = threading.Lock(), False, set()
        if self._done is not None:
            error = self._done.error
            if not self._done.is_finished:
                name = self.request.compiled_model.name
                error = CancelledError(f"the inference of '{name}' {LOST_IN_FORK}: start it again")
            self._done = Completion()
            self._done.finish(error)

    def begin(self, is_synchronous: bool = True) -> None:
        """Make the request busy until ``release``, so that no other thread changes its inputs or reads its outputs.

        Raises RequestBusyError while an inference runs, and for a synchronous one in the request's own callback.
        """
        if is_synchronous and self._in_callback:
            self._check_outside_callback("infer")
        with self.lock:
            if self._busy:
                self.check_idle()
            self._began = time.perf_counter()
            self._busy, self.request.cancelled = True, False

    def run(self) -> None:
        """Run an inference on the caller's thread, between ``begin`` and ``release``. Raises what the device raises."""
        self._began = time.perf_counter()  # without the time in which the caller set the inputs
        try:
            self.request.infer()
        except BaseException:
            with device_errors(self._failure):  # here, as it takes time
                raise
        finally:
            self.latency = time.perf_counter() - self._began

    def release(self) -> None:
        """Make the request idle."""
        self._busy = False

    def infer(self) -> None:
        """Run an inference on the caller's thread, as ``begin``, ``run`` and ``release`` do."""
        self.begin()
        try:
            self.run()
        finally:
            self.release()

    def start_async(self, prepare: Callable[[], Any] = _do_nothing) -> None:
        """Start in the background, after ``prepare()``. Raises RequestBusyError while an inference is under way."""
        self.begin(is_synchronous=False)
        before, done = self._done, Completion()
        try:
            prepare()
            self._began = time.perf_counter()
            self._done = done
            try:
                self.launch(done)
            except BaseException:
                with device_errors(self._failure):
                    raise
        except BaseException as error:
            self._done, self._busy = before, False
            done.finish(as_exception(error, "the inference did not start"))  # for threads that wait for it already
            raise

    def launch(self, done: Completion) -> None:
        """Begin an inference in the background, which ``end(done, error)`` ends (optional): by default the pipeline."""
        self._submit(0, done)

    def wait(self) -> None:
        """Wait for the inference that was started last, if any, and raise its error.

        Raises RequestBusyError in the request's own callback, and CancelledError in a process that was forked while
        the inference ran.
        """
        self._check_outside_callback("wait")
        done = self._done
        if done is not None:
            done.result()

    def wait_for(self, timeout: float) -> bool:
        """Wait at most ``timeout`` milliseconds. Return whether the inference has ended, or raise as ``wait`` does.

        Returns False if the request has run none.
        """
        self._check_outside_callback("wait_for")
        done = self._done
        if done is None:
            return self.latency > 0
        try:
            done.result(timeout / 1000)
        except TimeoutError:
            if not done.done():
                return False
            raise
        return True

    def cancel(self) -> None:
        """Cancel the running inference: stages that have not begun do not run, and ``wait`` raises CancelledError."""
        with self.lock:
            if self._busy:
                self.request.cancel()

    def set_callback(self, callback: Callback | None, on_own_thread: bool = True) -> None:
        """Call ``callback(error)`` at the end of each inference in the background. Raises RequestBusyError.

        ``on_own_thread``: on a thread of this request, as the callback may take long; else on one of the device.
        """
        with self.lock:
            self.check_idle()
            self._callback, self._callback_executor = callback, None
            if callback is not None and on_own_thread:
                compiled = self.request.compiled_model
                self._callback_executor = Executor(f"{compiled.device_name} {compiled.name} callback")

    def check_idle(self) -> None:
        """Raise RequestBusyError if an inference is running. None begins while the caller holds ``lock``."""
        if self._busy:
            compiled, seconds = self.request.compiled_model, time.perf_counter() - self._began
            raise RequestBusyError(
                f"the infer request of '{compiled.name}' is busy on {compiled.device_name} for {seconds:.1f} s: "
                "wait() for it first"
            )

    def _check_outside_callback(self, method: str) -> None:
        if threading.get_ident() in self._in_callback:
            name = self.request.compiled_model.name
            raise RequestBusyError(
                f"{method}() cannot be called in the callback of the infer request of '{name}', whose inference ends "
                "after it: only start_async() can"
            )

    def _submit(self, index: int, done: Completion) -> None:
        executor, _ = self._pipeline[index]
        executor.submit(self._run_stage, index, done, priority=self.request.compiled_model.priority)

    def _run_stage(self, index: int, done: Completion) -> None:
        try:
            self.request.check_cancelled()
            self._pipeline[index][1]()
            if index + 1 < len(self._pipeline):
                self._submit(index + 1, done)
                return
        except BaseException as error:
            self.end(done, error)
        else:
            self.end(done, None)

    def end(self, done: Completion, error: BaseException | None) -> None:
        """End an inference in the background, with an error or None: wake the waiting threads, after the callback."""
        self.latency = time.perf_counter() - self._began
        if error is not None:
            error = device_error(error, self._failure)
        if self._callback_executor is not None:
            with contextlib.suppress(DeviceError):  # at the end of the program, when it takes no tasks
                self._callback_executor.submit(self._complete, done, error)
                return
        self._complete(done, error)

    @property
    def _failure(self) -> str:
        """The begin of the message about an error of the device."""
        compiled = self.request.compiled_model
        return f"{compiled.device_name} failed in an inference of '{compiled.name}'"

    def _complete(self, done: Completion, error: Exception | None) -> None:
        self._busy = False  # before the callback, which may start the next inference
        if self._callback is not None:
            thread = threading.get_ident()
            self._in_callback.add(thread)
            try:
                self._callback(error)
            except BaseException as raised:  # KeyboardInterrupt too: Ctrl-C reaches the main thread only
                name = self.request.compiled_model.name
                error = error or as_exception(raised, f"the callback of the infer request of '{name}' failed")
            finally:
                self._in_callback.discard(thread)
        done.finish(error)
