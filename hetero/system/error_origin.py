"""Where an error comes from: a signal such as Ctrl-C, code of others such as plugins, or hetero itself."""

from __future__ import annotations

import opcode
import sys
import threading
import traceback
from types import FrameType

_RAISE = {opcode.opmap["RAISE_VARARGS"], opcode.opmap["RERAISE"]}


def is_from_signal(error: BaseException) -> bool:
    """Return whether a handler of a signal raised an error. Python calls handlers on the main thread only.

    A handler is called with the frame that it interrupted. The default one of SIGINT is no Python code: its
    KeyboardInterrupt has a frame last that was doing something else than to raise it.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    caller: FrameType | None = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if caller is not None and any(_is_or_holds(value, caller) for value in frame.f_locals.values()):
            return True
        caller = frame
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return (
        isinstance(error, KeyboardInterrupt)
        and last is not None
        and last.tb_frame.f_code.co_code[last.tb_lasti] not in _RAISE
    )


def is_of_others(error: BaseException) -> bool:
    """Return whether code that is not hetero's, numpy's or Python's raised an error, or called what raised it."""
    own = {"hetero", "numpy", *sys.stdlib_module_names}
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_globals.get("__name__", "").partition(".")[0] not in own for frame in frames)


def _is_or_holds(value: object, frame: FrameType) -> bool:
    """Return whether an argument is the frame, or a tuple with it, as of a handler with ``*arguments``."""
    return value is frame or (type(value) is tuple and any(item is frame for item in value))
