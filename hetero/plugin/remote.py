"""RemoteContext and RemoteTensor: tensors in memory that a device owns.

What an author writes: a RemoteMemory that can be read and written by the host, and a RemoteContext that makes it.
All else, shapes, regions and copies between any two tensors, is here once for all devices.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from hetero.containers import ContainerType
from hetero.errors import TensorError
from hetero.tensor import Tensor, region_of, smaller_region
from hetero.types import Type


@dataclass(frozen=True)
class Region:
    """Which bytes of a memory a tensor is made of: where its first element is, and from there ``strides``, in bytes."""

    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def whole(cls, dtype: np.dtype, shape: Sequence[int]) -> Region:
        """Elements one after the other, in rows, from the start of the memory."""
        strides = [dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        return cls(0, dtype, tuple(shape), tuple(strides))

    @property
    def byte_size(self) -> int:
        """Bytes of its elements, without what may lie between them."""
        return math.prod(self.shape) * self.dtype.itemsize

    def is_continuous(self) -> bool:
        """Whether its elements lie one after the other, in rows."""
        dense = Region.whole(self.dtype, self.shape).strides
        return 0 in self.shape or all(n == 1 or a == b for n, a, b in zip(self.shape, self.strides, dense))

    def part(self, slices: Sequence[slice]) -> Region:
        """The region of a part of each axis."""
        offset = self.offset + sum(part.start * stride for part, stride in zip(slices, self.strides))
        return Region(offset, self.dtype, tuple(part.stop - part.start for part in slices), self.strides)


class RemoteMemory(ABC):
    """Memory of a device. An author defines ``read`` and ``write``; the rest has a default."""

    def __init__(self, context: RemoteContext, byte_size: int) -> None:
        self.context = context
        self.byte_size = byte_size

    @abstractmethod
    def read(self, region: Region, array: np.ndarray) -> None:
        """Copy a region into an array of the host, of the region's shape and type (required)."""

    @abstractmethod
    def write(self, region: Region, array: np.ndarray) -> None:
        """Copy an array of the host, of the region's shape and type, into a region (required)."""

    def copy(self, region: Region, source: RemoteMemory, source_region: Region) -> None:
        """Copy a region of another memory of the same shape and type into one of this (optional).

        By default through host memory; a device does it by itself where the context is its own.
        """
        array = np.empty(region.shape, region.dtype)
        source.read(source_region, array)
        self.write(region, array)

    def array(self, region: Region) -> np.ndarray:
        """The region itself as an array (optional): where the host sees the memory. By default raises TensorError."""
        raise TensorError(f"the host does not see the memory of {self.context.get_device_name()}")

    def overlaps(self, region: Region, other: RemoteMemory, other_region: Region) -> bool:
        """Whether two regions may have a byte in common (optional). By default wherever the memory is the same."""
        return other is self

    def resize(self, byte_size: int) -> None:
        """Become larger; what was there may be lost (optional). By default raises TensorError."""
        raise TensorError(
            f"a tensor over {self.byte_size} bytes of {self.context.get_device_name()} cannot grow to {byte_size} bytes"
        )

    def get_params(self) -> dict[str, Any]:
        """The handles behind it, under the device's keys (optional)."""
        return {}


