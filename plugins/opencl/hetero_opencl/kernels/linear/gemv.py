"""Matrix-vector products (gemv): matrices with one column, and on GPUs with one row."""

from __future__ import annotations

import numpy as np

from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import ProductTypes, source_of_sums
from hetero_opencl.kernels.common.sharing import share
from hetero_opencl.kernels.elementwise.epilogue import EpilogueMaker
from hetero_opencl.kernels.linear.product import Batch, Factors
from hetero_opencl.lowering.lowering import Argument, Lowering

# Local memory of a work-item: an f64 or i64 sum.
_LOCAL_BYTES = 8


def launch_gemv(
    lowering: Lowering,
    left: Factors,
    right: Buffer,
    result: Buffer,
    size: tuple[int, int, int],
    batch: Batch,
    epilogue: EpilogueMaker,
    offsets: tuple[int, int, int],
    types: ProductTypes,
) -> bool:
    """Launch a product of which one side is a vector, and return whether there is a kernel for it.

    The arguments are those of ``strided_batched_gemm``. Processors have one for rows times a column only.
    """
    rows, columns, depth = size
    is_constant = isinstance(left.matrices, np.ndarray)
    row_stride, depth_stride = (depth, 1) if is_constant else (left.row_stride, left.depth_stride)
    a_strides = (0, rows * depth) if is_constant else batch.left
    *in_offsets, c_offset = offsets
    results = [c_offset, rows * columns if batch.result is None else batch.result]
    matrices = batch.outer * batch.inner
    if lowering.profile.is_cpu_like and (columns > 1 or (row_stride, depth_stride) != (depth, 1)):
        return False
    a = lowering.constant(left.matrices) if isinstance(left.matrices, np.ndarray) else left.matrices
    if lowering.profile.is_cpu_like:
        after = epilogue(1)
        text = source_of_sums("gemv", types, after.text)
        numbers = [*size, batch.inner, *a_strides, *batch.right, *in_offsets, *results]
        lowering.launch_flat(text, "gemv", [a, right, result, *numbers], matrices * rows, after.arguments)
        return True
    of_left, of_right = (a, a_strides, in_offsets[0]), (right, batch.right, in_offsets[1])
    if columns == 1:
        (matrix, vector), strides, vector_stride = (of_left, of_right), (row_stride, depth_stride), 1
        channel = "CHANNEL((matrix) * rows + (i), 0)"
    else:
        (matrix, vector), strides, vector_stride = (of_right, of_left), (1, columns), depth_stride
        types, channel = ProductTypes(types.right, types.left, types.result), "CHANNEL(matrix, i)"
    length = max(rows, columns)
    is_across = strides[0] == 1 and strides[1] != 1
    # A sum has one part, as its epilogue needs all of it.
    lanes, sums, _ = share(lowering.profile, length * matrices, depth, is_across, _LOCAL_BYTES)
    after = epilogue(1)
    macros = {"LANES": lanes, "ROWS": sums, "ACROSS": int(is_across), "CHANNEL_OF(matrix, i)": channel}
    text = source_of_sums("shared_gemv", types, after.text, **macros)
    numbers = [length, depth, batch.inner, *matrix[1], *vector[1], matrix[2], vector[2], *results]
    arguments: list[Argument] = [matrix[0], vector[0], result, *numbers, *strides, vector_stride, length * matrices]
    groups = -(-length * matrices // sums)
    lowering.note_decision(f"{lanes} work-items for each of {length * matrices} sums of {depth}")
    lowering.launch(text, "shared_gemv", [*arguments, *after.arguments], [groups * lanes * sums], [lanes * sums])
    return True
