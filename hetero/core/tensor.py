"""Tensor: an array in host memory with an element type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast, overload

import numpy as np

from hetero.core.containers import ContainerType, ElementType
from hetero.core.packing import pack, packed_bytes, packed_size, unpack
from hetero.core.regions import region_of, smaller_region
from hetero.core.static_shape import Shape, Strides
from hetero.core.tensor_memory import (
    HasPartialShape,
    allocate,
    array_of_port,
    checked_shape,
    dtype_of,
    shares_bytes,
    strides_in_bytes,
    with_shape,
)
from hetero.core.types import Type
from hetero.system.allocation import as_text
from hetero.system.errors import ArgumentTypeError, TensorError

# DLDeviceType values of memory that the host can read: kDLCPU, kDLCUDAHost, kDLROCMHost and kDLCUDAManaged.
HOST_DEVICES = (1, 3, 11, 13)


# Shape's constructor also checks its argument, which a request would do for each tensor.
_new_tuple = tuple.__new__


class SupportsDLPack(Protocol):
    """An array of any library that supports DLPack (https://dmlc.github.io/dlpack/latest/python_spec.html)."""

    def __dlpack__(self, **arguments: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


class Tensor:
    """An array in host memory: ``Tensor(array)``, ``Tensor(Type.f32, [1, 3])`` or a region of another tensor.

    ``Tensor(port)`` has the element type and shape of a port; ``Tensor(port, array)`` also uses the array's memory.

    An array, or any object with ``__dlpack__`` whose memory is on the host, is copied unless ``shared_memory`` is
    true: then the tensor uses the array's memory, and writing to one changes the other.

    ``Tensor(other, begin, end)`` is a view of a region of another tensor: along each axis the elements from ``begin``
    up to but not including ``end``. It follows the other tensor when that gets new memory.
    """

    _padding = 0  # the bits after the last element, if elements share bytes

    @overload
    def __init__(self, array: np.ndarray | Sequence[Any] | SupportsDLPack, shared_memory: bool = False) -> None: ...
    @overload
    def __init__(self, type: ElementType, shape: Sequence[int] | None = None) -> None: ...
    @overload
    def __init__(self, other: Tensor, begin: Sequence[int], end: Sequence[int]) -> None: ...
    @overload
    def __init__(self, port: HasPartialShape, array: np.ndarray | None = None) -> None: ...
    @overload
    def __init__(self, *, list: Sequence[Any]) -> None: ...
    @overload
    def __init__(self, *, image: Any) -> None: ...

    def __init__(  # type: ignore[misc]  # the names of the arguments depend on the type of the first, as in OpenVINO
        self,
        source: Any = None,
        shape: Any = None,
        end: Any = None,
        *,
        begin: Any = None,
        shared_memory: bool = False,
        array: Any = None,
        type: Any = None,
        other: Any = None,
        port: Any = None,
        list: Any = None,
        image: Any = None,
    ) -> None:
        port = source if port is None else port
        if hasattr(port, "get_partial_shape"):
            source, array = array_of_port(port, shape if array is None else array), None
            shape, shared_memory = None, True
        given = [value for value in (source, array, other, list, image) if value is not None]
        if isinstance(shape, bool):
            shape, shared_memory = None, shape
        if isinstance(end, Type):  # Tensor(array, shape, type)
            type, end = end, None
        begin = shape if begin is None else begin
        self._whole: Tensor | None = None
        packed = None
        if given and shape is not None and isinstance(given[0], np.ndarray):
            if type is not None and shares_bytes(Type(type)):
                packed, given[0] = given[0], Type(type)
            else:
                given[0], shape = with_shape(given[0], shape, type), None
        elif type is not None:
            given = [Type(type)]
        if not given:
            raise ArgumentTypeError("a tensor is made from an array, or an element type and a shape")
        source = given[0]
        if end is not None:
            self._become_region(source, begin, end)
            return
        if isinstance(source, ContainerType):
            self._data = source.empty()
        elif isinstance(source, Type) or shape is not None:
            if shape is None:
                raise ArgumentTypeError("a tensor made from an element type needs a shape: Tensor(Type.f32, [1, 3])")
            self._data = allocate(np.zeros, shape, dtype_of(source))
        else:
            array = as_array(source)
            if array.dtype.kind == "S":
                array = as_text(array)
            self._data = array if shared_memory else allocate(lambda *_: np.array(array), array.shape, array.dtype)
        self._memory = self._data  # the whole allocation; after set_shape the data may be a part of it
        self._owns_memory = not shared_memory
        self._element_type = source if isinstance(source, ContainerType) else Type(self._data.dtype)
        if packed is not None:
            self._set_packed(np.ascontiguousarray(packed).reshape(-1).view(np.uint8)[: self.byte_size])

    @classmethod
    def sharing(cls, array: np.ndarray, kind: ElementType) -> Tensor:
        """Return a tensor of a type that shares the memory of an array of that type.

        It is the constructor without its other forms, for requests.
        """
        tensor = cls.__new__(cls)
        tensor._whole, tensor._owns_memory = None, False
        tensor._data = tensor._memory = array
        tensor._element_type = kind
        return tensor

    def share(self, array: np.ndarray) -> None:
        """Use the memory of another array of the same type instead, for a tensor that ``sharing`` made."""
        self._data = self._memory = array

    def _become_region(self, whole: Tensor, begin: Sequence[int], end: Sequence[int]) -> None:
        if not isinstance(whole, Tensor):
            raise TensorError(f"a region is a part of a Tensor, not of {type(whole).__name__}")
        if shares_bytes(whole.element_type):
            raise TensorError(f"a tensor of {whole.element_type} has no regions, because its elements share bytes")
        self._region = region_of(whole.array.shape, begin, end)  # .array raises if the memory is not the host's
        self._whole = whole
        self._owns_memory = False

    @property
    def array(self) -> np.ndarray:
        """The elements as a numpy array, strings as text. Read it again after each inference: the memory may be new."""
        if self._whole is None:
            return self._data
        data = self._whole.array
        if len(self._region) != data.ndim or any(part.stop > length for part, length in zip(self._region, data.shape)):
            end = [part.stop for part in self._region]
            raise TensorError(f"a region that ends at {end} lies outside its tensor, which is now {list(data.shape)}")
        return data[self._region]

    @property
    def data(self) -> np.ndarray:
        """The elements as a numpy array, as in OpenVINO: the memory itself, but a copy of strings, as UTF-8.

        Elements of less than 8 bits are packed into bytes. Assigning to items of these changes the tensor.
        """
        array = self.array
        if shares_bytes(self.element_type):
            return packed_bytes(array, self.element_type, self._padding, self._set_packed)
        return array if array.dtype.kind not in "UT" else self.bytes_data

    def _set_packed(self, data: np.ndarray) -> None:
        """Set all elements from packed bytes. Raises TensorError if these are too few."""
        kind = cast(Type, self.element_type)
        if data.size != self.byte_size:
            raise TensorError(
                f"{data.size} bytes cannot be a tensor of {kind}{list(self.shape)}: it takes {self.byte_size}"
            )
        np.copyto(self.array, unpack(data, kind, self.lengths))
        # Bits after the last element stay as they are: what helpers.pack_data writes there, helpers.unpack_data reads.
        self._padding = int((data ^ pack(self.array, kind))[-1]) if data.size else 0

    @property
    def element_type(self) -> ElementType:
        return self._element_type if self._whole is None else self._whole.element_type

    def has(self, kind: ElementType, lengths: tuple[int, ...] | None) -> bool:
        """Return whether the tensor has this element type and shape."""
        if self._whole is None:
            return self._element_type is kind and self._data.shape == lengths
        return self.element_type is kind and self.lengths == lengths

    @property
    def shape(self) -> tuple[int, ...]:
        return _new_tuple(Shape, self.lengths)

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        self.set_shape(shape)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The shape as a plain tuple, which requests compare faster than a Shape."""
        return (self._data if self._whole is None else self.array).shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.array.size

    @property
    def byte_size(self) -> int:
        """The number of bytes in memory; for elements of less than 8 bits, which share bytes, that of ``data``."""
        return packed_size(self.size, self.element_type) if shares_bytes(self.element_type) else self.array.nbytes

    @property
    def strides(self) -> Strides:
        """Bytes from one element to the next along each axis. Raises TensorError for elements smaller than a byte."""
        array = self.array
        if array.size:
            return strides_in_bytes(self.element_type, array.strides)
        # numpy's strides of an array without elements are all 0. OpenVINO's follow from the lengths.
        innermost = array.itemsize if array.shape[-1] else 0
        lengths = [math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim)]
        return strides_in_bytes(self.element_type, [length * innermost for length in lengths])

    @property
    def str_data(self) -> np.ndarray:
        """A copy of the strings as text. Raises TensorError if the elements are not strings."""
        return self._strings().copy()

    @str_data.setter
    def str_data(self, strings: Any) -> None:
        self._set_strings(strings, self.shape)

    @property
    def bytes_data(self) -> np.ndarray:
        """A copy of the strings as UTF-8. Raises TensorError if the elements are not strings."""
        return np.char.encode(as_text(self._strings()), "utf-8")

    @bytes_data.setter
    def bytes_data(self, strings: Any) -> None:
        self._set_strings(strings, self.shape)

    def _strings(self) -> np.ndarray:
        if self.element_type is not Type.string:
            raise TensorError(f"a tensor of {self.element_type} has no strings")
        return self.array

    def _set_strings(self, strings: Any, shape: Sequence[int]) -> None:
        """Replace the contents by a copy. Memory of the user holds strings up to a fixed length; longer ones raise."""
        self._strings()
        array = as_text(np.asarray(strings))
        if array.dtype.kind != "U" or array.size != math.prod(shape):
            raise TensorError(f"a tensor of strings of the shape {list(shape)} takes as many strings, not {array!r}")
        array = array.reshape(shape)
        if self._owns_memory:
            self.take(array.copy())
            return
        self.set_shape(shape)
        if array.dtype.itemsize > self.array.dtype.itemsize:
            room = self.array.dtype.itemsize // np.dtype("U1").itemsize
            raise TensorError(f"the tensor's memory has room for strings of up to {room} characters, not for {array!r}")
        self.write(array)

    def is_continuous(self) -> bool:
        return self.array.flags.c_contiguous

    def get_element_type(self) -> ElementType:
        return self.element_type

    def get_shape(self) -> tuple[int, ...]:
        return self.shape

    def get_size(self) -> int:
        return self.size

    def get_byte_size(self) -> int:
        return self.byte_size

    def get_strides(self) -> Strides:
        return self.strides

    def set_shape(self, shape: Sequence[int]) -> None:
        """Change the shape; the contents are lost.

        Raises TensorError if shared memory is too small, or if a region would grow along an axis.
        """
        shape = tuple(shape)
        if shape == self.lengths:
            return
        shape = checked_shape(shape)
        if self._whole is not None:
            self._region = smaller_region(self._region, shape)
            return
        count = math.prod(shape)
        if count <= self._memory.size and self._memory.flags.c_contiguous:
            self._data = self._memory.reshape(-1)[:count].reshape(shape)
        elif self._owns_memory:
            self._memory = self._data = allocate(np.empty, shape, self._data.dtype)
        else:
            held = f"shared memory of {self._memory.size} elements"
            raise TensorError(f"a tensor over {held} cannot take the shape {list(shape)}")

    def copy_to(self, target_tensor: Tensor | np.ndarray) -> None:
        """Copy the elements into another tensor, which takes on this one's shape, or into an array of this shape.

        Raises TensorError if the target cannot take on the shape, or its device does not support the element type.
        """
        if isinstance(target_tensor, Tensor):
            target_tensor.copy_from(self)
            return
        if target_tensor.shape != self.shape:
            shapes = f"a tensor of {list(self.shape)} cannot be copied to an array of {list(target_tensor.shape)}"
            raise TensorError(shapes)
        self.read(target_tensor)

    def copy_from(
        self, source: Tensor | np.ndarray | list[Any] | None = None, *, source_tensor: Tensor | None = None
    ) -> None:
        """Copy the elements of a tensor or an array into this one, which takes on its shape.

        Raises TensorError if the element type differs, or the memory cannot take the shape.
        """
        source = source_tensor if source is None else source
        if isinstance(source, (list, np.generic)):
            source = np.asarray(source)
        if not isinstance(source, (Tensor, np.ndarray)):
            raise ArgumentTypeError(f"a tensor takes elements from a tensor, an array or a list, not from {source!r}")
        if isinstance(self.element_type, Type):
            kind = source.element_type if isinstance(source, Tensor) else Type(source.dtype)
            if kind is not self.element_type:
                raise TensorError(f"a tensor of {self.element_type} cannot be filled with {kind} elements")
        if self.element_type is Type.string:
            self._set_strings(source.array if isinstance(source, Tensor) else source, source.shape)
            return
        self.set_shape(source.shape)
        self.write(source)

    def write(self, source: Tensor | np.ndarray) -> None:
        """Copy the elements of a tensor or an array of the same shape and element type."""
        if isinstance(source, Tensor):
            source.read(self.array)
        else:
            np.copyto(self.array, source)

    def read(self, array: np.ndarray) -> None:
        """Copy the elements into an array of the tensor's shape."""
        np.copyto(array, self.array)

    def take(self, array: np.ndarray) -> None:
        """Replace the contents by an array: without a copy if the tensor owns its memory, else by copying.

        For devices that have computed an output into an array that nothing else will write to.
        """
        if self._owns_memory:
            if array.dtype != self._data.dtype:  # the output's element type is dynamic in the model
                self._element_type = Type(array.dtype)
            self._memory = self._data = array
        else:
            self.copy_from(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype, copy=copy)

    def __dlpack__(self, **arguments: Any) -> Any:
        """Share the memory with another library: ``torch.from_dlpack(tensor)``.

        The arguments are those of DLPack's Python specification. Raises TensorError for element types that numpy
        cannot export, such as bf16 and string.
        """
        try:
            return self.array.__dlpack__(**arguments)
        except BufferError as error:
            raise TensorError(f"a tensor of {self.element_type} cannot be exported by DLPack: {error}") from error

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: shape{Shape(self.shape)} type: {self.element_type}>"

    def __copy__(self) -> Tensor:
        """Return a tensor that shares the memory."""
        return Tensor(self.array, shared_memory=True)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return Tensor(self.array)


def tensor_from_file(path: str | Path) -> Tensor:
    """Return a tensor of the bytes of a file."""
    return Tensor(np.fromfile(path, np.uint8), shared_memory=True)


def as_array(source: Any) -> np.ndarray:
    """Convert to a numpy array, without a copy for an array, a Tensor, or an object with ``__dlpack__``.

    Raises TensorError if DLPack cannot export the elements, or they are in the memory of a device.
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
