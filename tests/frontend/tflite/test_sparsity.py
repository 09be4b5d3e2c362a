"""Sparse constants against LiteRT's DENSIFY."""

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from tests.frontend.tflite.agreement import assert_as_litert, assert_gives
from tests.frontend.tflite.graphs import Graph, Op, Tensor
from tests.frontend.tflite.models import build, constant, feed, model_of, out

VECTORS = {
    np.uint8: (schema.SparseIndexVector.Uint8Vector, schema.Uint8VectorT),
    np.uint16: (schema.SparseIndexVector.Uint16Vector, schema.Uint16VectorT),
    np.int32: (schema.SparseIndexVector.Int32Vector, schema.Int32VectorT),
}


def of_dense(size):
    return schema.DimensionMetadataT(format=schema.DimensionType.DENSE, denseSize=int(size))


def of_listed(segments, indices, kind):
    number, vector = VECTORS[kind]
    listed = [vector(values=np.array(numbers, kind)) for numbers in (segments, indices)]
    return schema.DimensionMetadataT(
        format=schema.DimensionType.SPARSE_CSR,
        arraySegmentsType=number, arraySegments=listed[0], arrayIndicesType=number, arrayIndices=listed[1],
    )  # fmt: skip


def sparse(dense, columns_first=False, block=(), kind=np.int32):
    """Return the sparsity of a matrix of elements or blocks, in compressed rows or columns."""
    height, width = block or (1, 1)
    blocks = dense.reshape(dense.shape[0] // height, height, -1, width)
    blocks = blocks.transpose((2, 0, 1, 3) if columns_first else (0, 2, 1, 3))
    filled = np.any(blocks != 0, (2, 3))
    segments = [0, *np.cumsum(filled.sum(1))]
    order = [1, 0] if columns_first else [0, 1]
    dimensions = [of_dense(len(filled)), of_listed(segments, np.nonzero(filled)[1], kind)]
    parameters = schema.SparsityParametersT(
        traversalOrder=np.array(order + [2, 3][: len(block)], np.int32),
        blockMap=np.array([0, 1], np.int32) if block else None,
        dimMetadata=dimensions + [of_dense(size) for size in block],
    )
    return Tensor(blocks[filled].reshape(-1), dense.dtype, dense.shape, is_constant=True, sparsity=parameters)


def matrix(dtype=np.float32):
    numbers = np.arange(1, 49).reshape(6, 8)
    return np.where((numbers % 3 == 0) | (numbers // 8 == 4), 0, numbers).astype(dtype)


BLOCKS = np.kron(np.array([[1, 0, 0, 2], [0, 0, 0, 0], [0, 3, 4, 0]]), np.arange(1, 5).reshape(2, 2)).astype(np.float32)
CASES = {
    "rows": sparse(matrix()),
    "columns": sparse(matrix(), columns_first=True),
    "rows of f16": sparse(matrix(np.float16)),
    "columns of i8": sparse(matrix(np.int8), columns_first=True),
    "u8 indices": sparse(matrix(), kind=np.uint8),
    "u16 indices": sparse(matrix(), kind=np.uint16),
    "blocks": sparse(BLOCKS, block=(2, 2)),
    "blocks by columns": sparse(BLOCKS, True, (2, 2)),
    "nothing": sparse(np.zeros((2, 4), np.float32)),
}


@pytest.mark.parametrize("name", CASES)
def test_densify(name):
    densify = Op("DENSIFY", [CASES[name]])
    # LiteRT calls the output of a DENSIFY as it likes.
    assert_as_litert(build(Graph([densify, Op("CAST", densify.outputs, [out(np.int32)])])))


def test_what_is_written_out():
    """Compare with the dense array, independently of LiteRT."""
    assert_gives(model_of("DENSIFY", sparse(BLOCKS, block=(2, 2))), [BLOCKS], "TEMPLATE", 0)


def test_sparse_halves_as_weights():
    """As in MediaPipe's models: sparse f16 weights, DENSIFY, then DEQUANTIZE to f32."""
    densify = Op("DENSIFY", [sparse(matrix(np.float16))], [out(np.float16)])
    dequantize = Op("DEQUANTIZE", densify.outputs, [out(np.float32)])
    product = Op("FULLY_CONNECTED", [feed((2, 8)), dequantize.outputs[0], constant(np.ones(6, np.float32))])
    assert_as_litert(build(Graph([densify, dequantize, product])))
