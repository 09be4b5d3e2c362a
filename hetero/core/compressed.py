"""Arrays that take fewer bytes than their elements in numpy, and are decoded on demand."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hetero.core.packing import packed_size, unpack
from hetero.core.types import Type


class CompressedArray(ABC):
    """An array in another form than numpy's, such as that of a file. It does not change."""

    element_type: Type
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    @abstractmethod
    def byte_size(self) -> int:
        """The number of bytes that it takes."""

    @abstractmethod
    def decode(self) -> np.ndarray:
        """Return the elements as a new array of numpy."""


@dataclass(frozen=True, eq=False)
class PackedArray(CompressedArray):
    """Elements of which several share a byte, as files have them (see ``packing.pack``).

    Raises ValueError unless ``content``, a vector of bytes, has as many as the elements take.
    """

    content: np.ndarray
    element_type: Type
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.content.size != (needed := packed_size(self.size, self.element_type)):
            raise ValueError(f"{self.element_type}{list(self.shape)} takes {needed} bytes, not {self.content.size}")

    @property
    def byte_size(self) -> int:
        return self.content.nbytes

    def decode(self) -> np.ndarray:
        return unpack(self.content, self.element_type, self.shape)


@dataclass(frozen=True, eq=False)
class ScaledBlocks(CompressedArray):
    """A matrix of real numbers ``(codes - zero point) * scale``, with a scale for each block of a row.

    ``codes`` are integers ``[rows, columns]``. ``scale`` and ``zero_point`` (None if it is 0) are real numbers
    ``[rows or 1, blocks]``; blocks are equally long. With ``is_transposed`` the matrix is ``[columns, rows]``.
    Arithmetic is in f32, and its results are converted to ``element_type``.
    """

    codes: np.ndarray | PackedArray
    scale: np.ndarray
    zero_point: np.ndarray | None
    element_type: Type
    is_transposed: bool = False

    @property
    def code_type(self) -> Type:
        return self.codes.element_type if isinstance(self.codes, PackedArray) else Type(self.codes.dtype)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # it follows from that of the codes
        rows, columns = self.codes.shape
        return (columns, rows) if self.is_transposed else (rows, columns)

    @property
    def block(self) -> int:
        """The number of elements of a row that have a scale in common."""
        return self.codes.shape[1] // self.scale.shape[1]

    @property
    def byte_size(self) -> int:
        codes = self.codes.byte_size if isinstance(self.codes, PackedArray) else self.codes.nbytes
        return codes + self.scale.nbytes + (self.zero_point.nbytes if self.zero_point is not None else 0)

    def decode(self) -> np.ndarray:
        codes = self.codes.decode() if isinstance(self.codes, PackedArray) else self.codes
        blocks = codes.reshape(codes.shape[0], -1, self.block).astype(np.float32)
        if self.zero_point is not None:
            blocks -= self.zero_point[:, :, None].astype(np.float32)
        blocks *= self.scale[:, :, None].astype(np.float32)
        matrix = blocks.reshape(codes.shape).astype(self.element_type.to_dtype(), copy=False)
        return np.ascontiguousarray(matrix.T) if self.is_transposed else matrix
