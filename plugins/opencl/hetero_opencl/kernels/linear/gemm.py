"""Matrix products (gemm), for MatMul, convolutions and attention."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.lengths.length import about, hint_of
from hetero.core.types import Type
from hetero.graph import Output, constant_array
from hetero_opencl.device.launch import Buffer
from hetero_opencl.device.transfers import contiguous
from hetero_opencl.kernels.common.copies import Axis, merge_axes
from hetero_opencl.kernels.common.definition import (
    OF_8_BYTES,
    SINGLE,
    SUMS,
    ProductTypes,
    by_family,
    lowers,
    source_of_sums,
    unsupported_unless,
)
from hetero_opencl.kernels.common.view import broadcast_shapes
from hetero_opencl.kernels.elementwise.epilogue import EpilogueMaker, make_epilogue, no_epilogue
from hetero_opencl.kernels.linear.compressed_gemm import compressed_weights
from hetero_opencl.kernels.linear.gemv import gemv, is_gemv, shared_gemv
from hetero_opencl.kernels.linear.group_gemm import FULL, choose_tile, group_gemm
from hetero_opencl.kernels.linear.product import Batch, Factors, Product
from hetero_opencl.lowering.implementation import KernelOperation, column_major, traffic
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile

# Tiles (rows, vectors of 16 columns) that fit the registers, with their speed relative to the fastest one. Keys: the
# number of floats in a register: 16 (12 x 2 vectors take 24 of 32 registers; measured with PoCL on AVX-512, where 1 is
# 470 GFLOP/s), and fewer (estimated).
_TILES = {
    16: {
        **{(12, 2): 1.0, (8, 2): 0.9, (4, 2): 0.44, (2, 2): 0.23, (1, 2): 0.11},
        **{(12, 1): 0.75, (8, 1): 0.54, (4, 1): 0.29, (2, 1): 0.14, (1, 1): 0.07},
    },
    8: {(6, 1): 1.0, (4, 1): 0.8, (2, 1): 0.5, (1, 1): 0.3},
}
# On GPUs: a tile that no compiler spills, shapes of work-groups of a wave or more, and how many times as many results
# may be computed with them as with tiles in local memory.
_TILE_ON_GPUS, _GROUPS_ON_GPUS, _PADDING = (4, 1), ((16, 4), (8, 8), (4, 16)), 1.25
# Types that are multiplied with i32 without a conversion.
SMALL_INTEGERS = (Type.i8, Type.u8, Type.i16, Type.u16)


class RowRange(NamedTuple):
    """A range of the rows of larger matrices, which have ``total`` rows: those from ``first`` on."""

    first: int
    total: int


def gemm(
    lowering: Lowering,
    left: Factors,
    right: Buffer,
    result: Buffer,
    size: tuple[int, int, int],
    batches: int = 1,
    right_batch_stride: int = 0,
    epilogue: EpilogueMaker = no_epilogue,
    types: ProductTypes = SINGLE,
) -> None:
    """Launch ``result = epilogue(left · right)`` for a batch; ``size`` is rows, columns and depth.

    Product i of the batch takes the left matrix i modulo ``left.batches``.
    """
    if batches:
        inner = left.batches
        strides = (inner * right_batch_stride, right_batch_stride)
        batch = Batch(batches // inner, inner, (0, left.batch_stride), strides)
        launch_product(lowering, Product(left, right, result, *size, batch, epilogue, types=types))


@by_family
def launch_product(lowering: Lowering, product: Product) -> None:
    """Launch the products of a batch."""
    (gemv if is_gemv(product) else _tiled_gemm)(lowering, product)


@launch_product.on_gpus
def _launch_on_gpu(lowering: Lowering, product: Product) -> None:
    if 1 in (product.rows, product.columns):
        return shared_gemv(lowering, product)
    group = _full_group(lowering.profile, product)
    if group is None:
        return group_gemm(lowering, product)
    _tiled_gemm(lowering, product, _TILE_ON_GPUS, group)


def _full_group(profile: DeviceProfile, product: Product) -> tuple[int, int] | None:
    """Return the work-items of a group along rows and columns, for tiles in registers; None if local memory pays.

    It does unless left matrices are constants, as packed ones are read without waiting, and the tiles fill the device
    with about as little padding as those in local memory have.
    """
    is_wide = SUMS[product.types.result] in OF_8_BYTES
    if is_wide or not isinstance(product.left.matrices, np.ndarray):
        return None
    size = about(product.rows), about(product.columns), about(product.depth)
    tile, _ = choose_tile(profile, size, product.batches, is_wide)
    most = _PADDING * _computed(size, (tile.rows, tile.columns))
    rows, vectors = _TILE_ON_GPUS
    found = []
    for group in _GROUPS_ON_GPUS:
        sides = rows * group[0], 16 * vectors * group[1]
        computed = _computed(size, sides)
        groups = computed // math.prod(sides) * about(product.batches)
        if computed <= most and groups >= FULL * profile.compute_units:
            found.append((computed, group))
    return min(found)[1] if found else None


def _computed(size: tuple[int, int, int], sides: tuple[int, int]) -> int:
    """Return how many results of a matrix work-groups compute, those past its end included, ``sides`` each."""
    return math.prod(-(-length // side) * side for length, side in zip(size[:2], sides))


def _tiled_gemm(
    lowering: Lowering, product: Product, tile: tuple[int, int] | None = None, group: tuple[int, int] = (1, 1)
) -> None:
    """Launch products with tiles in registers. ``tile``: rows and vectors, by default those of processors."""
    left, batch, types = product.left, product.batch, product.types
    rows, columns, depth = product.rows, product.columns, product.depth
    packed = isinstance(left.matrices, np.ndarray)
    tile_rows, vectors = tile or _tile(lowering.profile, about(rows), about(columns), types)
    tiles = -(-rows // tile_rows)
    if isinstance(left.matrices, np.ndarray):
        a = lowering.constant(left.matrices, ("tiles", tile_rows), partial(pack, tile_rows=tile_rows))
        a_strides = (0, tiles * tile_rows * depth)
    else:
        a, a_strides = left.matrices, batch.left
    after = product.epilogue(16)
    text = source_of_sums("gemm", types, after.text, ROWS=tile_rows, VECTORS=vectors, PACKED=int(packed))
    numbers = [rows, columns, depth, batch.inner, *a_strides, *batch.right, *product.offsets, product.result_stride]
    numbers += [left.row_stride, left.depth_stride]
    lowering.note_decision(f"tiles of {tile_rows} by {16 * vectors} for {hint_of(rows)} by {hint_of(columns)}")
    sizes = zip((tiles, -(-columns // (16 * vectors))), group)
    global_size = [*(-(-count // items) * items for count, items in sizes), product.batches]
    arguments: list[Argument] = [a, product.right, product.result, *numbers, *after.arguments]
    lowering.launch(text, "gemm", arguments, global_size, [*group, 1])


def pack(array: np.ndarray, tile_rows: int) -> np.ndarray:
    """Return matrices [batches, rows, depth] as tiles [batches, tiles, depth, tile_rows], padded with rows of zeros."""
    batches, rows, depth = array.shape
    tiles = -(-rows // tile_rows)
    padded = array
    if rows % tile_rows:
        padded = np.zeros((batches, tiles * tile_rows, depth), array.dtype)
        padded[:, :rows] = array
    return np.ascontiguousarray(padded.reshape(batches, tiles, tile_rows, depth).swapaxes(2, 3))


def _tile(profile: DeviceProfile, rows: int, columns: int, types: ProductTypes) -> tuple[int, int]:
    tiles = _TILES[16 if profile.vector_width >= 16 else 8]
    if SUMS[types.result] in OF_8_BYTES:  # registers hold half as many
        limit = max(r * vectors for r, vectors in tiles) // 2
        tiles = {tile: speed for tile, speed in tiles.items() if tile[0] * tile[1] <= limit}

    def cost(tile: tuple[int, int]) -> float:
        computed = -(-rows // tile[0]) * tile[0] * -(-columns // (16 * tile[1])) * 16 * tile[1]
        return computed / tiles[tile]

    return min(tiles, key=cost)


unsupported_gemm = unsupported_unless(SUMS)


def _seconds(operation: KernelOperation, profile: DeviceProfile) -> float:
    if compressed_weights(operation.main) is not None:
        return math.inf  # it would read them decoded
    # A gemm from rows reaches about 60 % of that of packed matrices.
    flops = 2 * math.prod(operation.result.shape) * (operation.source(0).shape or (1,))[-1]
    seconds = flops / (0.6 * profile.flops_per_second) + traffic(operation) / profile.bytes_per_second
    return seconds + profile.launch_seconds


@lowers(ops.MatMul, unsupported=unsupported_gemm, estimate=_seconds)
def matmul(lowering: Lowering, node: ops.MatMul) -> None:
    operation = lowering.operation
    a, b = operation.source(0), operation.source(1)
    rows, depth = _matrix(a.shape, node.transpose_a, is_left=True)
    columns = _matrix(b.shape, node.transpose_b, is_left=False)[1]
    transpose_a = node.transpose_a and len(a.shape) > 1 and rows > 1
    right, kind = right_matrices(lowering, b, node.transpose_b and len(b.shape) > 1), narrow_type(b)
    batched_gemm(
        lowering, Factors(lowering.buffer(a), *((1, rows) if transpose_a else (depth, 1))), right,
        lowering.buffer(operation.result), (rows, columns, depth), (a.shape[:-2], b.shape[:-2]),
        partial(make_epilogue, lowering, operation, in_channels=True),
        ProductTypes(a.element_type, kind, node.get_element_type()),
    )  # fmt: skip


def batched_gemm(
    lowering: Lowering,
    left: Factors,
    right: Buffer,
    result: Buffer,
    size: tuple[int, int, int],
    batches: tuple[Sequence[int], Sequence[int]],
    epilogue: EpilogueMaker = no_epilogue,
    types: ProductTypes = SINGLE,
    left_part: RowRange | None = None,
    result_part: RowRange | None = None,
) -> None:
    """Launch products of contiguous matrices; ``batches``, the leading axes of both, are broadcast.

    If only a part of the left rows is read, or of the result written, ``size`` has the number of rows of the part.
    """
    rows, columns, depth = size
    first, total = left_part or RowRange(0, rows)
    first_result, total_result = result_part or RowRange(0, rows)
    shape = broadcast_shapes(*batches)
    strides = [strides_of(of_one, len(shape), step) for of_one, step in zip(batches, (total * depth, depth * columns))]
    axes = merge_axes([Axis(*axis) for axis in zip(shape, *strides)])
    while axes and axes[-1][1:] == (rows * depth, 0) and left.depth_stride == 1 and total_result == rows:
        # The left matrices along this axis share the right matrix: one product of all their rows.
        rows *= axes.pop().length
        total_result = rows
    # The kernel supports two batch axes; more are rare.
    *looped, outer, inner = [Axis(1, 0, 0)] * 2 + axes
    (lengths, left_steps, right_steps), stride = zip(outer, inner), total_result * columns
    batch, count = Batch(*lengths, left_steps, right_steps, stride), outer.length * inner.length * stride
    for index, places in enumerate(itertools.product(*(range(axis.length) for axis in looped))):
        of_left, of_right = (sum(axis[side] * place for axis, place in zip(looped, places)) for side in (1, 2))
        offsets = (of_left + first * depth, of_right, index * count + first_result * columns)
        product = Product(left, right, result, rows, columns, depth, batch, epilogue, offsets, types)
        launch_product(lowering, product)


def strides_of(shape: Sequence[int], rank: int, step: int) -> list[int]:
    """Return the strides of contiguous matrices of ``step`` elements along ``rank`` batch axes; 0 if broadcast."""
    strides: list[int] = []
    for length in reversed(shape):
        strides.insert(0, 0 if length == 1 else step)
        step *= length
    return [0] * (rank - len(shape)) + strides


def _matrix(shape: tuple[int, ...], transposed: bool, is_left: bool) -> tuple[int, int]:
    if len(shape) == 1:
        return (1, shape[0]) if is_left else (shape[0], 1)
    return (shape[-1], shape[-2]) if transposed else (shape[-2], shape[-1])


def right_matrices(lowering: Lowering, b: Output, transposed: bool) -> Buffer:
    """Return a buffer of the right matrices in row-major order. Constants get the narrowest type."""
    transposed, kind, array = transposed and 1 not in b.shape[-2:], narrow_type(b), constant_array(b)
    if array is not None and kind is not b.element_type:
        array = array.swapaxes(-1, -2) if transposed else array
        return lowering.constant(array, (kind,), lambda array: contiguous(array).astype(kind.to_dtype()))
    return lowering.buffer(b, column_major(len(b.shape))) if transposed else lowering.buffer(b)


def narrow_type(value: Output) -> Type:
    """Return the type in which factors are read: for i32 constants the smallest one that holds them."""
    array = constant_array(value)
    if value.element_type is not Type.i32 or array is None or not array.size:
        return value.element_type
    low, high = int(array.min()), int(array.max())
    limits = ((kind, np.iinfo(kind.to_dtype())) for kind in SMALL_INTEGERS)
    return next((kind for kind, limit in limits if limit.min <= low and high <= limit.max), Type.i32)
