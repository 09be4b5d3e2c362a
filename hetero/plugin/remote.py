"""RemoteContext and RemoteTensor: tensors in device memory.

An author implements a RemoteMemory, which the host can read and write, and a RemoteContext, which allocates it. Shapes,
regions and copies between tensors are implemented here for all devices.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from hetero.core.containers import ContainerType, ElementType
from hetero.core.regions import region_of, smaller_region
from hetero.core.static_shape import Strides
from hetero.core.tensor import Tensor
from hetero.core.tensor_memory import strides_in_bytes
from hetero.core.types import Type
from hetero.system.errors import TensorError


@dataclass(frozen=True)
class Region:
    """The part of a memory that a tensor occupies: the offset of its first element, and its strides, both in bytes."""

    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def whole(cls, dtype: np.dtype, shape: Sequence[int]) -> Region:
        """Return a dense row-major region at the start of the memory."""
        dense = dtype.itemsize if all(shape[-1:]) else 0  # as in OpenVINO
        strides = [dense * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        return cls(0, dtype, tuple(shape), tuple(strides))

    @property
    def byte_size(self) -> int:
        """The bytes of its elements, without gaps between them."""
        return math.prod(self.shape) * self.dtype.itemsize

    def is_continuous(self) -> bool:
        """Return whether the region is dense and row-major."""
        dense = self.dtype.itemsize
        for length, stride in zip(reversed(self.shape), reversed(self.strides)):
            if length != 1 and stride != dense:
                return 0 in self.shape
            dense *= length
        return True

    def part(self, slices: Sequence[slice]) -> Region:
        """Return the region of a slice along each axis."""
        offset = self.offset + sum(part.start * stride for part, stride in zip(slices, self.strides))
        return Region(offset, self.dtype, tuple(part.stop - part.start for part in slices), self.strides)


class RemoteMemory(ABC):
    """Device memory. An author defines ``read`` and ``write``; the rest has a default."""

    def __init__(self, context: RemoteContext, byte_size: int) -> None:
        self.context = context
        self.byte_size = byte_size

    @abstractmethod
    def read(self, region: Region, array: np.ndarray) -> None:
        """Copy a region to a host array of the same shape and type (required)."""

    @abstractmethod
    def write(self, region: Region, array: np.ndarray) -> None:
        """Copy a host array to a region of the same shape and type (required)."""

    def copy(self, region: Region, source: RemoteMemory, source_region: Region) -> None:
        """Copy a region of another memory to a region of this one, of the same shape and type (optional).

        By default through host memory. A device copies directly if the source is in a context of its own.
        """
        array = np.empty(region.shape, region.dtype)
        source.read(source_region, array)
        self.write(region, array)

    def array(self, region: Region) -> np.ndarray:
        """Return a region as an array without a copy (optional), if the memory is host-visible.

        It is used until ``resize`` changes ``byte_size``. By default raises TensorError.
        """
        raise TensorError(f"the host does not see the memory of {self.context.get_device_name()}")

    def overlaps(self, region: Region, other: RemoteMemory, other_region: Region) -> bool:
        """Return whether two regions may overlap (optional): by default if they are in the same memory."""
        return other is self

    def resize(self, byte_size: int) -> None:
        """Grow; the contents may be lost (optional). By default raises TensorError."""
        raise TensorError(
            f"a tensor over {self.byte_size} bytes of {self.context.get_device_name()} cannot grow to {byte_size} bytes"
        )

    def get_properties(self) -> dict[str, Any]:
        """Return the native handles by the device's keys (optional): the parameters of remote tensors."""
        return {}


class _DeviceTensor(Tensor):
    """Base of tensors in a region of device memory."""

    _whole = None
    _owns_memory = False
    _element_type: Type

    def __init__(self, memory: RemoteMemory, type: Type, region: Region) -> None:
        self.memory, self.region, self._element_type = memory, region, type
        if region.byte_size > memory.byte_size:
            held = f"{memory.byte_size} bytes of {memory.context.get_device_name()}"
            raise TensorError(f"a tensor of {type}{list(region.shape)} does not fit into {held}")

    @property
    def context(self) -> RemoteContext:
        return self.memory.context

    @property
    def element_type(self) -> Type:
        return self._element_type

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.region.shape

    def has(self, kind: ElementType, lengths: tuple[int, ...] | None) -> bool:
        return self._element_type is kind and self.region.shape == lengths

    def set_shape(self, shape: Sequence[int]) -> None:
        """Set the shape; the contents are lost. Raises TensorError if memory of the user is too small."""
        if tuple(shape) != self.lengths:
            region = Region.whole(self.region.dtype, shape)
            if region.byte_size > self.memory.byte_size:
                self.memory.resize(region.byte_size)
            self.region = region

    def take(self, array: np.ndarray) -> None:
        if array.shape == self.region.shape and array.dtype == self.region.dtype:
            self.write(array)
        else:
            super().take(array)


