"""Tensor: an array in host memory with an element type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.containers import ContainerType, ElementType
from hetero.errors import TensorError
from hetero.types import Type


class Tensor:
    """An array in host memory: ``Tensor(array)`` or ``Tensor(Type.f32, [1, 3])``.

    An array is copied, unless ``shared_memory`` is true: then tensor and array are the same memory,
    and what is written to the tensor is seen in the array.
    """

    def __init__(
        self,
        source: np.ndarray | ElementType | Sequence,
        shape: Sequence[int] | None = None,
        shared_memory: bool = False,
    ) -> None:
        if isinstance(source, ContainerType):
            self._data = source.empty()
        elif isinstance(source, Type) or shape is not None:
            if shape is None:
                raise TensorError("a tensor made from an element type needs a shape: Tensor(Type.f32, [1, 3])")
            try:
                self._data = np.zeros(tuple(shape), Type(source).to_dtype())
            except (MemoryError, ValueError) as error:
                raise TensorError(f"there is no room for a tensor of {source}{list(shape)}: {error}") from error
        else:
            self._data = np.asarray(source) if shared_memory else np.array(source)
        self._memory = self._data  # all there is; the data may be a part of it after set_shape
        self._owns_memory = not shared_memory
        self._element_type = source if isinstance(source, ContainerType) else Type(self._data.dtype)

    @property
    def data(self) -> np.ndarray:
        """The memory as a numpy array. Read it anew after an inference: the tensor may have got other memory."""
        return self._data

    @property
    def element_type(self) -> ElementType:
        return self._element_type

    @property
    def shape(self) -> tuple[int, ...]:
        return self._data.shape

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        self.set_shape(shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data.size

    @property
    def byte_size(self) -> int:
        return self._data.nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self._data.strides

    def is_continuous(self) -> bool:
        return self._data.flags.c_contiguous

    def get_element_type(self) -> ElementType:
        return self.element_type

    def get_shape(self) -> tuple[int, ...]:
        return self.shape

    def get_size(self) -> int:
        return self.size

    def get_byte_size(self) -> int:
        return self.byte_size

    def set_shape(self, shape: Sequence[int]) -> None:
        """Give the tensor another shape; what it held is lost. Raises TensorError where shared memory is too small."""
        shape = tuple(shape)
        if shape == self.shape:
            return
        count = int(np.prod(shape, dtype=np.int64))
        if count <= self._memory.size and self._memory.flags.c_contiguous:
            self._data = self._memory.reshape(-1)[:count].reshape(shape)
        elif self._owns_memory:
            self._memory = self._data = np.empty(shape, self._data.dtype)
        else:
            held = f"shared memory of {self._memory.size} elements"
            raise TensorError(f"a tensor over {held} cannot take the shape {list(shape)}")

    def copy_to(self, target: Tensor) -> None:
        """Copy the elements into another tensor, which takes this one's shape."""
        target.set_shape(self.shape)
        np.copyto(target.data, self._data)

    def copy_from(self, source: Tensor | np.ndarray) -> None:
        """Copy the elements of a tensor or an array into this one, which takes its shape."""
        array = source.data if isinstance(source, Tensor) else source
        self.set_shape(array.shape)
        np.copyto(self._data, array)

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
        return np.array(self._data, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"<Tensor: {self.element_type} {list(self.shape)}>"
