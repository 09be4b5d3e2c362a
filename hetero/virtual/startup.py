"""Startup: the compilation for the best device in the background, while another device runs the first inferences."""

from __future__ import annotations

import threading

from hetero.dispatch.devices import ListedDevice
from hetero.plugin import Executor
from hetero.system.errors import as_exception
from hetero.system.fork import renew_after_fork
from hetero.virtual.candidates import Candidates
from hetero.virtual.pool import Pool, Worker


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
        except Exception:
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
