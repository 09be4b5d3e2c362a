"""Watchdog: notices what takes longer than it may."""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable

from hetero.fork import renew_after_fork


class Watchdog:
    """Calls what ``begin`` was given when so many seconds passed before ``end``, on a thread of its own.

    The thread begins with the first use and ends with the watchdog. All have the same time, so the one that began
    first is also the first whose time is over.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = f"hetero {name} watchdog", seconds
        self._numbers = itertools.count()
        self._set_up()
        renew_after_fork(self, Watchdog._renew)

    def _set_up(self) -> None:
        self._watched = _Watched()
        self._end = weakref.finalize(self, _Watched.close, self._watched)

    def _renew(self) -> None:
        self._end.detach()
        self._set_up()

    def begin(self, on_timeout: Callable[[], None]) -> int:
        """A number for ``end``."""
        number, watched = next(self._numbers), self._watched
        with watched.changed:
            watched.running[number] = (time.monotonic() + self._seconds, on_timeout)
            if watched.thread is None:
                watched.thread = threading.Thread(target=watched.watch, name=self._name, daemon=True)
                watched.thread.start()
            elif watched.is_idle:
                watched.changed.notify()
        return number

    def end(self, number: int) -> bool:
        """Whether it ended in time; else what is to be done was done, or is being done."""
        with self._watched.changed:
            return self._watched.running.pop(number, None) is not None


class _Watched:
    """What the thread knows: it does not hold the watchdog, which would else never be let go."""

    def __init__(self) -> None:
        self.running: dict[int, tuple[float, Callable[[], None]]] = {}
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None
        self.is_idle = False
        self.is_closed = False

    def close(self) -> None:
        with self.changed:
            self.is_closed = True
            self.changed.notify()

    def watch(self) -> None:
        while (on_timeout := self._next()) is not None:
            on_timeout()
            del on_timeout  # it is not kept alive while the thread waits

    def _next(self) -> Callable[[], None] | None:
        """Wait for the next that is over time; None at the end."""
        with self.changed:
            while not self.is_closed:
                first = next(iter(self.running), None)
                deadline = None if first is None else self.running[first][0]
                if deadline is not None and deadline <= time.monotonic():
                    return self.running.pop(first)[1]
                self.is_idle = deadline is None
                self.changed.wait(None if deadline is None else deadline - time.monotonic())
            return None
