"""Watchdog: a timeout with a callback."""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable

from hetero.system.fork import renew_after_fork


class Watchdog:
    """A thread that calls the callback of ``begin`` unless ``end`` is called within ``seconds``.

    The thread starts with the first use and ends with the watchdog. The timeout is the same for all, so the oldest
    entry always expires first.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = f"hetero {name} watchdog", seconds
        self._numbers = itertools.count()
        self._set_up()
        renew_after_fork(self, Watchdog._renew)

    def _set_up(self) -> None:
        self._entries = _Entries()
        self._finalizer = weakref.finalize(self, _Entries.close, self._entries)

    def _renew(self) -> None:
        self._finalizer.detach()
        self._set_up()

    def begin(self, on_timeout: Callable[[], None]) -> int:
        """Start the timeout, and return a number for ``end``."""
        number, entries = next(self._numbers), self._entries
        with entries.changed:
            entries.running[number] = (time.monotonic() + self._seconds, on_timeout)
            if entries.thread is None:
                entries.thread = threading.Thread(target=entries.watch, name=self._name, daemon=True)
                entries.thread.start()
            elif entries.is_idle:
                entries.changed.notify()
        return number

    def end(self, number: int) -> bool:
        """Stop the timeout. Return False if it has expired: the callback was called, or is running."""
        with self._entries.changed:
            return self._entries.running.pop(number, None) is not None


class _Entries:
    """The running timeouts. The thread refers to them and not to the watchdog, which could never be freed otherwise."""

    def __init__(self) -> None:
        self.running: dict[int, tuple[float, Callable[[], None]]] = {}  # deadline and callback by number
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None
        self.is_idle = False
        self.is_closed = False

    def close(self) -> None:
        with self.changed:
            self.is_closed = True
            self.changed.notify()

    def watch(self) -> None:
        while (on_timeout := self._next_expired()) is not None:
            on_timeout()
            del on_timeout  # not kept alive while the thread waits

    def _next_expired(self) -> Callable[[], None] | None:
        """Wait until a timeout expires, and return its callback; None after ``close``."""
        with self.changed:
            while not self.is_closed:
                first, remaining = next(iter(self.running), None), None
                if first is not None:
                    remaining = self.running[first][0] - time.monotonic()
                    if remaining <= 0:
                        return self.running.pop(first)[1]
                self.is_idle = first is None
                self.changed.wait(remaining)
            return None