class RemoteTensor(_DeviceTensor):
    """A tensor in device memory, made by ``RemoteContext.create_tensor``, or a region of another remote tensor.

    ``RemoteTensor(remote, begin, end)`` is a region, as for a Tensor. ``copy_to`` reads the elements. An element of a
    type with less than 8 bits takes a byte.
    """

    @overload
    def __init__(self, remote_tensor: RemoteTensor, begin: Sequence[int], end: Sequence[int]) -> None: ...
    @overload
    def __init__(self, memory: RemoteMemory, type: ElementType, shape: Sequence[int], /) -> None: ...

    def __init__(self, remote_tensor: RemoteTensor | RemoteMemory, begin: Any, end: Sequence[int]) -> None:
        #: Whether it is a part of another remote tensor.
        self.is_region = isinstance(remote_tensor, RemoteTensor)
        if isinstance(remote_tensor, RemoteTensor):
            region = remote_tensor.region.part(region_of(remote_tensor.shape, begin, end))
            super().__init__(remote_tensor.memory, remote_tensor.element_type, region)
        elif isinstance(remote_tensor, RemoteMemory):
            kind, shape = begin, end
            super().__init__(remote_tensor, Type(kind), Region.whole(_dtype_of(kind), shape))
        else:
            raise TensorError(f"a remote tensor is made from another one, not from {type(remote_tensor).__name__}")

    def get_device_name(self) -> str:
        """Return the name of the device, such as ``GPU.0``."""
        return self.context.get_device_name()

    def get_params(self) -> dict[str, Any]:
        """Return the native handles by the device's keys."""
        return self.memory.get_properties()

    @staticmethod
    def type_check(tensor: Tensor, type_info: Mapping[str, Any] | None = None) -> None:
        """Raise TensorError unless the tensor is a remote tensor with the given parameters.

        ``type_info`` maps keys of ``get_params`` to the accepted value or a list of accepted values; None or an empty
        list accepts any value.
        """
        if not isinstance(tensor, RemoteTensor):
            raise TensorError(f"a remote tensor is wanted, but this {type(tensor).__name__} is in host memory")
        params = tensor.get_params()
        for key, wanted in (type_info or {}).items():
            if key not in params:
                raise TensorError(f"the remote tensor has no parameter {key}; it has {', '.join(sorted(params))}")
            accepted = list(wanted) if isinstance(wanted, (list, tuple)) else [] if wanted is None else [wanted]
            if accepted and not any(_is_same(params[key], value) for value in accepted):
                options = " or ".join(str(value) for value in accepted)
                raise TensorError(f"the remote tensor has {key} {params[key]}, but {options} is wanted")

    @property
    def array(self) -> np.ndarray:
        """Raises TensorError, as the memory is not host-visible."""
        raise TensorError(
            f"a remote tensor is in the memory of {self.get_device_name()}: copy it to a host tensor by copy_to, "
            "or take a region of it by RemoteTensor(remote, begin, end)"
        )

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def byte_size(self) -> int:
        return self.region.byte_size

    @property
    def strides(self) -> Strides:
        """Bytes from one element to the next along each axis. Raises TensorError for elements smaller than a byte."""
        return strides_in_bytes(self.element_type, self.region.strides)

    def is_continuous(self) -> bool:
        return self.region.is_continuous()

    def set_shape(self, shape: Sequence[int]) -> None:
        """Set the shape; the contents are lost.

        Raises TensorError if memory of the user is too small, or a region would grow along an axis.
        """
        if self.is_region:
            self.region = self.region.part(smaller_region([slice(0, n) for n in self.shape], shape))
        else:
            super().set_shape(shape)

    def write(self, source: Tensor | np.ndarray) -> None:
        """Copy the elements of a tensor, remote or not, or of an array of the same shape and element type."""
        if isinstance(source, RemoteTensor):
            self.memory.copy(self.region, source.memory, source.region)
        else:
            self.memory.write(self.region, source.array if isinstance(source, Tensor) else source)

    def read(self, array: np.ndarray) -> None:
        """Copy the elements to an array of the same shape. Raises TensorError if its type differs."""
        if array.dtype != self.region.dtype:
            raise TensorError(f"a remote tensor of {self.element_type} cannot be copied to {array.dtype} elements")
        self.memory.read(self.region, array)


