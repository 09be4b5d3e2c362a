"""Running code of plugin packages: whatever it raises is an error of the package, and a hang is named in the log."""

from __future__ import annotations

import contextlib
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from hetero.errors import HeteroError, reason_of
from hetero.messages import get_logger

# After this time a package that is still being imported, or a device that is still being made, is named in the log.
SECONDS_UNTIL_NAMED = 10.0
log = get_logger("hetero.plugin")


class package_code(contextlib.AbstractContextManager[None]):
    """Context manager that turns SystemExit and the like, which would end the program, into HeteroErrors.

    The user's Ctrl-C still does: it is a signal, which a KeyboardInterrupt that a package raises by itself is not. Code
    that takes longer than SECONDS_UNTIL_NAMED is named in the log by ``doing``; it is not interrupted.
    """

    def __init__(self, doing: str) -> None:
        self._timer = threading.Timer(SECONDS_UNTIL_NAMED, self._name, [doing])
        self._timer.daemon = True
        self._handler: Any = None
        self._is_interrupted = False

    def __enter__(self) -> None:
        self._timer.start()
        # Python handles signals in the main thread only. A handler of the user's own may raise what it likes.
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

    def _name(self, doing: str) -> None:
        log.warning("%s takes longer than %g s and is waited for", doing, SECONDS_UNTIL_NAMED)