class RemoteContext(ABC):
    """Memory of a device that tensors are made in. Two contexts that are equal share their memory."""

    def __init__(self, device_name: str) -> None:
        self._device_name = device_name

    @abstractmethod
    def create_memory(self, byte_size: int, properties: Mapping[str, Any]) -> RemoteMemory:
        """Memory of at least so many bytes (required): new, or what ``properties`` names under keys of the device.

        Raises PropertyError for keys that the device does not know.
        """

    def get_device_name(self) -> str:
        """The device that the memory is of: ``GPU.0``."""
        return self._device_name

    def get_params(self) -> dict[str, Any]:
        """The handles behind the context, under the device's keys (optional)."""
        return {}

    def create_tensor(
        self, type: Type, shape: Sequence[int], properties: Mapping[str, Any] | None = None
    ) -> RemoteTensor:
        """A tensor in the device's memory: in new memory, or in what ``properties`` names.

        Raises TensorError for a type that devices do not hold and where the memory named is too small or not the
        context's, PropertyError for a bad key or value.
        """
        byte_size = math.prod(shape) * _dtype_of(type).itemsize
        return RemoteTensor(self.create_memory(byte_size, properties or {}), type, shape)

    def create_host_tensor(self, type: Type, shape: Sequence[int]) -> Tensor:
        """A tensor in host memory, of the kind that the device copies from fastest (optional).

        Where the device computes in memory that the host sees, that is a SharedTensor.
        """
        return Tensor(type, shape)

    def holds(self, tensor: Tensor) -> bool:
        """Whether the device computes in the memory of a tensor itself, so that nothing is copied (optional).

        By default in that of remote and shared tensors of an equal context.
        """
        return isinstance(tensor, (RemoteTensor, SharedTensor)) and (tensor.context is self or tensor.context == self)


