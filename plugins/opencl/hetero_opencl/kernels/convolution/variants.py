"""DeformableConvolution and BinaryConvolution."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero_opencl.kernels.common.definition import (
    ELEMENTS,
    SUMS,
    ProductTypes,
    float_type,
    lowers,
    source,
    unsupported_non_float,
)
from hetero_opencl.kernels.convolution.convolution import factors
from hetero_opencl.kernels.linear.gemm import gemm
from hetero_opencl.lowering.lowering import Lowering

# 1-bit filters are stored as bytes of 0 and 1.
_FILTERS = {**{kind: kind for kind in ELEMENTS}, Type.u1: Type.u8}


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


def _unsupported(node: Node) -> str | None:
    data, filters = node.get_input_element_type(0), node.get_input_element_type(1)
    if data in SUMS and filters in _FILTERS:
        return None
    return f"no kernel for {node.type_info.name} of {data} with filters of {filters}"


@lowers(ops.BinaryConvolution, unsupported=_unsupported)
def binary_convolution(lowering: Lowering, node: ops.BinaryConvolution) -> None:
    (image, filters), output = node.input_values(), node.output(0)
    kernel = filters.shape[2:]
    begin, _ = node.resolve_pads(image.shape[2:], kernel)
    sizes = (*image.shape[1:], *output.shape[1:], *kernel, *node.strides, *node.dilations, *begin)
    types = {"DATA": image.element_type, "FILTER": _FILTERS[filters.element_type]}
    # Negative sums wrap around in unsigned types.
    text = source("binary_convolution", types, WHOLE=int(not image.element_type.is_real()))
    arguments = [image, filters, output, np.float32(node.pad_value), *sizes]
    lowering.launch_flat(text, "binary_convolution", arguments, math.prod(output.shape))
