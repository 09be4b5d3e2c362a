"""Memory layouts of values other than row-major order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hetero.graph import Output
from hetero_opencl.constants import contiguous
from hetero_opencl.kernels.movement import View, strided_copy, view_of
from hetero_opencl.lowering import Lowering
from hetero_opencl.program import Buffer


class Layout(ABC):
    """A layout that kernels request from ``Lowering.buffer``. A value is converted once per layout, for all readers."""

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def arrange(self, array: np.ndarray) -> np.ndarray:
        """Return the elements of a constant in this layout."""

    @abstractmethod
    def convert(self, lowering: Lowering, value: Output) -> Buffer:
        """Launch the conversion of a value from row-major order, and return the result."""


@dataclass(frozen=True)
class Permuted(Layout):
    """The axes in another order; the last one is contiguous."""

    order: tuple[int, ...]

    def __str__(self) -> str:
        return f"axes {','.join(map(str, self.order))}"

    def arrange(self, array: np.ndarray) -> np.ndarray:
        return contiguous(array.transpose(self.order))

    def convert(self, lowering: Lowering, value: Output) -> Buffer:
        rows = view_of(value)
        taken = rows.array.transpose(self.order)
        target, buffer = View(taken.shape, taken.dtype), lowering.scratch(taken.size, taken.itemsize)
        strided_copy(lowering, lowering.buffer(value), rows, taken, buffer, target, target.array)
        return buffer


def transposed(rank: int) -> Permuted:
    """Return the layout of matrices with the last two axes exchanged (column-major)."""
    return Permuted((*range(rank - 2), rank - 1, rank - 2))
