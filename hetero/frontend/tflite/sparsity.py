"""Sparse constants, written out."""

from __future__ import annotations

import math

import numpy as np
import tflite

from hetero.errors import FrontendError
from hetero.types import Type

_INDEX_VECTORS = {1: tflite.Int32Vector, 2: tflite.Uint16Vector, 3: tflite.Uint8Vector}


def densify(sparsity: tflite.SparsityParameters, data: memoryview, kind: Type, shape: tuple[int, ...]) -> np.ndarray:
    """The whole tensor of one that is kept as its blocks that are not zero.

    The dimensions are those of the tensor, and after them those within blocks, in the order in which they are
    traversed; each is either dense, or lists its places for each place of the one before it (compressed rows). See the
    schema's SparsityParameters, and Kjolstad et al., The Tensor Algebra Compiler, 2017. Raises FrontendError.
    """
    order = sparsity.TraversalOrderAsNumpy().tolist()
    blocked = sparsity.BlockMapAsNumpy().tolist() if sparsity.BlockMapLength() else []
    rank, count = len(shape), sparsity.DimMetadataLength()
    if count != len(order) or sorted(order) != list(range(rank + len(blocked))):
        raise FrontendError("its dimensions do not fit its sparsity")
    lengths = [0] * count
    # Places of the entries, dimension by dimension in the order of traversal.
    places: list[np.ndarray] = []
    total = 1
    for level, dimension in enumerate(order):
        metadata = sparsity.DimMetadata(level)
        if metadata.Format() == tflite.DimensionType.DENSE:
            size = metadata.DenseSize()
            lengths[dimension] = size
            if total * size > len(data) * 8 * max(1, math.prod(shape)):
                raise FrontendError("its sparsity makes more of it than its shape holds")
            places = [np.repeat(place, size) for place in places]
            places.append(np.tile(np.arange(size), total))
            total *= size
            continue
        segments = _indices(metadata.ArraySegmentsType(), metadata.ArraySegments())
        indices = _indices(metadata.ArrayIndicesType(), metadata.ArrayIndices())
        if len(segments) != total + 1 or np.any(np.diff(segments) < 0) or segments[-1] != len(indices):
            raise FrontendError("its sparsity does not fit itself")
        places = [np.repeat(place, np.diff(segments)) for place in places]
        places.append(indices)
        total = len(indices)
    return _scatter(dict(zip(order, places)), blocked, _lengths_of_blocks(lengths, rank), data, kind, shape)


def _lengths_of_blocks(lengths: list[int], rank: int) -> list[int]:
    """The lengths within blocks, which are always dense."""
    return lengths[rank:]


def _scatter(
    places: dict[int, np.ndarray], blocked: list[int], block: list[int], data: memoryview, kind: Type,
    shape: tuple[int, ...],
) -> np.ndarray:  # fmt: skip
    values = np.frombuffer(data, kind.to_dtype())
    index = [places[dimension] for dimension in range(len(shape))]
    for position, dimension in enumerate(blocked):
        index[dimension] = index[dimension] * block[position] + places[len(shape) + position]
    if any(len(place) != len(values) for place in index) or any(np.any(p >= n) for p, n in zip(index, shape)):
        raise FrontendError("its values do not fit its sparsity")
    dense = np.zeros(shape, values.dtype)
    dense[tuple(index)] = values
    return dense


def _indices(kind: int, table: object) -> np.ndarray:
    vector = _INDEX_VECTORS[kind]()
    vector.Init(table.Bytes, table.Pos)
    return np.asarray(vector.ValuesAsNumpy(), np.int64)
