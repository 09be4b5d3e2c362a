"""Executors: thread pools for the stages of inferences in the background."""

from __future__ import annotations

import atexit
import heapq
import itertools
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from hetero.system.errors import DeviceError
from hetero.system.fork import renew_after_fork
from hetero.system.messages import get_logger
from hetero.system.tracing import span

log = get_logger("hetero.plugin")

# The priority, negated; a number by which tasks of equal priority are in order; the function, None to end a thread; and
# its arguments.
_Entry = tuple[float, int, Callable[..., None] | None, tuple[Any, ...]]

# Seconds that the program waits at exit for running tasks; longer ones are abandoned.
SECONDS_AT_EXIT = 5.0
_alive: weakref.WeakKeyDictionary[Executor, None] = weakref.WeakKeyDictionary()


class _Tasks:
    """Tasks in order of priority. Ctrl-C may interrupt ``put`` at any instruction, unlike that of a PriorityQueue."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heap: list[_Entry] = []
        self._tokens: queue.SimpleQueue[None] = queue.SimpleQueue()

    def put(self, task: _Entry) -> None:
        with self._lock:
            self._tokens.put(None)  # first, as a token without a task does no harm, and a task without a token waits
            heapq.heappush(self._heap, task)

    def get(self) -> _Entry:
        """Remove the first task, after waiting for one, and return it."""
        while True:
            self._tokens.get()
            with self._lock:
                if self._heap:
                    return heapq.heappop(self._heap)


class Executor:
    """A thread pool with a priority queue. Tasks of equal priority run in the order in which they were submitted.

    Threads start on demand and end when the executor is garbage-collected. They do not keep the program from ending. In
    a child process of os.fork() the executor starts with new threads and no tasks.
    """

    def __init__(self, name: str, threads: int = 1) -> None:
        self.name = name
        self.size = threads
        self._number = itertools.count()
        self._set_up()
        _alive[self] = None
        renew_after_fork(self, Executor._renew)

    def _set_up(self) -> None:
        self._lock = threading.Lock()
        self._tasks = _Tasks()
        self._threads: list[threading.Thread] = []
        self._end = weakref.finalize(self, _send_end, self._tasks, self._threads)
        self._end.atexit = False

    def _renew(self) -> None:
        was_open = self._end.detach()
        self._set_up()
        if not was_open:
            self._end.detach()

    def submit(self, task: Callable[..., None], *arguments: Any, priority: int = 0) -> None:
        """Queue a task. Raises DeviceError after ``shutdown``."""
        with self._lock:
            if not self._end.alive:
                raise DeviceError(f"executor {self.name} was shut down")
            if len(self._threads) < self.size:
                self._add_thread()
            self._tasks.put((-priority, next(self._number), task, arguments))

    def shutdown(self, timeout: float | None = None) -> bool:
        """Run the queued tasks and end the threads. Return whether all ended within ``timeout`` seconds each.

        Threads that did not are logged.
        """
        with self._lock:
            if self._end.detach():
                _send_end(self._tasks, self._threads)
        others = [thread for thread in self._threads if thread is not threading.current_thread()]
        for thread in others:
            thread.join(timeout)
        hanging = [thread.name for thread in others if thread.is_alive()]
        if hanging:
            log.warning("a task of %s does not end; its thread is abandoned", ", ".join(hanging))
        return not hanging

    def abandon(self, thread: threading.Thread) -> None:
        """Replace a thread that hangs. It is not waited for any more, also at exit."""
        with self._lock:
            if thread in self._threads:
                self._threads.remove(thread)
                if self._end.alive:
                    self._add_thread()

    def _add_thread(self) -> None:
        name = f"hetero {self.name} {len(self._threads)}"
        thread = threading.Thread(target=_work, args=[self._tasks, self._threads], name=name, daemon=True)
        self._threads.append(thread)
        thread.start()


class Executors:
    """Executors by name. An executor lives as long as it is referenced."""

    def __init__(self) -> None:
        self._by_name: weakref.WeakValueDictionary[str, Executor] = weakref.WeakValueDictionary()
        self._renew()
        renew_after_fork(self, Executors._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def get(self, name: str, threads: int = 1) -> Executor:
        """Return the executor of this name, created with this number of threads if it does not exist."""
        with self._lock:
            executor = self._by_name.get(name)
            if executor is None:
                executor = self._by_name[name] = Executor(name, threads)
        return executor


def _work(tasks: _Tasks, threads: list[threading.Thread]) -> None:
    # A reference to the executor would keep it alive.
    np.seterr(all="ignore")  # infinities and NaN are valid results of inferences
    while threading.current_thread() in threads:
        _, number, task, arguments = tasks.get()
        if task is None:
            if threading.current_thread() not in threads:
                tasks.put((float("inf"), number, None, ()))  # another thread must end
            return
        try:
            with span("task"):
                task(*arguments)
        except BaseException:  # SystemExit too, as it would end this thread
            log.exception("a task of %s failed", threading.current_thread().name)
        del task, arguments  # not kept alive while the thread waits


def _send_end(tasks: _Tasks, threads: list[threading.Thread]) -> None:
    for index, _ in enumerate(threads):
        tasks.put((float("inf"), index, None, ()))


@atexit.register
def _end_all() -> None:
    for reference in _alive.keyrefs():  # one step, while other threads make executors
        if (executor := reference()) is not None:
            executor.shutdown(SECONDS_AT_EXIT)
