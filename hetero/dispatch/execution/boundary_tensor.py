"""BoundaryTensor: a tensor in host memory between steps that holds memory only while it is needed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.dispatch.execution.unwritten import first_elements, holds_pattern, write_pattern


class BoundaryTensor(Tensor):
    """A tensor that allocates memory on first use and frees it in ``release``, with its contents.

    It is the output of the step that writes it. Readers have a ReadOnlyTensor of it.
    """

    def __init__(self, kind: Type, shape: Sequence[int]) -> None:
        self._kind, self._dtype = kind, kind.to_dtype()
        self._element_type = kind
        self._shape = self._first_shape = tuple(shape)
        self._array: np.ndarray | None = None
        self._pattern = b""
        self._marked: np.ndarray | None = None  # the elements with the pattern
        self._whole, self._owns_memory = None, True

    @property
    def array(self) -> np.ndarray:
        if self._array is None:
            self._array = np.empty(self._shape, self._dtype)
            if self._pattern:
                self._marked = first_elements(self._array)
                write_pattern(self._marked, self._pattern)
        return self._array

    @property
    def lengths(self) -> tuple[int, ...]:
        return self._shape

    def set_shape(self, shape: Sequence[int]) -> None:
        if tuple(shape) != self._shape:
            self._shape, self._array = tuple(shape), None

    def take(self, array: np.ndarray) -> None:
        # A type that differs is kept, so that the check of the device's outputs reports it.
        self._element_type = self._kind if array.dtype == self._dtype else Type(array.dtype)
        self._shape, self._array, self._marked = array.shape, array, None

    def release(self) -> None:
        self._array = self._marked = None

    def mark(self, pattern: bytes) -> None:
        """Free the memory, and write a pattern to the memory that is allocated next."""
        self._array = self._marked = None
        self._shape, self._pattern = self._first_shape, pattern

    @property
    def marked_bytes(self) -> int:
        """The number of bytes with the pattern; that of a whole pattern if no memory was allocated since ``mark``."""
        return len(self._pattern) if self._marked is None else self._marked.nbytes

    def is_valid(self) -> bool:
        """Return whether the tensor was written since ``mark``, with its first type and shape.

        False for the other shapes of a dynamic output, which take the full checks.
        """
        return (
            (array := self._array) is not None
            and array.shape == self._first_shape
            and array.dtype == self._dtype
            and (self._marked is None or not holds_pattern(self._marked, self._pattern))
        )

    def is_unwritten(self) -> bool:
        """Return whether nothing was written since ``mark``. A tensor without elements was given another shape."""
        if self._array is None:
            return 0 not in self._shape
        return self._marked is not None and holds_pattern(self._marked, self._pattern)
