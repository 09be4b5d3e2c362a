"""Calls of devices that may hang."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from hetero.system.errors import DeviceError

Result = TypeVar("Result")


def call_within(seconds: float, problem: str, function: Callable[..., Result], *arguments: Any) -> Result:
    """Return what a function returns, if it does so within ``seconds``; 0 for no limit.

    With a limit it runs on a thread of its own, which is abandoned if it takes longer. Then raises DeviceError with
    ``problem`` and the limit.
    """
    if not seconds:
        return function(*arguments)
    outcome: Future[Result] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(function, *arguments))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name=f"hetero {function.__qualname__}", daemon=True).start()
    if not wait([outcome], seconds).done:
        raise DeviceError(f"{problem} within {seconds * 1e3:g} ms")
    return outcome.result()
