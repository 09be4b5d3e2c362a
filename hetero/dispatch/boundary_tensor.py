"""BoundaryTensor: a tensor in host memory between two steps, which has memory only while it is needed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.tensor import Tensor
from hetero.types import Type


class BoundaryTensor(Tensor):
    """Takes memory when it is first used and lets go of it in ``release``, where its contents are lost."""

    def __init__(self, kind: Type, shape: Sequence[int]) -> None:
        self._kind, self._dtype = kind, kind.to_dtype()
        self._element_type = kind
        self._shape = tuple(shape)
        self._array: np.ndarray | None = None
        self._whole, self._owns_memory = None, True

    @property
    def data(self) -> np.ndarray:
        if self._array is None:
            self._array = np.empty(self._shape, self._dtype)
        return self._array

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        self.set_shape(shape)

    def set_shape(self, shape: Sequence[int]) -> None:
        if tuple(shape) != self._shape:
            self._shape, self._array = tuple(shape), None

    def take(self, array: np.ndarray) -> None:
        # Another type is what the check of the device's outputs tells.
        self._element_type = self._kind if array.dtype == self._dtype else Type(array.dtype)
        self._shape, self._array = array.shape, array

    def release(self) -> None:
        self._array = None
