"""Matrix-vector products (gemv): matrices with one column, and on GPUs with one row."""

from __future__ import annotations

import numpy as np

from hetero.core.lengths.length import hint_of
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import ProductTypes, source_of_sums
from hetero_opencl.kernels.common.sharing import share
from hetero_opencl.kernels.linear.product import Product
from hetero_opencl.lowering.lowering import Argument, Lowering

# Local memory of a work-item: an f64 or i64 sum.
_LOCAL_BYTES = 8


def is_gemv(product: Product) -> bool:
    """Return whether a product is that of contiguous rows and a column."""
    left = product.left
    is_contiguous = isinstance(left.matrices, np.ndarray) or (left.row_stride, left.depth_stride) == (product.depth, 1)
    return product.columns == 1 and is_contiguous


def gemv(lowering: Lowering, product: Product) -> None:
    """Launch products of contiguous rows and a column: a work-item for each row."""
    (a, strides), batch, after = _left(lowering, product), product.batch, product.epilogue(1)
    text = source_of_sums("gemv", product.types, after.text)
    numbers = [product.rows, product.columns, product.depth, batch.inner, *strides, *batch.right]
    numbers += [*product.offsets, product.result_stride]
    arguments: list[Argument] = [a, product.right, product.result, *numbers]
    lowering.launch_flat(text, "gemv", arguments, product.batches * product.rows, after.arguments)


def shared_gemv(lowering: Lowering, product: Product) -> None:
    """Launch products of which one side is a vector: work-items of a group share each sum."""
    rows, columns, depth, types = product.rows, product.columns, product.depth, product.types
    left, batch, (left_offset, right_offset, offset) = product.left, product.batch, product.offsets
    a, a_strides = _left(lowering, product)
    is_constant = isinstance(left.matrices, np.ndarray)
    row_stride, depth_stride = (depth, 1) if is_constant else (left.row_stride, left.depth_stride)
    of_left, of_right = (a, a_strides, left_offset), (product.right, batch.right, right_offset)
    if columns == 1:
        (matrix, vector), strides, vector_stride = (of_left, of_right), (row_stride, depth_stride), 1
        channel = "CHANNEL((matrix) * rows + (i), 0)"
    else:
        (matrix, vector), strides, vector_stride = (of_right, of_left), (1, columns), depth_stride
        types, channel = ProductTypes(types.right, types.left, types.result), "CHANNEL(matrix, i)"
    length, is_across = max(rows, columns), strides[0] == 1 and strides[1] != 1
    count = length * product.batches
    # A sum has one part, as its epilogue needs all of it.
    lanes, sums, _ = share(lowering.profile, count, depth, is_across, _LOCAL_BYTES)
    after = product.epilogue(1)
    macros = {"LANES": lanes, "ROWS": sums, "ACROSS": int(is_across), "CHANNEL_OF(matrix, i)": channel}
    text = source_of_sums("shared_gemv", types, after.text, **macros)
    numbers = [length, depth, batch.inner, *matrix[1], *vector[1], matrix[2], vector[2], offset, product.result_stride]
    arguments: list[Argument] = [matrix[0], vector[0], product.result, *numbers, *strides, vector_stride, count]
    lowering.note_decision(f"{lanes} work-items for each of {hint_of(count)} sums of {hint_of(depth)}")
    global_size = [-(-count // sums) * lanes * sums]
    lowering.launch(text, "shared_gemv", [*arguments, *after.arguments], global_size, [lanes * sums])


def _left(lowering: Lowering, product: Product) -> tuple[Buffer, tuple[int, int]]:
    """Return a buffer of the left matrices in rows, and their strides along the batch."""
    if isinstance(product.left.matrices, np.ndarray):
        return lowering.constant(product.left.matrices), (0, product.rows * product.depth)
    return product.left.matrices, product.batch.left
