"""Tensor: an array in host memory with an element type."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, overload

import numpy as np

from hetero.allocation import check_allocation
from hetero.containers import ContainerType, ElementType
from hetero.errors import TensorError
from hetero.types import Type

# DLDeviceType of memory that the host reads: kDLCPU, kDLCUDAHost, kDLROCMHost and kDLCUDAManaged.
HOST_DEVICES = (1, 3, 11, 13)


class SupportsDLPack(Protocol):
    """An array of any library that speaks DLPack (https://dmlc.github.io/dlpack/latest/python_spec.html)."""

    def __dlpack__(self, **arguments: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


class Tensor:
    """An array in host memory: ``Tensor(array)``, ``Tensor(Type.f32, [1, 3])`` or a region of another tensor.

    An array, or any object with ``__dlpack__`` whose memory is on the host, is copied unless ``shared_memory`` is
    true: then tensor and array are the same memory, and what is written to the tensor is seen in the array.

    ``Tensor(other, begin, end)`` is a region of another tensor: along each axis the elements from the index in
    ``begin`` to before that in ``end``. They are the other tensor's own, whatever memory that has got meanwhile.
    """

    @overload
    def __init__(self, array: np.ndarray | Sequence | SupportsDLPack, shared_memory: bool = False) -> None: ...
    @overload
    def __init__(self, type: ElementType, shape: Sequence[int] | None = None) -> None: ...
    @overload
    def __init__(self, other: Tensor, begin: Sequence[int], end: Sequence[int]) -> None: ...

    def __init__(self, source, shape=None, end=None, *, begin=None, shared_memory=False) -> None:
        # The names of the second and third argument depend on the first, as in OpenVINO.
        if isinstance(shape, bool):
            shape, shared_memory = None, shape
        begin = shape if begin is None else begin
        self._whole: Tensor | None = None
        if end is not None:
            self._become_region(source, begin, end)
            return
        if isinstance(source, ContainerType):
            self._data = source.empty()
        elif isinstance(source, Type) or shape is not None:
            if shape is None:
                raise TensorError("a tensor made from an element type needs a shape: Tensor(Type.f32, [1, 3])")
            self._data = _allocate(np.zeros, shape, Type(source).to_dtype())
        else:
            array = as_array(source)
            self._data = array if shared_memory else _allocate(lambda *_: np.array(array), array.shape, array.dtype)
        self._memory = self._data  # all there is; the data may be a part of it after set_shape
        self._owns_memory = not shared_memory
        self._element_type = source if isinstance(source, ContainerType) else Type(self._data.dtype)

    def _become_region(self, whole: Tensor, begin: Sequence[int], end: Sequence[int]) -> None:
        if not isinstance(whole, Tensor):
            raise TensorError(f"a region is a part of a Tensor, not of {type(whole).__name__}")
        self._region = region_of(whole.data.shape, begin, end)  # whose data says so where it is not the host's
        self._whole = whole
        self._owns_memory = False

    @property
    def data(self) -> np.ndarray:
        """The memory as a numpy array. Read it anew after an inference: the tensor may have got other memory."""
        if self._whole is None:
            return self._data
        data = self._whole.data
        if len(self._region) != data.ndim or any(part.stop > length for part, length in zip(self._region, data.shape)):
            end = [part.stop for part in self._region]
            raise TensorError(f"a region that ends at {end} lies outside its tensor, which is now {list(data.shape)}")
        return data[self._region]

    @property
    def element_type(self) -> ElementType:
        return self._element_type if self._whole is None else self._whole.element_type

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._data if self._whole is None else self.data).shape

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        self.set_shape(shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.data.size

    @property
    def byte_size(self) -> int:
        return self.data.nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self.data.strides

    def is_continuous(self) -> bool:
        return self.data.flags.c_contiguous

    def get_element_type(self) -> ElementType:
        return self.element_type

    def get_shape(self) -> tuple[int, ...]:
        return self.shape

    def get_size(self) -> int:
        return self.size

    def get_byte_size(self) -> int:
        return self.byte_size

    def get_strides(self) -> tuple[int, ...]:
        return self.strides

    def set_shape(self, shape: Sequence[int]) -> None:
        """Give the tensor another shape; what it held is lost.

        Raises TensorError where shared memory is too small, and where a region would grow along an axis.
        """
        shape = tuple(shape)
        if shape == self.shape:
            return
        if self._whole is not None:
            self._region = smaller_region(self._region, shape)
            return
        count = math.prod(shape)
        if count <= self._memory.size and self._memory.flags.c_contiguous:
            self._data = self._memory.reshape(-1)[:count].reshape(shape)
        elif self._owns_memory:
            self._memory = self._data = _allocate(np.empty, shape, self._data.dtype)
        else:
            held = f"shared memory of {self._memory.size} elements"
            raise TensorError(f"a tensor over {held} cannot take the shape {list(shape)}")

    def copy_to(self, target: Tensor | np.ndarray) -> None:
        """Copy the elements into another tensor, which takes this one's shape, or into an array of this shape.

        Raises TensorError where the target cannot take the shape, or the other device does not take the type.
        """
        if isinstance(target, Tensor):
            target.copy_from(self)
            return
        if target.shape != self.shape:
            raise TensorError(f"a tensor of {list(self.shape)} cannot be copied to an array of {list(target.shape)}")
        self.read(target)

    def copy_from(self, source: Tensor | np.ndarray) -> None:
        """Copy the elements of a tensor or an array into this one, which takes its shape. Raises as ``copy_to``."""
        self.set_shape(source.shape)
        if isinstance(source, Tensor):
            source.read(self.data)
        else:
            np.copyto(self.data, source)

    def read(self, array: np.ndarray) -> None:
        """Copy the elements into an array of the tensor's shape."""
        np.copyto(array, self.data)

    def take(self, array: np.ndarray) -> None:
        """Hold what the array holds: without a copy where the tensor owns its memory, else by copying.

        For devices that computed an output into memory of their own that nobody else will write to.
        """
        if self._owns_memory:
            if array.dtype != self._data.dtype:  # of an output whose type the model does not tell
                self._element_type = Type(array.dtype)
            self._memory = self._data = array
        else:
            self.copy_from(array)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.data, dtype=dtype, copy=copy)

    def __dlpack__(self, **arguments: Any) -> Any:
        """The memory itself for other libraries: ``torch.from_dlpack(tensor)``; arguments as DLPack's Python
        specification has them. Raises TensorError for types that numpy does not hand over, such as bf16 and string.
        """
        try:
            return self.data.__dlpack__(**arguments)
        except BufferError as error:
            raise TensorError(f"a tensor of {self.element_type} cannot be handed over by DLPack: {error}") from error

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.data.__dlpack_device__()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.element_type} {list(self.shape)}>"


