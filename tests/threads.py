"""Helpers for tests of several threads: what a thread does next is known, so that no test sleeps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")
# Seconds; long for a program that works, also on a busy machine.
PATIENCE = 60


class WatchedLock:
    """A reentrant lock that sets ``blocked`` when a thread has to wait for it."""

    def __init__(self, blocked: threading.Event) -> None:
        self._lock, self._blocked = threading.RLock(), blocked

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._blocked.set()
            assert self._lock.acquire(timeout=PATIENCE)

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class Gate:
    """A point at which threads wait until ``open`` is called; ``reached`` is set when the first one is there."""

    def __init__(self) -> None:
        self.reached, self._opened = threading.Event(), threading.Event()

    def wait(self) -> None:
        self.reached.set()
        assert self._opened.wait(PATIENCE)

    def wait_until_reached(self) -> None:
        assert self.reached.wait(PATIENCE)

    def open(self) -> None:
        self._opened.set()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *error: object) -> None:
        self.open()


def started(task: Callable[[], _T]) -> Future[_T]:
    """Run a function on a thread of its own, which does not keep the program from ending."""
    ended: Future[_T] = Future()

    def run() -> None:
        try:
            ended.set_result(task())
        except BaseException as error:
            ended.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return ended
