"""Convolutions, as matrix products or directly if they are depthwise.

A convolution is the product of its filters and the columns of the image (im2col); if the kernel has one element, the
image itself holds the columns. A transposed convolution is the product of its transposed filters and the image, whose
columns are added to the result (col2im).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, Output, constant_array
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import SUMS, ProductTypes, lowers, source_of_sums
from hetero_opencl.kernels.common.windows import (
    Window,
    check_dimensions,
    col2im,
    im2col,
    in_three,
    make_window,
    padded,
    unsupported_dimensions,
)
from hetero_opencl.kernels.elementwise.epilogue import EpilogueMaker, make_epilogue
from hetero_opencl.kernels.linear.gemm import gemm, narrow_type
from hetero_opencl.kernels.linear.product import Factors
from hetero_opencl.lowering.implementation import KernelOperation, traffic
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile

Convolution = ops.Convolution | ops.GroupConvolution
TransposedConvolution = ops.ConvolutionBackpropData | ops.GroupConvolutionBackpropData


def _unsupported(node: Convolution | TransposedConvolution) -> str | None:
    kind = node.get_input_element_type(0)
    if kind not in SUMS:
        return f"no kernel for {node.type_info.name} of {kind}"
    return unsupported_dimensions(node.spatial_count())


def convolution_flops(operation: KernelOperation) -> int:
    """Return the floating-point operations of a convolution: two for each product."""
    _, _, channels, *kernel = grouped_filters(operation.main)
    return 2 * math.prod(operation.result.shape) * channels * math.prod(kernel)


def _seconds(operation: KernelOperation, profile: DeviceProfile) -> float:
    """Estimate a convolution by im2col, which writes and reads the columns, and gemm."""
    assert operation.anchor is not None
    kernel = math.prod(operation.anchor.get_input_shape(1)[-len(operation.result.shape[2:]) :])
    columns = 2 * kernel * math.prod(operation.source(0).shape) * operation.source(0).element_type.size
    moved = traffic(operation) + (columns if kernel > 1 else 0)
    # The gemm of a layer reaches about 70 % of that of large square matrices, and computes vectors of 16 positions.
    positions = math.prod(operation.result.shape[2:])
    waste = -(-positions // 16) * 16 / positions if profile.vector_width > 1 < positions else 1
    flops = waste * convolution_flops(operation) / (0.7 * profile.flops_per_second)
    return flops + moved / profile.bytes_per_second + 2 * profile.launch_seconds


@lowers(ops.Convolution, ops.GroupConvolution, unsupported=_unsupported, estimate=_seconds)
def convolution(lowering: Lowering, node: Convolution) -> None:
    operation = lowering.operation
    image, filters, result = operation.source(0), operation.source(1), operation.result
    check_dimensions(lowering, len(image.shape) - 2)
    groups, outputs, channels, *kernel = grouped_filters(node)
    pads, _ = node.resolve_pads(image.shape[2:], kernel)
    window = make_window(kernel, node.strides, node.dilations, pads)
    # Small integers are padded with their zero point; its contribution to each sum is subtracted at the end.
    zero_point = _zero_point(operation)
    offset = None
    if zero_point:
        filter_axes = tuple(range(node.filter_axes - 1, filters.partial_shape.rank.get_length()))
        offset = -zero_point * shape_input(node, 1).sum(filter_axes, np.int32).reshape(-1)
    epilogue = partial(make_epilogue, lowering, operation, in_channels=False, offset=offset)
    if channels == 1 and groups > 1:
        lowering.note_decision("depthwise convolution")
        return _depthwise(lowering, image, filters, (groups, outputs), epilogue, result, window, zero_point)
    depth, count = channels * math.prod(kernel), math.prod(result.shape[2:])
    columns = lowering.buffer(image)
    sizes = in_three(image.shape[2:]), in_three(result.shape[2:])
    if window.is_point and sizes[0] == sizes[1]:
        lowering.note_decision("gemm with the image as columns")
    else:
        lowering.note_decision("gemm with the columns of im2col")
        planes, size = image.shape[0] * image.shape[1], image.element_type.size
        columns = lowering.scratch(planes * math.prod(kernel) * count, size)
        im2col(lowering, lowering.buffer(image), columns, size, (planes, 1), *sizes, window, zero_point)
    gemm(
        lowering, factors(lowering, filters, (groups, outputs, depth)), columns, lowering.buffer(result),
        (outputs, count, depth), image.shape[0] * groups, depth * count, epilogue,
        ProductTypes(narrow_type(filters), image.element_type, result.element_type),
    )  # fmt: skip


@lowers(ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData, unsupported=_unsupported)
def transposed_convolution(lowering: Lowering, node: TransposedConvolution) -> None:
    image, filters = node.input_values()[:2]
    check_dimensions(lowering, len(image.shape) - 2)
    groups, channels, outputs, *kernel = grouped_filters(node)
    result, kind = node.output(0), image.element_type
    asked = shape_input(node, 2).reshape(-1).tolist() if node.has_input("output_shape") else None
    pads, _ = node.resolve_pads(image.shape[2:], kernel, asked)
    window = make_window(kernel, node.strides, node.dilations, pads)
    rows, count = outputs * math.prod(kernel), math.prod(image.shape[2:])
    batches = image.shape[0] * groups
    # Columns are rounded only after they are added up. Integers wrap around in any case.
    part = Type.f32 if kind.is_real() and kind.size < 4 else kind
    columns = lowering.scratch(batches * rows * count, part.size)
    left = factors(lowering, filters, (groups, channels, rows), transposed=True)
    gemm(
        lowering, left, lowering.buffer(image), columns, (rows, count, channels), batches, channels * count,
        types=ProductTypes(narrow_type(filters), kind, part),
    )  # fmt: skip
    sizes = in_three(image.shape[2:]), in_three(result.shape[2:])
    col2im(lowering, columns, lowering.buffer(result), (part, kind), batches * outputs, *sizes, window)


def factors(lowering: Lowering, filters: Output, shape: tuple[int, int, int], transposed: bool = False) -> Factors:
    """Return the filters as left matrices of a product, one per group; ``shape`` is their shape in memory.

    Constant filters get the narrowest type.
    """
    groups, rows, columns = shape
    constant = _narrowed(filters)
    if constant is not None:
        matrices = constant.reshape(shape)
        return Factors(matrices.swapaxes(1, 2) if transposed else matrices, batches=groups)
    strides = (1, columns) if transposed else (columns, 1)
    return Factors(lowering.buffer(filters), *strides, groups, rows * columns)


def _narrowed(filters: Output) -> np.ndarray | None:
    """Return constant filters in the narrowest type, or None if they are not constant."""
    array = constant_array(filters)
    return None if array is None else array.astype(narrow_type(filters).to_dtype(), copy=False)


def grouped_filters(node: Node) -> tuple[int, ...]:
    """Return the shape of the filters of a convolution as [groups, first, second, kernel…]."""
    assert isinstance(node, Convolution | TransposedConvolution)
    shape = tuple(node.get_input_shape(1))
    return shape if node.filter_axes == 3 else (1, *shape)


def _zero_point(operation: KernelOperation) -> int:
    """Return the zero point that the prologue subtracts from the image, 0 if none."""
    subtract = next((node for node in operation.prologue if isinstance(node, ops.Subtract)), None)
    zero_point = None if subtract is None else constant_array(subtract.input_value(1))
    return 0 if zero_point is None else zero_point.item()


def _depthwise(
    lowering: Lowering,
    image: Output,
    filters: Output,
    channels: tuple[int, int],
    epilogue: EpilogueMaker,
    result: Output,
    window: Window,
    outside: int,
) -> None:
    """``channels``: number of channels of the image, and of outputs per channel. ``outside``: the padding value."""
    groups, multiplier = channels
    kind, planes = image.element_type, image.shape[0] * groups
    data, in_size, out_size = lowering.buffer(image), in_three(image.shape[2:]), in_three(result.shape[2:])
    needed = in_three([
        (count - 1) * stride + (size - 1) * dilation + 1
        for count, size, stride, dilation in zip(out_size, window.kernel, window.strides, window.dilations)
    ])  # fmt: skip
    stride = window.strides[2]
    if any(window.pads) or any(need > length for need, length in zip(needed, in_size)) or stride > 2:
        # Blocks of 16 read beyond the last row: with large strides, further than the slack of a buffer.
        bare, data = data, lowering.scratch(planes * math.prod(needed) + 16 * (stride + 1), kind.size)
        padded(lowering, bare, data, kind.size, planes, in_size, needed, window.pads, outside)
        in_size = needed
    blocks = -(-out_size[2] // 16)
    sizes = (groups * multiplier, multiplier, *in_size, *out_size, *window.kernel)
    flat = int(out_size[0] == window.kernel[0] == 1)
    macros = {"STEP": stride if stride <= 2 else 0, "FLAT": flat}
    after = epilogue(16)
    text = source_of_sums(
        "depthwise", ProductTypes(narrow_type(filters), kind, result.element_type), after.text, **macros
    )
    constant = _narrowed(filters)
    weights = lowering.buffer(filters) if constant is None else lowering.constant(constant)
    arguments: list[Argument] = [data, weights, result, *sizes, *window.strides, *window.dilations, blocks]
    count = planes * multiplier * out_size[0] * out_size[1] * blocks
    lowering.launch_flat(text, "depthwise", arguments, count, after.arguments)
