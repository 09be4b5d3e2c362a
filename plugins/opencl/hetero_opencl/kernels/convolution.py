"""Convolutions over one or two spatial dimensions: as products of matrices, or directly where each plane is alone.

A convolution is the product of its filters with the patches of the image as columns; one of 1 x 1 has the image itself
for columns. A transposed one is the product of its filters, turned over, with the image, summed up in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero import ops
from hetero.graph import Node, Output, is_constant
from hetero.ops.values import exact_value
from hetero.types import Type
from hetero_opencl.kernels.product import Bias, Factors, multiply
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering
    from hetero_opencl.program import Buffer


class Window(NamedTuple):
    """A sliding window in two dimensions; one spatial dimension is taken as one row."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int]

    def numbers(self) -> list[np.int32]:
        return [np.int32(n) for pair in self for n in pair]

    @property
    def is_point(self) -> bool:
        return self.kernel == (1, 1) and self.strides == (1, 1) and self.pads == (0, 0)


def _refusal(node: Node) -> str | None:
    if node.get_input_element_type(0) is not Type.f32:
        return f"no kernel for {node.type_info.name} of {node.get_input_element_type(0)}"
    if not is_constant(node.input_value(1)):
        return "filters that are no constant"
    count = len(node.input_value(1).shape) - node.filter_axes
    return None if count in (1, 2) else f"{count} spatial dimensions"


@lowers(ops.Convolution, ops.GroupConvolution, unless=_refusal)
def convolution(lowering: Lowering, node: Node) -> None:
    image, filters = node.input_values()
    weights = _grouped(filters.node.data, node)
    groups, outputs, channels = weights.shape[:3]
    result = lowering.fusion.result_of(node)
    pads, _ = node.resolve_pads(image.shape[2:], filters.shape[node.filter_axes :])
    window = _window(node, weights.shape[3:], pads)
    in_size, out_size = _plane(image.shape), _plane(result.shape)
    bias = _bias(lowering, node)
    if channels == 1 and groups > 1:
        return _depthwise(lowering, image, weights, bias, result, window)
    depth = channels * weights.shape[3] * weights.shape[4]
    columns = lowering.buffer(image)
    if not window.is_point:
        columns = _patches(lowering, columns, image.shape[0] * image.shape[1], in_size, out_size, window)
    left = Factors(weights.reshape(groups, outputs, depth), None, batches=groups)
    count = out_size[0] * out_size[1]
    buffer = lowering.buffer(result)
    multiply(
        lowering, left, columns, buffer, (outputs, count, depth), image.shape[0] * groups, depth * count,
        Bias(bias, is_per_row=True) if bias else None,
    )  # fmt: skip


@lowers(ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData, unless=_refusal)
def transposed_convolution(lowering: Lowering, node: Node) -> None:
    image, filters = node.input_values()[:2]
    weights = _grouped(filters.node.data, node)
    groups, channels, outputs = weights.shape[:3]
    result = node.output(0)
    asked = exact_value(node.input_value(2)) if node.has_input("output_shape") else None
    pads, _ = node.resolve_pads(image.shape[2:], filters.shape[node.filter_axes :], asked)
    window = _window(node, weights.shape[3:], pads)
    in_size, out_size = _plane(image.shape), _plane(result.shape)
    rows, count = outputs * weights.shape[3] * weights.shape[4], in_size[0] * in_size[1]
    left = Factors(weights.reshape(groups, channels, rows).swapaxes(1, 2), None, batches=groups)
    batches = image.shape[0] * groups
    columns = lowering.scratch(batches * rows * count)
    multiply(lowering, left, lowering.buffer(image), columns, (rows, count, channels), batches, channels * count)
    numbers = [*map(np.int32, (*in_size, *out_size)), *window.numbers()]
    total = int(np.prod(result.shape))
    lowering.launch_flat(source("convolution"), "overlapped", [columns, lowering.buffer(result), *numbers], total)


def _grouped(weights: np.ndarray, node: Node) -> np.ndarray:
    """Filters as [groups, first, second, height, width]."""
    weights = weights if node.filter_axes == 3 else weights[np.newaxis]
    return weights if weights.ndim == 5 else weights[:, :, :, np.newaxis]


def _window(node: Node, kernel: tuple[int, ...], pads: tuple[int, ...]) -> Window:
    def pair(values: tuple[int, ...], alone: int) -> tuple[int, int]:
        return tuple(values) if len(values) == 2 else (alone, values[0])

    return Window(tuple(kernel), pair(node.strides, 1), pair(node.dilations, 1), pair(pads, 0))


def _plane(shape: tuple[int, ...]) -> tuple[int, int]:
    return (shape[2], shape[3]) if len(shape) == 4 else (1, shape[2])


def _bias(lowering: Lowering, node: Node) -> Buffer | None:
    add = lowering.fusion.bias_of.get(node)
    if add is None:
        return None
    (addend,) = [value for value in add.input_values() if value.node is not node]
    return lowering.constant(addend.node.data)


def _patches(
    lowering: Lowering, image: Buffer, planes: int, in_size: tuple[int, int], out_size: tuple[int, int], window: Window
) -> Buffer:
    rows = planes * window.kernel[0] * window.kernel[1] * out_size[0]
    columns = lowering.scratch(rows * out_size[1])
    numbers = [*map(np.int32, (*in_size, *out_size)), *window.numbers()]
    lowering.launch_flat(source("convolution"), "patches", [image, columns, *numbers], rows)
    return columns


def _depthwise(
    lowering: Lowering, image: Output, weights: np.ndarray, bias: Buffer | None, result: Output, window: Window
) -> None:
    groups, multiplier = weights.shape[:2]
    planes = image.shape[0] * groups
    (height, width), out_size = _plane(image.shape), _plane(result.shape)
    data = lowering.buffer(image)
    extents = [(k - 1) * d + 1 for k, d in zip(window.kernel, window.dilations)]
    needed = [(n - 1) * s + e for n, s, e in zip(out_size, window.strides, extents)]
    if window.pads != (0, 0) or needed[0] > height or needed[1] > width or window.strides[1] > 2:
        # A block of 16 reads on behind the last row, more than the slack of a buffer where it takes long steps.
        behind = 16 * (window.strides[1] + 1)
        inner = data
        data = lowering.scratch(planes * needed[0] * needed[1] + behind)
        numbers = map(np.int32, (height, width, *needed, *window.pads))
        lowering.launch_flat(source("convolution"), "padded", [inner, data, *numbers], planes * needed[0])
        height, width = needed
    if bias is None:
        bias = lowering.constant(np.zeros(groups * multiplier, np.float32))
    blocks = -(-out_size[1] // 16)
    step = window.strides[1] if window.strides[1] <= 2 else 0
    sizes = (groups * multiplier, multiplier, height, width, *out_size, *window.kernel)
    numbers = map(np.int32, (*sizes, *window.strides, *window.dilations, blocks))
    arguments = [data, lowering.constant(weights), bias, lowering.buffer(result), *numbers]
    text = source("convolution", STEP=step)
    lowering.launch_flat(text, "depthwise", arguments, planes * multiplier * out_size[0] * blocks)
