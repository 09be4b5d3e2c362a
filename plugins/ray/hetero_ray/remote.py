"""Remote tensors: arrays in Ray's object store. A node reads what another one wrote without the host between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hetero.plugin import Region, RemoteContext, RemoteMemory
from hetero.system.errors import PropertyError
from hetero_ray.shipping import bytes_of
from hetero_ray.worker_client import ray_errors

#: The parameter of a remote tensor that is its ObjectRef: of an array in row-major order.
OBJECT_REF = "RAY_OBJECT_REF"


class RayContext(RemoteContext):
    """The object store of the cluster. The contexts of all nodes are equal, as nodes read each other's objects."""

    def __init__(self, device_name: str, cluster: object, params: Mapping[str, Any]) -> None:
        super().__init__(device_name)
        _check_keys(f"a context of {device_name}", params, ())
        self._cluster = cluster

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RayContext) and other._cluster is self._cluster

    def __hash__(self) -> int:
        return hash(id(self._cluster))

    def create_memory(self, byte_size: int, properties: Mapping[str, Any]) -> RayMemory:
        _check_keys(f"a remote tensor of {self.get_device_name()}", properties, (OBJECT_REF,))
        memory = RayMemory(self, byte_size)
        if OBJECT_REF in properties:
            memory.store(properties[OBJECT_REF], byte_size)
        return memory


class _Layer(NamedTuple):
    reference: Any
    byte_size: int


class RayMemory(RemoteMemory):
    """Bytes whose contents are objects, which do not change: a write adds an object.

    An object holds the first bytes of the memory. Further bytes are those of larger objects that were written before.
    """

    def __init__(self, context: RayContext, byte_size: int) -> None:
        super().__init__(context, byte_size)
        self._layers: list[_Layer] = []  # the last one was written last, and is the smallest

    def store(self, reference: Any, byte_size: int) -> None:
        """Make an object the first bytes of the contents."""
        self._layers = [layer for layer in self._layers if layer.byte_size > byte_size]
        self._layers.append(_Layer(reference, byte_size))

    def reference(self, region: Region) -> Any:
        """Return the object that begins with the bytes of a region; None if there is none."""
        is_first = region.offset == 0 and region.is_continuous()
        if is_first and self._layers and self._layers[-1].byte_size >= region.byte_size:
            return self._layers[-1].reference
        return None

    def read(self, region: Region, array: np.ndarray) -> None:
        reference = self.reference(region)
        content = self._content() if reference is None else self._bytes_in(reference)
        np.copyto(array, np.ndarray(region.shape, region.dtype, content.data, region.offset, region.strides))

    def write(self, region: Region, array: np.ndarray) -> None:
        import ray

        if region.offset == 0 and region.is_continuous():
            content, byte_size = np.array(array, order="C"), region.byte_size
        else:
            content, byte_size = self._content(), self.byte_size
            np.copyto(np.ndarray(region.shape, region.dtype, content.data, region.offset, region.strides), array)
        with ray_errors(self.context.get_device_name()):
            self.store(ray.put(content), byte_size)

    def copy(self, region: Region, source: RemoteMemory, source_region: Region) -> None:
        reference = source.reference(source_region) if isinstance(source, RayMemory) else None
        if reference is not None and region.offset == 0 and region.is_continuous():
            self.store(reference, region.byte_size)
        else:
            super().copy(region, source, source_region)

    def resize(self, byte_size: int) -> None:
        self.byte_size = byte_size

    def get_properties(self) -> dict[str, Any]:
        return {OBJECT_REF: self._layers[-1].reference} if self._layers else {}

    def _content(self) -> np.ndarray:
        """Return a copy of all bytes; those that were never written are zeros."""
        content = np.zeros(self.byte_size, np.uint8)
        for reference, byte_size in self._layers:
            content[:byte_size] = self._bytes_in(reference)[:byte_size]
        return content

    def _bytes_in(self, reference: Any) -> np.ndarray:
        import ray

        with ray_errors(self.context.get_device_name()):
            return bytes_of(ray.get(reference))


def _check_keys(what: str, properties: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in properties:
        if key not in known:
            accepted = f"it takes {', '.join(known)}" if known else "it takes none"
            raise PropertyError(f"{what} has no property {key}: {accepted}")
