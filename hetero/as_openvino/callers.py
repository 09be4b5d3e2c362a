"""Whose code asks for a module, or for a name of one: the program's, or that of a plugin of hetero.

A plugin may run models with the real openvino. Both worlds import modules of the same names, which ``sys.modules`` can
hold once only, so one module answers each caller with its own.
"""

from __future__ import annotations

import functools
import importlib.metadata
import sys
from collections.abc import Iterator
from types import FrameType

_IMPORT_SYSTEM = {"importlib", "importlib.util", "importlib._bootstrap", "_frozen_importlib", "importlib.metadata"}


def wants_real_package() -> bool:
    """Return whether the code that imports or reads now is the real openvino's, or a plugin's."""
    caller = next(_callers(), None)
    root = str(caller.f_globals.get("__name__")).partition(".")[0] if caller else ""
    return root == "openvino" or root in _plugin_packages()


def is_import() -> bool:
    """Return whether the module that is searched for is imported, and not only looked for, as by find_spec."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_globals.get("__name__") in {__name__, f"{__package__}.modules", *_IMPORT_SYSTEM}:
        if frame.f_code.co_name == "_find_and_load_unlocked":
            return True
        frame = frame.f_back
    return False


def _callers() -> Iterator[FrameType]:
    """Yield the frames below this package and the import system."""
    frame: FrameType | None = sys._getframe(1)
    while frame:
        name = str(frame.f_globals.get("__name__"))
        if name not in _IMPORT_SYSTEM and not name.startswith(f"{__package__}."):
            yield frame
        frame = frame.f_back


@functools.cache
def _plugin_packages() -> set[str]:
    """Return the packages that declare plugins of hetero, without hetero."""
    entry_points = importlib.metadata.entry_points(group="hetero")
    return {entry_point.module.partition(".")[0] for entry_point in entry_points} - {"hetero"}
