"""Errors of OpenVINO."""

from __future__ import annotations

from hetero.plugin import ForkGuard

fork_guard = ForkGuard("OPENVINO", "OpenVINO was loaded")
fork_guard.watch()
# Beginnings of the lines that name a place in OpenVINO's sources, before the reason.
_PLACES = ("Exception from ", "Check ", "While validating ")


def message_of(error: BaseException) -> str:
    """Return the reason in a message of OpenVINO as one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    return " ".join(line for line in lines if line and not line.startswith(_PLACES)) or " ".join(lines)
