"""End: the end of an inference, for which threads wait."""

from __future__ import annotations

import threading
import time

# A wait begins anew after this time: a signal right before it begins does not end it.
_SIGNAL_SECONDS = 0.2


class End:
    """The end of an inference, for which threads wait, with its error.

    Ctrl-C may interrupt a wait at any instruction. It cannot leave a lock that ``set`` needs, as it can in a Future or
    a Condition.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._is_set = threading.Lock()  # held from the first call of ``set``
        self.has_come = False
        #: Whether a thread runs the inference in the background.
        self.is_taken_up = False
        self.error: BaseException | None = None

    def set(self, error: BaseException | None) -> None:
        """Let ``wait`` return, with an error or None. Does nothing the second time."""
        if self._is_set.acquire(blocking=False):
            self.error, self.has_come = error, True
            self._lock.release()

    def wait(self, timeout: float = float("inf")) -> bool:
        """Wait at most this number of seconds. Return whether the end has come."""
        deadline = time.monotonic() + timeout
        while not self.has_come:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            if self._lock.acquire(timeout=min(_SIGNAL_SECONDS, remaining)):
                self._lock.release()  # for other threads that wait
        return True

    def result(self) -> None:
        """Wait, and raise the error if there is one."""
        self.wait()
        if self.error is not None:
            raise self.error
