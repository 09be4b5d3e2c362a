"""Sparse constants, written out."""

from __future__ import annotations

import math

import numpy as np
import tflite

from hetero.errors import FrontendError
from hetero.types import Type

# The most bytes that a tensor may have when it is written out: a few bytes of a file can stand for any number.
MOST_BYTES = 1 << 30

_INDEX_VECTORS = {1: tflite.Int32Vector, 2: tflite.Uint16Vector, 3: tflite.Uint8Vector}


def densify(sparsity: tflite.SparsityParameters, data: memoryview, kind: Type, shape: tuple[int, ...]) -> np.ndarray:
    """The whole tensor of one of which only some elements are kept.

    A tensor is a tree: each level stands for a dimension, of the tensor or of blocks that some dimensions are divided
    into, and its branches are all places of the dimension, or those listed (as in compressed sparse rows). The leaves
    are the elements kept. See SparsityParameters in the schema, and Chou et al., Format Abstraction for Sparse Tensor
    Algebra Compilers, 2018. Raises FrontendError where it does not fit the shape.
    """
    order = sparsity.TraversalOrderAsNumpy().tolist()
    blocked = sparsity.BlockMapAsNumpy().tolist() if sparsity.BlockMapLength() else []
    rank, size = len(shape), math.prod(shape)
    if sorted(order) != list(range(rank + len(blocked))) or sparsity.DimMetadataLength() != len(order):
        raise FrontendError("its dimensions do not fit its sparsity")
    if size * kind.size > MOST_BYTES:
        raise FrontendError(f"its shape {list(shape)} needs more than {MOST_BYTES >> 30} GiB")
    values = np.frombuffer(data, kind.to_dtype())
    places, lengths = _leaves(sparsity, order, size)
    index = [places[dimension] for dimension in range(rank)]
    for block, dimension in enumerate(blocked, rank):
        index[dimension] = index[dimension] * lengths[block] + places[block]
    if any(len(place) != len(values) or np.any(place >= length) for place, length in zip(index, shape)):
        raise FrontendError("its elements do not fit its sparsity")
    dense = np.zeros(shape, values.dtype)
    dense[tuple(index)] = values
    return dense


def _leaves(
    sparsity: tflite.SparsityParameters, order: list[int], most: int
) -> tuple[dict[int, np.ndarray], dict[int, int]]:
    """Of each dimension the places of all leaves, and its length where the tree has all its places."""
    places: dict[int, np.ndarray] = {}
    lengths: dict[int, int] = {}
    count = 1
    for level, dimension in enumerate(order):
        metadata = sparsity.DimMetadata(level)
        if metadata.Format() == tflite.DimensionType.DENSE:
            lengths[dimension] = length = metadata.DenseSize()
            if not 0 <= count * length <= most:
                raise FrontendError("its sparsity has more elements than its shape")
            branches, made = np.full(count, length), np.tile(np.arange(length), count)
        else:
            segments = _indices(metadata.ArraySegmentsType(), metadata.ArraySegments())
            branches, made = np.diff(segments), _indices(metadata.ArrayIndicesType(), metadata.ArrayIndices())
            if len(branches) != count or branches.min(initial=0) < 0 or branches.sum() != len(made):
                raise FrontendError("its sparsity does not fit itself")
        places = {known: np.repeat(place, branches) for known, place in places.items()}
        places[dimension], count = made, len(made)
    return places, lengths


def _indices(kind: int, table: object) -> np.ndarray:
    vector = _INDEX_VECTORS[kind]()
    vector.Init(table.Bytes, table.Pos)
    return np.asarray(vector.ValuesAsNumpy(), np.int64)
