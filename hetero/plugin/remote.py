"""RemoteContext: memory of a device, and the tensors in it."""

from __future__ import annotations

from abc import ABC, abstractmethod


class RemoteContext(ABC):
    """Memory of a device that tensors are made in."""

    @abstractmethod
    def get_device_name(self) -> str:
        """The device that the memory is of (required)."""
