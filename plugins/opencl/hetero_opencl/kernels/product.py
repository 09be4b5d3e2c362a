"""Products of matrices: the routine that convolutions share, and MatMul."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero import ops
from hetero.graph import Node, Output, is_constant
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.device import OpenCLDevice
    from hetero_opencl.lowering import Lowering

# Tiles of rows by vectors of 16 columns that fit the registers, each with its speed as a part of the fastest one's: for
# processors whose registers hold 16 floats (12 x 2 vectors take 24 of 32 registers; measured with PoCL on one with
# AVX-512, at 470 GFLOP/s for 1), 8 floats, and for others (both estimated).
_TILES = {
    16: {
        **{(12, 2): 1.0, (8, 2): 0.9, (4, 2): 0.44, (2, 2): 0.23, (1, 2): 0.11},
        **{(12, 1): 0.75, (8, 1): 0.54, (4, 1): 0.29, (2, 1): 0.14, (1, 1): 0.07},
    },
    8: {(6, 1): 1.0, (4, 1): 0.8, (2, 1): 0.5, (1, 1): 0.3},
    1: {(8, 1): 1.0, (4, 1): 0.7, (2, 1): 0.4, (1, 1): 0.2},
}
# For the kernels that have no tiles.
_SMALLEST = {"ROWS": 1, "VECTORS": 1, "GROUP_ROWS": 1, "GROUP_COLUMNS": 1, "PACKED": 0}
# Tiles along rows and columns in a work-group. A core of a CPU computes one after the other anyway; a GPU wants a whole
# wave of them, which then reads the same numbers.
_GROUP_ON_GPUS = (16, 4)


class Factors(NamedTuple):
    """The left matrices of a batched product: constants are packed, others are read where they lie."""

    array: np.ndarray | None  # [batches, rows, depth] of a constant
    buffer: Buffer | None
    row_stride: int = 0
    depth_stride: int = 0
    batches: int = 1
    batch_stride: int = 0


class Bias(NamedTuple):
    """Numbers to add, one for each row or for each column."""

    buffer: Buffer
    is_per_row: bool


def multiply(
    lowering: Lowering,
    left: Factors,
    right: Buffer,
    result: Buffer,
    size: tuple[int, int, int],
    batches: int = 1,
    right_batch_stride: int = 0,
    bias: Bias | None = None,
    offsets: tuple[int, int, int] = (0, 0, 0),
) -> None:
    """Launch ``result = left · right + bias`` for a batch; ``size`` is rows, columns and depth.

    Batch z takes the matrix z modulo ``left.batches`` on the left. Offsets, in elements, are of left, right and result.
    """
    rows, columns, depth = size
    has_bias = 0 if bias is None else 1 if bias.is_per_row else 2
    biases = [bias.buffer] if bias else []
    if columns == 1 and left.array is not None and not any(offsets):
        text = source("product", **_SMALLEST, BIAS=has_bias)
        a = lowering.constant(left.array)
        numbers = [rows, depth, left.batches, rows * depth, right_batch_stride]
        arguments = [a, right, *biases, result, *map(np.int32, numbers)]
        return lowering.launch_flat(text, "matrix_by_vector", arguments, batches * rows)
    tile_rows, vectors = _tile(lowering.device, rows, columns)
    packed, a = left.array is not None, left.buffer
    if packed:
        a = lowering.constant(left.array, ("tiles", tile_rows), partial(pack, tile_rows=tile_rows))
    tiles = -(-rows // tile_rows)
    batch_stride = tiles * tile_rows * depth if packed else left.batch_stride
    group = (1, 1) if lowering.device.is_cpu else _GROUP_ON_GPUS
    sizes = {"ROWS": tile_rows, "VECTORS": vectors, "GROUP_ROWS": group[0], "GROUP_COLUMNS": group[1]}
    text = source("product", **sizes, PACKED=int(packed), BIAS=has_bias)
    items = [-(-count // side) * side for count, side in zip((tiles, -(-columns // (16 * vectors))), group)]
    numbers = [rows, columns, depth, left.row_stride, left.depth_stride, left.batches, batch_stride, right_batch_stride]
    arguments = [a, right, *biases, result, *map(np.int32, [*numbers, *offsets])]
    lowering.launch(text, "product", arguments, [*items, batches], [*group, 1])


def pack(array: np.ndarray, tile_rows: int) -> np.ndarray:
    """Matrices [batches, rows, depth] tile by tile: [batches, tiles, depth, tile_rows], rows filled up with zeros."""
    batches, rows, depth = array.shape
    tiles = -(-rows // tile_rows)
    padded = array
    if rows % tile_rows:
        padded = np.zeros((batches, tiles * tile_rows, depth), np.float32)
        padded[:, :rows] = array
    return np.ascontiguousarray(padded.reshape(batches, tiles, tile_rows, depth).swapaxes(2, 3))


def _tile(device: OpenCLDevice, rows: int, columns: int) -> tuple[int, int]:
    width = device.handle.native_vector_width_float
    tiles = _TILES[16 if width >= 16 else 8 if width >= 4 else 1]

    def cost(tile: tuple[int, int]) -> float:
        computed = -(-rows // tile[0]) * tile[0] * -(-columns // (16 * tile[1])) * 16 * tile[1]
        return computed / tiles[tile]

    return min(tiles, key=cost)


def _refusal(node: Node) -> str | None:
    if node.get_input_element_type(0) is not Type.f32:
        return f"no kernel for {node.type_info.name} of {node.get_input_element_type(0)}"
    ranks = [value.partial_shape.has_rank for value in node.input_values()]
    return None if all(ranks) else "the rank of an input is not known"


@lowers(ops.MatMul, unless=_refusal)
def matmul(lowering: Lowering, node: Node) -> None:
    a, b = node.input_values()
    result = lowering.fusion.result_of(node)
    bias = lowering.fusion.bias_of.get(node)
    if bias is not None:
        addend = next(value for value in bias.input_values() if value.node is not node)
        bias = Bias(lowering.buffer(addend), is_per_row=False)
    rows, depth = _matrix(a.shape, node.transpose_a, is_left=True)
    columns = _matrix(b.shape, node.transpose_b, is_left=False)[1]
    batch_a, batch_b = a.shape[:-2], b.shape[:-2]
    transpose_a = node.transpose_a and len(a.shape) > 1
    right = _right(lowering, b, node.transpose_b and len(b.shape) > 1)
    strides = (1, rows) if transpose_a else (depth, 1)
    count_a, count_b = int(np.prod(batch_a)), int(np.prod(batch_b))
    if count_b == 1 and not transpose_a:
        # One product of the rows of all matrices.
        rows, count_a = rows * count_a, 1
    left = Factors(None, lowering.buffer(a), *strides, batches=count_a, batch_stride=rows * depth)
    target, size = lowering.buffer(result), (rows, columns, depth)
    if count_a in (1, count_b) or count_b == 1:
        stride = depth * columns if count_b > 1 else 0
        return multiply(lowering, left, right, target, size, max(count_a, count_b), stride, bias)
    # Batches of different shapes that are broadcast: one launch for each pair.
    batch = np.broadcast_shapes(batch_a, batch_b)
    of_a = np.broadcast_to(np.arange(count_a).reshape(batch_a), batch).reshape(-1)
    of_b = np.broadcast_to(np.arange(count_b).reshape(batch_b), batch).reshape(-1)
    for index, (i, j) in enumerate(zip(of_a.tolist(), of_b.tolist())):
        offsets = (i * rows * depth, j * depth * columns, index * rows * columns)
        multiply(lowering, left._replace(batches=1), right, target, size, bias=bias, offsets=offsets)


def _matrix(shape: tuple[int, ...], transposed: bool, is_left: bool) -> tuple[int, int]:
    if len(shape) == 1:
        return (1, shape[0]) if is_left else (shape[0], 1)
    return (shape[-1], shape[-2]) if transposed else (shape[-2], shape[-1])


def _right(lowering: Lowering, b: Output, transposed: bool) -> Buffer:
    """The right matrices with the columns of a row side by side."""
    if not transposed:
        return lowering.buffer(b)
    if is_constant(b):
        return lowering.constant(b.node.data.swapaxes(-1, -2))
    count = int(np.prod(b.shape))
    scratch = lowering.scratch(count)
    text = source("product", **_SMALLEST, BIAS=0)
    sizes = [np.int32(b.shape[-2]), np.int32(b.shape[-1])]
    lowering.launch_flat(text, "transposed", [lowering.buffer(b), scratch, *sizes], count)
    return scratch
