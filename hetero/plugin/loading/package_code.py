"""Execution of code of plugin packages: every exception becomes a HeteroError or passes, and a hang is logged."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType

from hetero.system.error_origin import is_from_signal
from hetero.system.errors import HeteroError, reason_of
from hetero.system.messages import get_logger

# Time after which a package that is still being imported, or a device that is still being created, is logged.
SECONDS_UNTIL_LOGGED = 10.0
log = get_logger("hetero.plugin")


class package_code(contextlib.AbstractContextManager[None]):
    """Context manager that converts SystemExit and the like, which would end the program, to HeteroErrors.

    What a signal such as the user's Ctrl-C raises still ends the program. Code that takes longer than
    SECONDS_UNTIL_LOGGED is logged as ``doing``, but not interrupted.
    """

    def __init__(self, doing: str) -> None:
        self._timer = threading.Timer(SECONDS_UNTIL_LOGGED, self._log_hang, [doing])
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._timer.cancel()
        if not (error is None or isinstance(error, Exception) or is_from_signal(error)):
            raise HeteroError(reason_of(error)) from error

    def _log_hang(self, doing: str) -> None:
        log.warning("%s takes longer than %g s and continues", doing, SECONDS_UNTIL_LOGGED)
