"""Failures of devices at operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hetero.graph import Node
from hetero.system.errors import DeviceError

# Maximum number of operations that one message names.
MAX_NAMED = 5


@dataclass(frozen=True)
class Failure:
    """A device failed at these operations, by friendly name, and does not get them any more."""

    device: str
    operations: tuple[str, ...]
    error: Exception


class EstimateError(DeviceError):
    """Devices failed to estimate the cost of operations."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(str(failures[0].error))
        self.failures = failures


def names_of(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(node.friendly_name for node in nodes)


def named(nodes: Sequence[Node]) -> str:
    """Return the first few nodes for a message: ``Relu 'relu', Exp 'exp' and 3 more``."""
    shown = ", ".join(f"{node.type_info.name} '{node.friendly_name}'" for node in nodes[:MAX_NAMED])
    return shown + (f" and {len(nodes) - MAX_NAMED} more" if len(nodes) > MAX_NAMED else "")
