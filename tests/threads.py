"""Helpers for tests of several threads: what a thread does next is known, so that no test sleeps."""

from __future__ import annotations

import functools
import itertools
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from types import FrameType, ModuleType
from typing import Any, TypeVar

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

    def __getattr__(self, name: str) -> Any:  # for threading.Condition
        return getattr(self._lock, name)


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


def press_control_c() -> None:
    """Raise KeyboardInterrupt in the main thread, also if it waits."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


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


class Interleaving:
    """Runs a function and, on another thread, ``meanwhile`` at one line of it in the given modules.

    That is the line executed as number ``point``, counted from 1. It is executed when ``meanwhile`` has ended or
    ``settled`` is set, which WatchedLocks do if it waits for one of them.
    """

    def __init__(
        self, point: int, meanwhile: Callable[[], object], settled: threading.Event, modules: Sequence[ModuleType]
    ) -> None:
        self._lines_left, self._meanwhile, self._settled = point, meanwhile, settled
        self._files = {module.__file__ for module in modules}
        self.other: Future[object] | None = None  # None if the function had fewer lines

    def run(self, task: Callable[[], object]) -> object:
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            return _outcome(task)
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        if event == "line":
            self._lines_left -= 1
            if self._lines_left == 0:
                self._settled.clear()
                self.other = started(self._meanwhile)
                self.other.add_done_callback(lambda _: self._settled.set())
                assert self._settled.wait(PATIENCE)
        return self._trace


def interleaved(
    task: Callable[[], object], meanwhile: Callable[[], object], settled: threading.Event, *modules: ModuleType
) -> Iterator[tuple[object, object]]:
    """Yield the results of both functions for each Interleaving of them; an error is a result too."""
    for point in itertools.count(1):
        interleaving = Interleaving(point, meanwhile, settled, modules)
        result = interleaving.run(task)
        if interleaving.other is None:
            return
        yield result, _outcome(functools.partial(interleaving.other.result, PATIENCE))


def _outcome(task: Callable[[], object]) -> object:
    try:
        return task()
    except Exception as error:
        return error
