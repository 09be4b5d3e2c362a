"""Memory layouts of values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetero_opencl.device.transfers import contiguous


class Layout(ABC):
    """An arrangement of the elements of a value in a buffer."""

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def storage_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the stored elements, the last axis contiguous."""

    @abstractmethod
    def arrange(self, array: np.ndarray) -> np.ndarray:
        """Return the elements of a constant in this layout."""

    @abstractmethod
    def is_row_major(self, shape: Sequence[int]) -> bool:
        """Return whether a value of this shape has its elements in row-major order; padding may follow."""


@dataclass(frozen=True)
class Rows(Layout):
    """Row-major order without padding."""

    def __str__(self) -> str:
        return "rows"

    def storage_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(shape)

    def arrange(self, array: np.ndarray) -> np.ndarray:
        return contiguous(array)

    def is_row_major(self, shape: Sequence[int]) -> bool:
        return True


ROWS = Rows()


@dataclass(frozen=True)
class Blocks(Layout):
    """Blocks of channels: ``[N, C, spatial…]`` is stored as ``[C / size, N, spatial…, size]``, C rounded up to blocks.

    The elements of the padding are arbitrary numbers. One channel is stored without padding. Concatenation along the
    channels is contiguous, for batches too.
    """

    size: int

    def __str__(self) -> str:
        return f"blocks of {self.size} channels"

    def storage_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        batch, channels, *spatial = shape
        size = 1 if channels == 1 else self.size
        return -(-channels // size), batch, *spatial, size

    def arrange(self, array: np.ndarray) -> np.ndarray:
        blocks, batch, *spatial, size = self.storage_shape(array.shape)
        padding = blocks * size - array.shape[1]
        padded = np.pad(array, [(0, 0), (0, padding), *[(0, 0)] * len(spatial)])
        split = padded.reshape(batch, blocks, size, *spatial)
        return contiguous(np.moveaxis(np.moveaxis(split, 2, -1), 1, 0))

    def is_row_major(self, shape: Sequence[int]) -> bool:
        batch, channels, *spatial = shape
        return channels == 1 or batch * math.prod(spatial) == 1


@dataclass(frozen=True)
class Permuted(Layout):
    """The axes in another order; the last one is contiguous."""

    order: tuple[int, ...]

    def __str__(self) -> str:
        return f"axes {','.join(map(str, self.order))}"

    def storage_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(shape[axis] for axis in self.order)

    def arrange(self, array: np.ndarray) -> np.ndarray:
        return contiguous(array.transpose(self.order))

    def is_row_major(self, shape: Sequence[int]) -> bool:
        long = [axis for axis in self.order if shape[axis] > 1]
        return long == sorted(long)


def column_major(rank: int) -> Permuted:
    """Return the layout of matrices with the last two axes exchanged (column-major)."""
    return Permuted((*range(rank - 2), rank - 1, rank - 2))