class RemoteTensor(Tensor):
    """A tensor in memory that a device owns: made by ``RemoteContext.create_tensor``, or a region of another one.

    ``RemoteTensor(remote, begin, end)`` is a region as that of a Tensor is. Its elements are to be had by ``copy_to``.
    An element of a type of less than 8 bits takes a byte.
    """

    @overload
    def __init__(self, remote_tensor: RemoteTensor, begin: Sequence[int], end: Sequence[int]) -> None: ...
    @overload
    def __init__(self, memory: RemoteMemory, type: Type, shape: Sequence[int]) -> None: ...

    def __init__(self, source, second, third) -> None:
        self._is_region = isinstance(source, RemoteTensor)
        if self._is_region:
            self.memory: RemoteMemory = source.memory
            self._element_type = source.element_type
            self.region = source.region.part(region_of(source.shape, second, third))
        elif isinstance(source, RemoteMemory):
            self.memory, self._element_type = source, Type(second)
            self.region = Region.whole(_dtype_of(second), third)
            _check_room(source, second, self.region)
        else:
            raise TensorError(f"a remote tensor is made from another one, not from {type(source).__name__}")

    @property
    def context(self) -> RemoteContext:
        return self.memory.context

    def get_device_name(self) -> str:
        """The device that holds it: ``GPU.0``."""
        return self.context.get_device_name()

    def get_params(self) -> dict[str, Any]:
        """The handles behind the tensor, under the device's keys, for work on it by other means."""
        return self.memory.get_params()

    @staticmethod
    def type_check(tensor: Tensor, type_info: Mapping[str, Any] | None = None) -> None:
        """Raise TensorError unless the tensor is a remote one whose parameters are as said.

        For each key of ``type_info`` the value that the parameter must have, or a list of those that it may have; with
        an empty list or None the parameter only has to be there.
        """
        if not isinstance(tensor, RemoteTensor):
            raise TensorError(f"a remote tensor is wanted, but this {type(tensor).__name__} is in host memory")
        params = tensor.get_params()
        for key, wanted in (type_info or {}).items():
            if key not in params:
                raise TensorError(f"the remote tensor has no parameter {key}; it has {', '.join(sorted(params))}")
            accepted = list(wanted) if isinstance(wanted, (list, tuple)) else [] if wanted is None else [wanted]
            if accepted and not any(params[key] == value for value in accepted):
                options = " or ".join(str(value) for value in accepted)
                raise TensorError(f"the remote tensor has {key} {params[key]}, but {options} is wanted")

    @property
    def data(self) -> np.ndarray:
        """Raises TensorError: the host does not see the memory."""
        raise TensorError(
            f"a remote tensor is in the memory of {self.get_device_name()}: copy it to a host tensor by copy_to, "
            "or take a region of it by RemoteTensor(remote, begin, end)"
        )

    @property
    def element_type(self) -> Type:
        return self._element_type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.region.shape

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        self.set_shape(shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def byte_size(self) -> int:
        return self.region.byte_size

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self.region.strides

    def is_continuous(self) -> bool:
        return self.region.is_continuous()

    def set_shape(self, shape: Sequence[int]) -> None:
        """Give the tensor another shape; what it held is lost.

        Raises TensorError where memory of the user's own is too small, and where a region would grow along an axis.
        """
        shape = tuple(shape)
        if shape == self.shape:
            return
        if self._is_region:
            self.region = self.region.part(smaller_region([slice(0, n) for n in self.shape], shape))
            return
        region = Region.whole(self.region.dtype, shape)
        if region.byte_size > self.memory.byte_size:
            self.memory.resize(region.byte_size)
        self.region = region

    def copy_from(self, source: Tensor | np.ndarray) -> None:
        """Copy the elements of a tensor, remote or not, or an array into this one, which takes its shape.

        Raises TensorError where the element type differs, or the memory cannot take the shape.
        """
        found = source.element_type if isinstance(source, Tensor) else Type(source.dtype)
        if found is not self.element_type:
            raise TensorError(f"a remote tensor of {self.element_type} cannot be filled with {found} elements")
        self.set_shape(source.shape)
        if isinstance(source, RemoteTensor):
            self.memory.copy(self.region, source.memory, source.region)
        else:
            self.memory.write(self.region, source.data if isinstance(source, Tensor) else source)

    def read(self, array: np.ndarray) -> None:
        """Copy the elements into an array of the tensor's shape. Raises TensorError where its type differs."""
        if array.dtype != self.region.dtype:
            raise TensorError(f"a remote tensor of {self.element_type} cannot be copied to {array.dtype} elements")
        self.memory.read(self.region, array)

    def take(self, array: np.ndarray) -> None:
        """Hold what the array holds, by copying it."""
        self.copy_from(array)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.data  # raises TensorError


class SharedTensor(Tensor):
    """A tensor in memory that a device computes in and the host sees, which ``RemoteMemory.array`` hands out.

    To devices that do not share the memory it is a tensor in host memory as any other.
    """

    def __init__(self, memory: RemoteMemory, type: Type, shape: Sequence[int]) -> None:
        self.memory = memory
        self.region = Region.whole(_dtype_of(type), shape)
        self._element_type = Type(type)
        self._whole, self._owns_memory = None, False
        _check_room(memory, type, self.region)

    @property
    def context(self) -> RemoteContext:
        return self.memory.context

    @property
    def data(self) -> np.ndarray:
        return self.memory.array(self.region)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.region.shape

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        self.set_shape(shape)

    def set_shape(self, shape: Sequence[int]) -> None:
        """Give the tensor another shape; what it held is lost."""
        if tuple(shape) != self.shape:
            self.region = Region.whole(self.region.dtype, shape)
            if self.region.byte_size > self.memory.byte_size:
                self.memory.resize(self.region.byte_size)


def overlap(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors may have memory in common, so that what is written to one is read from the other."""
    if one is other:
        return True
    if isinstance(one, RemoteTensor) and isinstance(other, RemoteTensor):
        return one.memory.overlaps(one.region, other.memory, other.region)
    if isinstance(one, RemoteTensor) or isinstance(other, RemoteTensor):
        return False
    return np.may_share_memory(one.data, other.data)


def _check_room(memory: RemoteMemory, kind: Type, region: Region) -> None:
    if region.byte_size > memory.byte_size:
        held = f"{memory.byte_size} bytes of {memory.context.get_device_name()}"
        raise TensorError(f"a tensor of {kind}{list(region.shape)} does not fit into {held}")


def _dtype_of(kind: Type) -> np.dtype:
    if isinstance(kind, ContainerType) or Type(kind) in (Type.dynamic, Type.string):
        raise TensorError(f"a remote tensor cannot hold {kind} elements: it takes numbers and booleans")
    return Type(kind).to_dtype()
