"""Remote memory: bytes in host memory that represent device memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hetero.errors import PropertyError
from hetero.plugin import Region, RemoteContext, RemoteMemory, RemoteTensor
from hetero.tensor import Tensor


class TemplateContext(RemoteContext):
    def __init__(self, device_name: str, params: Mapping[str, Any]) -> None:
        super().__init__(device_name)
        _check_none(f"a context of {device_name}", params)

    def holds(self, tensor: Tensor) -> bool:
        """Return True for all tensors in host memory, as numpy computes there."""
        return not isinstance(tensor, RemoteTensor) or super().holds(tensor)

    def create_memory(self, byte_size: int, properties: Mapping[str, Any]) -> Vector:
        _check_none(f"a remote tensor of {self.get_device_name()}", properties)
        return Vector(self, byte_size)


class Vector(RemoteMemory):
    def __init__(self, context: TemplateContext, byte_size: int) -> None:
        super().__init__(context, byte_size)
        self._bytes = np.zeros(byte_size, np.uint8)

    def array(self, region: Region) -> np.ndarray:
        """Return a region without a copy."""
        return np.ndarray(region.shape, region.dtype, self._bytes, region.offset, region.strides)

    def read(self, region: Region, array: np.ndarray) -> None:
        np.copyto(array, self.array(region))

    def write(self, region: Region, array: np.ndarray) -> None:
        np.copyto(self.array(region), array)

    def resize(self, byte_size: int) -> None:
        self._bytes = np.zeros(byte_size, np.uint8)
        self.byte_size = byte_size


def _check_none(what: str, properties: Mapping[str, Any]) -> None:
    for key in properties:
        raise PropertyError(f"{what} is made without properties, but {key} is given")
