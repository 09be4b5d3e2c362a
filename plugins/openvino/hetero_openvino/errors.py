"""Errors of OpenVINO."""

from __future__ import annotations

import os

from hetero.system.errors import DeviceError

# The process that loaded OpenVINO.
_process = os.getpid()
# Beginnings of the lines that name a place in OpenVINO's sources, before the reason.
_PLACES = ("Exception from ", "Check ", "While validating ")


def message_of(error: BaseException) -> str:
    """Return the reason in a message of OpenVINO as one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    return " ".join(line for line in lines if line and not line.startswith(_PLACES)) or " ".join(lines)


def check_process() -> None:
    """Raise DeviceError if this process was forked after OpenVINO was loaded, as its threads are missing here."""
    if os.getpid() != _process:
        raise DeviceError(
            "OPENVINO cannot be used in this process, which was forked after OpenVINO was loaded: start processes by "
            'the spawn method, as multiprocessing.get_context("spawn") does'
        )
