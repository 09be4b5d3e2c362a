"""A model as it is sent to a worker: an IR, with its large weights in Ray's object store.

A weight is put into the store once, for all queries and compilations of all nodes, as long as one of them needs it.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.core.types import Type
from hetero.plugin import Section
from hetero_ray.worker_client import ray_errors

# Weights of at least this many bytes are put into the object store. Smaller ones go with the IR.
_MIN_SHARED = 1 << 16

#: The element type and the shape of an array.
View = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Shipment:
    """The sections of an IR. A weight in the object store is given by its index among the arrays sent along."""

    sections: Mapping[str, bytes]
    weights: Sequence[bytes | int]


@dataclass
class Shared:
    """An array in the object store, which lives as long as this object."""

    reference: Any


@dataclass
class Cargo:
    """A shipment, and the arrays to send along."""

    shipment: Shipment
    shared: list[Shared] = field(default_factory=list)

    @property
    def references(self) -> list[Any]:
        return [entry.reference for entry in self.shared]


class ObjectStore:
    """The weights that this process has put into Ray's object store."""

    def __init__(self) -> None:
        self._shared: weakref.WeakValueDictionary[tuple[bytes, int], Shared] = weakref.WeakValueDictionary()

    def pack(self, sections: Mapping[str, Section]) -> Cargo:
        """Return the sections of an IR as a shipment. Weights that are not in the store yet are put there."""
        weights: list[bytes | int] = []
        cargo = Cargo(
            Shipment({name: b"".join(_pieces(s)) for name, s in sections.items() if name != "weights"}, weights)
        )
        small = bytearray()
        for piece in _pieces(sections["weights"]):
            content = memoryview(piece)
            if content.nbytes < _MIN_SHARED:
                small += content
                continue
            weights += [bytes(small), len(cargo.shared)] if small else [len(cargo.shared)]
            small.clear()
            cargo.shared.append(self._put(content))
        weights.append(bytes(small))
        return cargo

    def _put(self, content: memoryview) -> Shared:
        import ray

        key = hashlib.blake2b(content, digest_size=16).digest(), content.nbytes
        shared = self._shared.get(key)
        if shared is None:
            with ray_errors("RAY"):
                shared = self._shared[key] = Shared(ray.put(np.frombuffer(content, np.uint8)))
        return shared


def unpacked(shipment: Shipment, arrays: Sequence[np.ndarray]) -> dict[str, memoryview]:
    """Return the sections of a shipment, given the arrays that were sent along."""
    weights = b"".join(arrays[part].data if isinstance(part, int) else part for part in shipment.weights)
    return {name: memoryview(content) for name, content in {**shipment.sections, "weights": weights}.items()}


def view_of(array: np.ndarray, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the first bytes of a contiguous array as an array of this type and shape, without a copy."""
    dtype = Type(kind).to_dtype()
    if (array.dtype, array.shape) == (dtype, shape):
        return array
    return np.ndarray(shape, dtype, bytes_of(array).data)


def bytes_of(array: np.ndarray) -> np.ndarray:
    """Return the bytes of a contiguous array without a copy."""
    return array.reshape(-1).view(np.uint8)


def _pieces(section: Section) -> Sequence[bytes | memoryview]:
    return [section] if isinstance(section, (bytes, memoryview)) else section
