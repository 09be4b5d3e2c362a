"""The matrices of a batched product, as its kernels read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetero_opencl.device.launch import Buffer


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
