"""Execution of code of plugin packages: every exception becomes a HeteroError or passes, and a hang is logged."""

from __future__ import annotations

import contextlib
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from hetero.system.errors import HeteroError, reason_of
from hetero.system.messages import get_logger

# Time after which a package that is still being imported, or a device that is still being created, is logged.
SECONDS_UNTIL_LOGGED = 10.0
log = get_logger("hetero.plugin")


class package_code(contextlib.AbstractContextManager[None]):
    """Context manager that converts SystemExit and the like, which would end the program, to HeteroErrors.

    The user's Ctrl-C still ends the program: it arrives as a signal, unlike a KeyboardInterrupt that a package raises
    itself. Code that takes longer than SECONDS_UNTIL_LOGGED is logged as ``doing``, but not interrupted.
    """

    def __init__(self, doing: str) -> None:
        self._timer = threading.Timer(SECONDS_UNTIL_LOGGED, self._log_hang, [doing])
        self._timer.daemon = True
        self._handler: Any = None
        self._is_interrupted = False

    def __enter__(self) -> None:
        self._timer.start()
        # Python handles signals in the main thread only. A handler of the user may raise any exception.
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.getsignal(signal.SIGINT)
            if callable(self._handler):
                signal.signal(signal.SIGINT, self._interrupt)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._timer.cancel()
        if callable(self._handler) and signal.getsignal(signal.SIGINT) == self._interrupt:
            signal.signal(signal.SIGINT, self._handler)
        if not (error is None or isinstance(error, Exception) or self._is_interrupted):
            raise HeteroError(reason_of(error)) from error

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._is_interrupted = True
        self._handler(number, frame)

    def _log_hang(self, doing: str) -> None:
        log.warning("%s takes longer than %g s and continues", doing, SECONDS_UNTIL_LOGGED)
