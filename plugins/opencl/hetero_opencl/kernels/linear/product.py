"""A batched product of matrices, as its kernels take it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import SINGLE, ProductTypes
from hetero_opencl.kernels.elementwise.epilogue import EpilogueMaker, no_epilogue


class Factors(NamedTuple):
    """Left matrices of a batched product. Constants are packed into tiles, others are read with strides."""

    matrices: np.ndarray | Buffer  # a constant is [batches, rows, depth]
    row_stride: int = 0
    depth_stride: int = 0
    batches: int = 1
    batch_stride: int = 0


class Batch(NamedTuple):
    """Two batch axes, with the strides of left and right matrices in elements, and one stride of results.

    Results are contiguous if their stride is None.
    """

    outer: int = 1
    inner: int = 1
    left: tuple[int, int] = (0, 0)
    right: tuple[int, int] = (0, 0)
    result: int | None = None


class Product(NamedTuple):
    """``result = epilogue(left · right)`` for a batch with two axes.

    ``offsets``, in elements, are those of left, right and result. Constant left matrices are ``batch.inner`` matrices;
    their strides follow from their size.
    """

    left: Factors
    right: Buffer
    result: Buffer
    rows: int
    columns: int
    depth: int
    batch: Batch = Batch()
    epilogue: EpilogueMaker = no_epilogue
    offsets: tuple[int, int, int] = (0, 0, 0)
    types: ProductTypes = SINGLE

    @property
    def batches(self) -> int:
        """The number of matrices of the batch."""
        return self.batch.outer * self.batch.inner

    @property
    def result_stride(self) -> int:
        return self.rows * self.columns if self.batch.result is None else self.batch.result