def _allocate(make: Callable[..., np.ndarray], shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Return ``make(shape, dtype)``. Raises TensorError if there is no array of this shape, or not enough memory."""
    shape = tuple(shape)
    try:
        check_allocation(math.prod(shape) * dtype.itemsize, "it")
        return make(shape, dtype)
    except (MemoryError, ValueError) as error:
        raise TensorError(f"there is no room for a tensor of {Type(dtype)}{list(shape)}: {error}") from error


def as_array(source: Any) -> np.ndarray:
    """What an array can be made from as an array: without a copy of an array, a Tensor or what has ``__dlpack__``.

    Raises TensorError where DLPack cannot hand over the elements, or they are on a device.
    """
    if isinstance(source, (np.ndarray, Tensor)) or not hasattr(source, "__dlpack__"):
        return np.asarray(source)
    problem = f"a tensor cannot be made from {type(source).__name__} by DLPack"
    if source.__dlpack_device__()[0] not in HOST_DEVICES:
        raise TensorError(f"{problem}: it is in the memory of a device; copy it to the host first")
    try:
        return np.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TensorError(f"{problem}: {error}") from error


def region_of(shape: Sequence[int], begin: Sequence[int], end: Sequence[int]) -> tuple[slice, ...]:
    """The part of each axis from ``begin`` to before ``end``. Raises TensorError where that is not in the shape."""
    begin, end = list(begin), list(end)
    fits = len(begin) == len(end) == len(shape)
    if not fits or not all(0 <= first <= last <= length for first, last, length in zip(begin, end, shape)):
        raise TensorError(f"there is no region from {begin} to {end} in a tensor of the shape {list(shape)}")
    return tuple(slice(int(first), int(last)) for first, last in zip(begin, end))


def smaller_region(region: Sequence[slice], shape: Sequence[int]) -> tuple[slice, ...]:
    """The first elements of a region along each axis. Raises TensorError where it has less than the shape."""
    held = [part.stop - part.start for part in region]
    if len(shape) != len(held) or any(wanted > length for wanted, length in zip(shape, held)):
        raise TensorError(f"a region of the shape {held} cannot take the shape {list(shape)}")
    return tuple(slice(part.start, part.start + length) for part, length in zip(region, shape))
