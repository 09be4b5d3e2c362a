"""DeformableConvolution: a gemm of the filters and the columns of bilinear samples (deformable im2col)."""

from __future__ import annotations

import math

from hetero import ops
from hetero_opencl.kernels.common.registry import lowers
from hetero_opencl.kernels.common.sources import float_type, source, unsupported_non_float
from hetero_opencl.kernels.convolution.convolution import factors
from hetero_opencl.kernels.linear.gemm import gemm
from hetero_opencl.kernels.reduction.sums import ProductTypes
from hetero_opencl.lowering.lowering import Lowering


@lowers(ops.DeformableConvolution, ops.DeformableConvolutionV1, unsupported=unsupported_non_float)
def deformable_convolution(lowering: Lowering, node: ops.DeformableConvolution | ops.DeformableConvolutionV1) -> None:
    image, offsets, filters, *mask = node.input_values()
    output, kind = node.output(0), image.element_type
    (batch, channels, *lengths), kernel, positions = image.shape, filters.shape[2:], output.shape[2:]
    samples, count = float_type(kind), math.prod(positions)
    rows = channels * math.prod(kernel)
    columns = lowering.scratch(batch * rows * count, samples.size)
    begin, _ = node.resolve_pads(lengths, kernel)
    sizes = (*lengths, *positions, *kernel, *node.strides, *node.dilations, *begin)
    macros = {"MASKED": len(mask), "BORDER": int(node.bilinear_interpolation_pad)}
    text = source("deformable", {"DATA": kind, "SUM": samples}, **macros)
    buffers = [*map(lowering.buffer, (image, offsets, *mask)), columns]
    lowering.launch_flat(text, "deformable", [*buffers, channels, node.deformable_group, *sizes], batch * rows * count)
    outputs, depth = output.shape[1] // node.group, rows // node.group
    left = factors(lowering, filters, (node.group, outputs, depth))
    gemm(
        lowering, left, columns, lowering.buffer(output), (outputs, count, depth), batch * node.group, depth * count,
        types=ProductTypes(kind, samples, kind),
    )  # fmt: skip
