"""Layouts: other arrangements of a value's elements in memory than its rows one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hetero.graph import Output
from hetero_opencl.constants import contiguous
from hetero_opencl.kernels.movement import View, strided_copy, view_of
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


class Layout(ABC):
    """An arrangement that kernels ask ``Lowering.buffer`` for. Equal ones are made once for all readers of a value."""

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def arrange(self, array: np.ndarray) -> np.ndarray:
        """The elements of a constant as they are to lie in memory."""

    @abstractmethod
    def convert(self, lowering: Lowering, value: Output) -> Buffer:
        """Launch the conversion of a value from its rows."""


@dataclass(frozen=True)
class Permuted(Layout):
    """The axes in another order: the last one named has its elements side by side."""

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
    """Matrices by columns: the last two axes in the other order."""
    return Permuted((*range(rank - 2), rank - 1, rank - 2))
