"""AsyncInferRequest: runs a synchronous request in the background, in one or more stages."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from hetero.plugin.requests.end import End
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


def _do_nothing() -> None:
    return


class AsyncInferRequest:
    """Runs a request's stages one after the other, each on its executor, so that stages of several requests overlap.

    The state of a request is here. It is idle if ``running`` is None. ``begin`` makes it busy with a new End;
    ``cancel`` sets ``request.cancelled`` while it is busy; the code that began the inference sets ``running`` to None
    at its end, before the callback, and the End has the error, or None, for the threads that wait.
    """

    def __init__(self, request: SyncInferRequest, pipeline: Sequence[Stage]) -> None:
        self.request = request
        self._pipeline = list(pipeline)
        #: Held while an inference begins, and by those who use the idle request.
        self.lock = threading.Lock()
        #: The inference that runs, by its end; None if the request is idle, which the code that began it sets.
        self.running: End | None = None
        self._began = 0.0
        #: Seconds that the last inference took, from its start to its end.
        self.latency = 0.0
        self._callback: Callback | None = None
        # The thread of the callback, so that a slow one does not hold up the device's threads.
        self._callback_executor: Executor | None = None
        # The threads that are in the callback, by their idents.
        self._in_callback: set[int] = set()
        self._last: End | None = None  # of the inferences in the background
        renew_after_fork(self, AsyncInferRequest._renew)

    def _renew(self) -> None:
        self.lock, self.running, self._in_callback = threading.Lock(), None, set()
        if self._last is not None:
            error = self._last.error
            if not self._last.has_come:
                name = self.request.compiled_model.name
                error = CancelledError(f"the inference of '{name}' {LOST_IN_FORK}: start it again")
            self._last = End()
            self._last.set(error)

    def begin(self, end: End, is_synchronous: bool = True) -> None:
        """Make the request busy, so that no other thread changes its inputs or reads its outputs.

        The caller sets ``running`` to None if it is ``end``, also if this method raises: Ctrl-C may come at any
        instruction. Raises RequestBusyError while an inference runs, and for a synchronous one in the request's own
        callback.
        """
        if is_synchronous and self._in_callback:
            self._check_outside_callback("infer")
        with self.lock:
            if self.running is not None:
                self.check_idle()
            self._began = time.perf_counter()
            self.running, self.request.cancelled = end, False

    def run(self) -> None:
        """Run an inference on the caller's thread, after ``begin``. Raises what the device raises."""
        self._began = time.perf_counter()  # without the time in which the caller set the inputs
        try:
            self.request.infer()
        except BaseException:
            with device_errors(self._failure):  # here, as it takes time
                raise
        finally:
            self.latency = time.perf_counter() - self._began

    def infer(self) -> None:
        """Run an inference on the caller's thread, as ``begin`` and ``run`` do."""
        end = End()
        try:
            self.begin(end)
            self.run()
        finally:
            if self.running is end:
                self.running = None

    def start_async(self, prepare: Callable[[], Any] = _do_nothing) -> None:
        """Start in the background, after ``prepare()``. Raises RequestBusyError while an inference is under way."""
        before, end = self._last, End()
        try:
            self.begin(end, is_synchronous=False)
            prepare()
            self._began = time.perf_counter()
            self._last = end
            try:
                self.launch(end)
            except BaseException:
                with device_errors(self._failure):
                    raise
        except BaseException as error:
            with self.lock:
                if self.running is end and end.is_taken_up:  # Ctrl-C came when it was launched
                    self.request.cancel()
                elif self.running is end:
                    self._last, self.running = before, None
                    end.set(as_exception(error, "the inference did not start"))  # for threads that wait for it already
            raise

    def take_up(self, end: End) -> bool:
        """Return whether an inference in the background may begin, for the thread that runs it.

        False if Ctrl-C ended ``start_async`` after the launch: the request may run another inference by now.
        """
        with self.lock:
            end.is_taken_up = self.running is end
            return end.is_taken_up

    def launch(self, end: End) -> None:
        """Begin an inference in the background, which ``end(end, error)`` ends (optional): by default the pipeline."""
        self._submit(0, end)

    def wait(self) -> None:
        """Wait for the inference that was started last, if any, and raise its error.

        Raises RequestBusyError in the request's own callback, and CancelledError in a process that was forked while
        the inference ran.
        """
        self._check_outside_callback("wait")
        if self._last is not None:
            self._last.result()

    def wait_for(self, timeout: float) -> bool:
        """Wait at most ``timeout`` milliseconds. Return whether the inference has ended, or raise as ``wait`` does.

        Returns False if the request has run none.
        """
        self._check_outside_callback("wait_for")
        last = self._last
        if last is None:
            return self.latency > 0
        if not last.wait(timeout / 1000):
            return False
        last.result()
        return True

    def cancel(self) -> None:
        """Cancel the running inference: stages that have not begun do not run, and ``wait`` raises CancelledError."""
        with self.lock:
            if self.running is not None:
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
        if self.running is not None:
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

    def _submit(self, index: int, end: End) -> None:
        executor, _ = self._pipeline[index]
        executor.submit(self._run_stage, index, end, priority=self.request.compiled_model.priority)

    def _run_stage(self, index: int, end: End) -> None:
        if index == 0 and not self.take_up(end):
            return
        try:
            self.request.check_cancelled()
            self._pipeline[index][1]()
            if index + 1 < len(self._pipeline):
                self._submit(index + 1, end)
                return
        except BaseException as error:
            self.end(end, error)
        else:
            self.end(end, None)

    def end(self, end: End, error: BaseException | None) -> None:
        """End an inference in the background, with an error or None: wake the waiting threads, after the callback."""
        self.latency = time.perf_counter() - self._began
        if error is not None:
            error = device_error(error, self._failure)
        if self._callback_executor is not None:
            with contextlib.suppress(DeviceError):  # at the end of the program, when it takes no tasks
                self._callback_executor.submit(self._complete, end, error)
                return
        self._complete(end, error)

    @property
    def _failure(self) -> str:
        """The begin of the message about an error of the device."""
        compiled = self.request.compiled_model
        return f"{compiled.device_name} failed in an inference of '{compiled.name}'"

    def _complete(self, end: End, error: Exception | None) -> None:
        if self.running is end:
            self.running = None  # before the callback, which may start the next inference
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
        end.set(error)
