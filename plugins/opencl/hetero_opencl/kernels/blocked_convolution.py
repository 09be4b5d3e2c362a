"""Convolutions on blocks of channels, directly: without im2col, from registers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import numpy as np

from hetero import ops
from hetero.graph import constant_array
from hetero.types import Type
from hetero_opencl.device_profile import DeviceProfile
from hetero_opencl.implementation import Configuration, Implementation, Signature, traffic
from hetero_opencl.kernels.convolution import convolution_flops, grouped_filters
from hetero_opencl.kernels.epilogue import make_epilogue
from hetero_opencl.kernels.registry import implements
from hetero_opencl.kernels.sources import source
from hetero_opencl.layouts import ROWS, Blocks
from hetero_opencl.lowering import Lowering
from hetero_opencl.operation import Operation

_TYPES = (Type.f32,)
# Images of at most this many channels may be read from rows.
_FEW_CHANNELS = 8


@implements(ops.Convolution, ops.GroupConvolution)
class BlockedConvolution(Implementation):
    """Each work-item computes a tile of I positions along the width by J vectors of output channels in registers."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        convolution, image = operation.anchor, operation.source(0)
        assert isinstance(convolution, ops.Convolution | ops.GroupConvolution)
        if not profile.is_cpu_like or profile.vector_width not in (8, 16):
            return "the device has no vectors of 8 or 16 elements"
        if image.element_type not in _TYPES or operation.prologue:
            return f"it computes in f32, not in {image.element_type}"
        if len(image.shape) not in (3, 4) or not math.prod(operation.result.shape) or not math.prod(image.shape):
            return "it has one or two spatial dimensions, and elements"
        if constant_array(convolution.input_value(1)) is None:
            return "its filters are constants"
        groups, outputs, channels, *_ = grouped_filters(convolution)
        if groups > 1 and (channels % profile.vector_width or outputs % profile.vector_width):
            return "groups are whole blocks of channels"
        return "blocks of one channel" if groups * outputs == 1 else None

    def signatures(self, operation: Operation, profile: DeviceProfile) -> Iterable[Signature]:
        blocks = Blocks(profile.vector_width)
        inputs = operation.node.input_values()
        channels = operation.source(0).shape[1]
        for layout in [ROWS] if channels == 1 else [blocks, ROWS] if channels <= _FEW_CHANNELS else [blocks]:
            image = operation.outer(operation.source(0))
            yield Signature(tuple(layout if value is image else blocks for value in inputs), blocks)

    def configurations(
        self, operation: Operation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        _, outputs, _, *_ = grouped_filters(operation.anchor)
        width = _geometry(operation)[-1]
        # Two registers hold a vector of filters and an element of the image.
        limit = profile.vector_registers - 2
        blocks = -(-outputs // profile.vector_width)
        for j in (1, 2, 3, 4):
            largest = min(width, limit // j)
            if j > 1 and j > blocks:
                continue
            for count in range(-(-width // largest), -(-width // largest) + 2):
                yield {"I": min(largest, -(-width // count)), "J": j}

    def estimate(
        self, operation: Operation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        i, j = configuration["I"], configuration["J"]
        _, outputs, _, *_ = grouped_filters(operation.anchor)
        width, blocks = _geometry(operation)[-1], -(-outputs // profile.vector_width)
        waste = -(-width // i) * i / width * (-(-blocks // j) * j / blocks)
        waste *= blocks * profile.vector_width / outputs
        # Per step I * J multiplications, for which I + J vectors are loaded; a core does two of both in a cycle.
        speed = i * j / max(i * j, 8.0, i + j)
        seconds = convolution_flops(operation) * waste / (speed * profile.flops_per_second)
        return max(seconds, traffic(operation) / profile.bytes_per_second) + profile.launch_seconds

    def emit(
        self, lowering: Lowering, operation: Operation, signature: Signature, configuration: Configuration
    ) -> None:
        convolution, width = operation.anchor, lowering.device.profile.vector_width
        assert isinstance(convolution, ops.Convolution | ops.GroupConvolution)
        groups, outputs, channels, *kernel = grouped_filters(convolution)
        image, blocks = operation.source(0), signature.output
        image_layout = signature.inputs[operation.node.input_values().index(operation.outer(image))]
        in_width = width if isinstance(image_layout, Blocks) else 1
        batch, height, length, out_height, out_length = _geometry(operation)
        kernel_y, kernel_x = (1, *kernel)[-2:]
        stride_y, stride_x = (1, *convolution.strides)[-2:]
        dilation_y, dilation_x = (1, *convolution.dilations)[-2:]
        pads, _ = convolution.resolve_pads(image.shape[2:], kernel)
        pad_y, pad_x = (0, *pads)[-2:]
        i, j = configuration["I"], configuration["J"]
        line = (i - 1) * stride_x + (kernel_x - 1) * dilation_x + 1
        macros = {
            "BLOCK": width, "IN_BLOCK": in_width, "I": i, "J": j, "STRIDE": stride_x,
            "DIRECT": int(_is_direct(operation)), "LINE": -(-line // 16) * 16,
            "WIDEN_RESULT(x)": "(x)",
        }  # fmt: skip
        epilogue = make_epilogue(lowering, operation, width, True, blocks)
        kind = image.element_type
        types = {"DATA": kind, "FILTER": kind, "RESULT": kind}
        text = source("blocked_convolution", types, epilogue.text, **macros)
        filters = constant_array(convolution.input_value(1))
        assert filters is not None
        shape = (groups, outputs, channels, kernel_y, kernel_x)
        arrange = partial(pack_filters, shape=shape, in_block=in_width, tile=width * j)
        packed = lowering.constant(filters, ("tiles", shape, in_width, width * j), arrange)
        count = -(-outputs // width)
        tiles = -(-count // j)
        if in_width == 1:
            in_block, in_batch = height * length, groups * channels * height * length
        else:
            in_block, in_batch = batch * height * length * width, height * length * width
        out_block, out_batch = batch * out_height * out_length * width, out_height * out_length * width
        numbers = [
            channels, height, length, out_height, out_length, kernel_y, kernel_x, stride_y, dilation_y, dilation_x,
            pad_y, pad_x, in_block, in_batch, out_block, out_batch, count,
        ]  # fmt: skip
        buffers = [lowering.buffer(image, image_layout), packed, lowering.buffer(operation.result, blocks)]
        sizes = [-(-out_length // i), batch * out_height, groups * tiles]
        lowering.launch(text, "blocked_convolution", [*buffers, *numbers, *epilogue.arguments], sizes, [1, 1, 1])


def _is_direct(operation: Operation) -> bool:
    """Return whether each position reads one position of the image, which is never outside."""
    convolution = operation.anchor
    (*_,) = kernel = grouped_filters(convolution)[3:]
    begin, end = convolution.resolve_pads(operation.source(0).shape[2:], kernel)
    return math.prod(kernel) == 1 and not any((*begin, *end))


def _geometry(operation: Operation) -> tuple[int, int, int, int, int]:
    """Return batch, height and width of the image, and height and width of the output.

    If each position is computed from the same one of the image, all positions of the batch are one row.
    """
    image, result = operation.source(0).shape, operation.result.shape
    if _is_direct(operation) and all(stride == 1 for stride in operation.anchor.strides):
        count = image[0] * math.prod(image[2:])
        return 1, 1, count, 1, count
    return image[0], *(1, *image[2:])[-2:], *(1, *result[2:])[-2:]


def pack_filters(filters: np.ndarray, shape: tuple[int, int, int, int, int], in_block: int, tile: int) -> np.ndarray:
    """Return filters ``[groups, outputs, channels, kernel_y, kernel_x]``, given in this shape, in tiles of outputs.

    The result is [groups, tiles] times, for each block of channels, [kernel_y, kernel_x, channels, tile], with zeros
    for outputs beyond the last.
    """
    groups, outputs, channels, *_ = shape
    tiles = -(-outputs // tile)
    padded = np.zeros((groups, tiles * tile, *shape[2:]), filters.dtype)
    padded[:, :outputs] = filters.reshape(shape)
    split = padded.reshape(groups, tiles, tile, *shape[2:])
    parts = [
        split[:, :, :, first : first + in_block].transpose(0, 1, 4, 5, 3, 2).reshape(groups, tiles, -1)
        for first in range(0, channels, in_block)
    ]
    return np.concatenate(parts, 2)
