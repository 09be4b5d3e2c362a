"""ExtractImagePatches and Col2Im."""

from __future__ import annotations

import math

from hetero import ops
from hetero.ops.windows import resolve_pads
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import SUMS, lowers, unsupported_types, unsupported_unless
from hetero_opencl.kernels.common.windows import check_dimensions, col2im, im2col, in_three, make_window
from hetero_opencl.lowering.lowering import Lowering


@lowers(ops.ExtractImagePatches, unsupported=unsupported_types)
def extract_image_patches(lowering: Lowering, node: ops.ExtractImagePatches) -> None:
    image, output = node.input_value(0), node.output(0)
    begin, _ = resolve_pads(node, image.shape[2:], node.sizes, node.rates)
    window = make_window(node.sizes, node.strides, node.rates, begin)
    buffers, planes = (lowering.buffer(image), lowering.buffer(output)), (image.shape[0], image.shape[1])
    sizes = in_three(image.shape[2:]), in_three(output.shape[2:])
    im2col(lowering, *buffers, image.element_type.size, planes, *sizes, window)


@lowers(ops.Col2Im, unsupported=unsupported_unless(SUMS))
def lower_col2im(lowering: Lowering, node: ops.Col2Im) -> None:
    data, output, kind = node.input_value(0), node.output(0), node.get_input_element_type(0)
    size, kernel = (shape_input(node, index).reshape(-1).tolist() for index in (1, 2))
    check_dimensions(lowering, len(size))
    window = make_window(kernel, node.strides, node.dilations, node.pads_begin)
    padded = [sum(lengths) for lengths in zip(size, node.pads_begin, node.pads_end)]
    extents = [(count - 1) * dilation + 1 for count, dilation in zip(kernel, node.dilations)]
    places = [max((length - extent) // step + 1, 0) for length, extent, step in zip(padded, extents, node.strides)]
    planes = math.prod(output.shape[: -len(size)])
    sizes = in_three(places), in_three(size)
    col2im(lowering, lowering.buffer(data), lowering.buffer(output), (kind, kind), planes, *sizes, window)