class SharedTensor(_DeviceTensor):
    """A tensor in host-visible device memory, see ``RemoteMemory.array``.

    For other devices it is a tensor in host memory.
    """

    def __init__(self, memory: RemoteMemory, type: Type, shape: Sequence[int]) -> None:
        super().__init__(memory, Type(type), Region.whole(_dtype_of(type), shape))
        self._viewed: tuple[Region, int] | None = None  # the region and the size of the memory that ``_array`` is of
        self._array = np.empty(0)

    @property
    def array(self) -> np.ndarray:
        viewed = self._viewed
        if viewed is None or viewed[0] is not self.region or viewed[1] != self.memory.byte_size:
            self._array = self.memory.array(self.region)
            self._viewed = self.region, self.memory.byte_size
        return self._array

    def write(self, source: Tensor | np.ndarray) -> None:
        if isinstance(source, Tensor):
            source.read(self.array)
        else:
            self.array[...] = source


class RemoteContext(ABC):
    """An allocator of device memory. Two equal contexts share their memory."""

    #: The class of its remote tensors (optional), which may have accessors of the device's own.
    tensor_class: type[RemoteTensor] = RemoteTensor

    def __init__(self, device_name: str) -> None:
        self._device_name = device_name

    @abstractmethod
    def create_memory(self, byte_size: int, properties: Mapping[str, Any]) -> RemoteMemory:
        """Return memory of at least ``byte_size`` bytes (required): new, or the memory that ``properties`` name.

        Raises PropertyError for keys that the device does not know.
        """

    def get_device_name(self) -> str:
        """Return the name of the device, such as ``GPU.0``."""
        return self._device_name

    def get_params(self) -> dict[str, Any]:
        """Return the native handles by the device's keys (optional)."""
        return {}

    def create_tensor(
        self, type: ElementType, shape: Sequence[int], properties: Mapping[str, Any] | None = None
    ) -> RemoteTensor:
        """Return a tensor in device memory: in new memory, or in the memory that ``properties`` names.

        Raises TensorError for a type that device memory cannot hold, and if the memory named is too small or belongs to
        another context; PropertyError for a bad key or value.
        """
        byte_size = math.prod(shape) * _dtype_of(type).itemsize
        return self.tensor_class(self.create_memory(byte_size, properties or {}), type, shape)

    def create_host_tensor(self, type: Type, shape: Sequence[int]) -> Tensor:
        """Return a tensor in the host memory that the device copies from fastest (optional).

        If the device computes in host-visible memory, this is a SharedTensor.
        """
        return Tensor(type, shape)

    def holds(self, tensor: Tensor) -> bool:
        """Return whether the device can use the memory of a tensor without a copy (optional).

        By default it can for remote and shared tensors of an equal context.
        """
        return isinstance(tensor, _DeviceTensor) and (tensor.context is self or tensor.context == self)


def overlap(tensor: Tensor, other: Tensor) -> bool:
    """Return whether two tensors may share memory."""
    if tensor is other:
        return True
    if isinstance(tensor, RemoteTensor) and isinstance(other, RemoteTensor):
        return tensor.memory.overlaps(tensor.region, other.memory, other.region)
    if isinstance(tensor, RemoteTensor) or isinstance(other, RemoteTensor):
        return False
    return np.may_share_memory(tensor.array, other.array)


def _is_same(value: Any, expected: Any) -> bool:
    # For arrays == compares the elements.
    return value is expected or (not isinstance(value, np.ndarray) and bool(value == expected))


def _dtype_of(kind: ElementType) -> np.dtype:
    if isinstance(kind, ContainerType) or Type(kind) in (Type.dynamic, Type.string):
        raise TensorError(f"a remote tensor cannot hold {kind} elements: it takes numbers and booleans")
    return Type(kind).to_dtype()
