"""Kernels: one file a family, with its OpenCL C beside it."""
# ruff: noqa: F401 - importing a family registers its functions

from hetero_opencl.kernels import (
    attention,
    convolution,
    ctc,
    einsum,
    elementwise,
    embedding,
    gather,
    grid_sample,
    interpolation,
    linear_algebra,
    movement,
    nms,
    non_zero,
    normalization,
    one_hot,
    padding,
    pooling,
    product,
    random,
    rearrangement,
    recurrent,
    reduction,
    scatter,
    search,
    softmax,
    sparse,
    top_k,
    unique,
)  # fmt: skip
from hetero_opencl.kernels.registry import lowering_of, why_not
