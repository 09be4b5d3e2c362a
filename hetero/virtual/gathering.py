"""Gathering: requests wait for each other until there are enough for a batch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from hetero.system.fork import renew_after_fork

if TYPE_CHECKING:
    from hetero.virtual.batch_request import BatchInferRequest


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
        self._ended.wait()


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
            raise

    def _close(self, batch: Batch) -> None:
        batch.is_closed = True
        self._open = None
        self._changed.notify_all()

    def wake(self) -> None:
        """Let the waiting requests check whether they were cancelled."""
        with self._changed:
            self._changed.notify_all()
