"""Conversion of sparse constants to dense arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tflite

from hetero.core.types import Type
from hetero.system.errors import FrontendError

# Maximum size of a dense tensor in bytes: a few bytes of a sparse one can expand to any size.
MAX_BYTES = 1 << 30

_INDEX_VECTORS = {1: tflite.Int32Vector, 2: tflite.Uint16Vector, 3: tflite.Uint8Vector}


def densify(sparsity: tflite.SparsityParameters, data: memoryview, kind: Type, shape: tuple[int, ...]) -> np.ndarray:
    """Return the dense array of a sparse constant whose stored elements are ``data``.

    A sparse tensor is a tree. Each level is a dimension of the tensor, or of the blocks that some dimensions are
    divided into; its branches are all indices of the dimension (DENSE) or the listed ones (SPARSE_CSR). The leaves are
    the stored elements. See SparsityParameters in the schema, and Chou et al., Format Abstraction for Sparse Tensor
    Algebra Compilers, 2018. Raises FrontendError if the sparsity does not match the shape or the data.
    """
    order = sparsity.TraversalOrderAsNumpy().tolist()
    blocked = sparsity.BlockMapAsNumpy().tolist() if sparsity.BlockMapLength() else []
    rank, size = len(shape), math.prod(shape)
    if sorted(order) != list(range(rank + len(blocked))) or sparsity.DimMetadataLength() != len(order):
        raise FrontendError(f"its sparsity has other dimensions than its shape {list(shape)}")
    if size * kind.size > MAX_BYTES:
        raise FrontendError(f"its shape {list(shape)} needs more than {MAX_BYTES >> 30} GiB")
    values = np.frombuffer(data, kind.to_dtype())
    leaf_indices, lengths = _leaves(sparsity, order, size)
    index = [leaf_indices[dimension] for dimension in range(rank)]
    for block, dimension in enumerate(blocked, rank):
        index[dimension] = index[dimension] * lengths[block] + leaf_indices[block]
    if any(len(along) != len(values) or np.any(along >= length) for along, length in zip(index, shape)):
        raise FrontendError("the number or the indices of its elements do not match its sparsity")
    dense = np.zeros(shape, values.dtype)
    dense[tuple(index)] = values
    return dense


def _leaves(
    sparsity: tflite.SparsityParameters, order: list[int], limit: int
) -> tuple[dict[int, np.ndarray], dict[int, int]]:
    """Return the indices of all leaves along each dimension, and the lengths of the DENSE dimensions."""
    leaf_indices: dict[int, np.ndarray] = {}
    lengths: dict[int, int] = {}
    count = 1
    for level, dimension in enumerate(order):
        metadata = sparsity.DimMetadata(level)
        if metadata.Format() == tflite.DimensionType.DENSE:
            lengths[dimension] = length = metadata.DenseSize()
            if not 0 <= count * length <= limit:
                raise FrontendError("its sparsity has more elements than its shape")
            branches, indices = np.full(count, length), np.tile(np.arange(length), count)
        else:
            segments = _indices(metadata.ArraySegmentsType(), metadata.ArraySegments())
            branches, indices = np.diff(segments), _indices(metadata.ArrayIndicesType(), metadata.ArrayIndices())
            if len(branches) != count or branches.min(initial=0) < 0 or branches.sum() != len(indices):
                raise FrontendError(f"the segments and indices of level {level} of its sparsity do not match")
        leaf_indices = {outer: np.repeat(along, branches) for outer, along in leaf_indices.items()}
        leaf_indices[dimension], count = indices, len(indices)
    return leaf_indices, lengths


def _indices(kind: int, table: Any) -> np.ndarray:
    vector = _INDEX_VECTORS[kind]()
    vector.Init(table.Bytes, table.Pos)
    return np.asarray(vector.ValuesAsNumpy(), np.int64)
