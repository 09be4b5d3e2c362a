"""Convolutions on blocks of channels, directly: without im2col, with the sums in registers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import numpy as np

from hetero import ops
from hetero.core.lengths.length import bound_of, check_row, larger, smaller
from hetero.core.types import Type
from hetero.graph import constant_array
from hetero_opencl.kernels.common.blocked_windows import (
    ITEMS_PER_UNIT,
    BlockedWindow,
    OnBlocks,
    blocked_source,
    blocked_window,
)
from hetero_opencl.kernels.common.definition import implements
from hetero_opencl.kernels.convolution import blocked_tiles
from hetero_opencl.kernels.convolution.blocked_tiles import ConvolutionTile, Layer, pack_filters
from hetero_opencl.kernels.convolution.convolution import grouped_filters
from hetero_opencl.kernels.elementwise.epilogue import make_epilogue
from hetero_opencl.lowering.implementation import (
    ROWS,
    Blocks,
    Configuration,
    KernelOperation,
    Layout,
    Signature,
    operand_layout,
    traffic,
)
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile

# Images of at most this many channels may be read from rows.
_FEW_CHANNELS = 8
# Filter elements along the row that a depthwise convolution keeps in registers.
_MOST_TAPS = 7


class _ConvolutionOnBlocks(OnBlocks):
    """Base of convolutions that write blocks of channels."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        if reason := super().mismatch(operation, profile):
            return reason
        return "its filters are constants" if constant_array(operation.main.input_value(1)) is None else None


@implements(ops.Convolution, ops.GroupConvolution)
class BlockedConvolution(_ConvolutionOnBlocks):
    """Each work-item computes a tile of I positions along the row by J vectors of output channels."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        if reason := super().mismatch(operation, profile):
            return reason
        groups, outputs, channels, *_ = grouped_filters(operation.main)
        if groups > 1 and (channels % profile.vector_width or outputs % profile.vector_width):
            return "groups are whole blocks of channels"
        return "there is one output channel" if groups * outputs == 1 else None

    def signatures(self, operation: KernelOperation, profile: DeviceProfile) -> Iterable[Signature]:
        blocks = Blocks(profile.vector_width)
        image, channels = operation.outer(operation.source(0)), operation.source(0).shape[1]
        layouts: list[Layout] = [blocks] if channels > 1 else []
        if channels <= _FEW_CHANNELS:
            layouts.append(ROWS)
        for layout in layouts:
            values = operation.node.input_values()
            inputs = (layout if value is image else operand_layout(value, blocks) for value in values)
            yield Signature(tuple(inputs), blocks)

    def configurations(
        self, operation: KernelOperation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        layer = _layer(operation, signature, profile)
        for tile in blocked_tiles.tiles(layer, profile):
            yield {"I": tile.positions, "J": tile.vectors}

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        tile = ConvolutionTile(configuration["I"], configuration["J"])
        seconds = blocked_tiles.estimate(_layer(operation, signature, profile), tile, profile)
        return max(seconds, traffic(operation) / profile.bytes_per_second) + profile.launch_seconds

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        profile, image = lowering.profile, operation.source(0)
        blocks = Blocks(profile.vector_width)
        layer, tile = _layer(operation, signature, profile), ConvolutionTile(configuration["I"], configuration["J"])
        layout, placed = _image_layout(operation, signature), _window(operation, flatten=layer.in_block > 1)
        check_row(placed.width, tile.positions)
        epilogue = make_epilogue(lowering, operation, blocks.size, True, blocks)
        line = blocked_tiles.line_length(tile, layer.stride, layer.kernel[2], layer.dilation)
        loops = layer.is_direct or not profile.spills_in_loops
        groups, outputs, channels, *kernel = grouped_filters(operation.main)
        macros = {
            **configuration, "IN_BLOCK": layer.in_block, "STRIDE": layer.stride, "DIRECT": int(layer.is_direct),
            "POINT": int(layer.is_point), "LINE": line, "LOOP": int(loops),
            "WHOLE": int(channels % layer.in_block == 0),
        }  # fmt: skip
        text = blocked_source("blocked_convolution", image.element_type, blocks.size, macros, epilogue.text)
        filters = constant_array(operation.main.input_value(1))
        assert filters is not None
        shape = (groups, outputs, channels, *kernel)
        arrange = partial(_packed, shape=shape, in_block=layer.in_block, block=blocks.size, vectors=tile.vectors)
        packed = lowering.constant(filters, ("tiles", shape, layer.in_block, blocks.size * tile.vectors), arrange)
        in_length, out_length = math.prod(placed.in_size), math.prod(placed.out_size)
        batch = image.shape[0] * math.prod(image.shape[2:]) // in_length
        if layer.in_block == 1:
            in_strides = [in_length, groups * channels * in_length]
        else:
            in_strides = [batch * in_length * blocks.size, in_length * blocks.size]
        out_strides = [batch * out_length * blocks.size, out_length * blocks.size]
        buffers = [lowering.buffer(image, layout), packed, lowering.buffer(operation.result, blocks)]
        numbers = [*placed.numbers(), channels, layer.blocks, *in_strides, *out_strides, layer.rows]
        filter_tiles = groups * -(-layer.blocks // tile.vectors)
        items = -(-layer.width // tile.positions) * layer.rows
        if loops:
            items = smaller(items, -(-ITEMS_PER_UNIT * profile.compute_units // filter_tiles))
        arguments: list[Argument] = [*buffers, *numbers, *epilogue.arguments]
        lowering.launch(text, "blocked_convolution", arguments, [items, filter_tiles], [1, 1])


@implements(ops.GroupConvolution)
class BlockedDepthwise(_ConvolutionOnBlocks):
    """One filter for each channel: a work-item computes I positions along the row of one block."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        groups, outputs, channels, *_ = grouped_filters(operation.main)
        if groups == 1 or outputs != 1 or channels != 1:
            return "groups are one channel"
        return super().mismatch(operation, profile)

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        profile, image, placed = lowering.profile, operation.source(0), _window(operation, flatten=False)
        blocks = Blocks(profile.vector_width)
        (batch, channels, *_), kernel = image.shape, placed.window.kernel[2]
        taps = max(taps for taps in range(1, _MOST_TAPS + 1) if kernel % taps == 0)
        # The other registers hold the filter elements and an element of the image.
        positions = placed.positions(profile.vector_registers - taps - 1)
        check_row(placed.width, positions)
        epilogue = make_epilogue(lowering, operation, blocks.size, True, blocks)
        macros = _depthwise_macros(placed, positions, taps)
        text = blocked_source("blocked_depthwise", image.element_type, blocks.size, macros, epilogue.text)
        filters = constant_array(operation.main.input_value(1))
        assert filters is not None
        arrange = partial(_filters_in_blocks, block=blocks.size)
        packed = lowering.constant(filters, ("blocks of filters", blocks.size), arrange)
        buffers = [lowering.buffer(image, blocks), packed, lowering.buffer(operation.result, blocks)]
        arguments: list[Argument] = [*buffers, *placed.numbers(), batch, *epilogue.arguments]
        tiles, planes = -(-placed.width // positions), -(-channels // blocks.size) * batch
        sizes = [tiles, placed.row_groups(tiles * planes, profile), planes]
        lowering.launch(text, "blocked_depthwise", arguments, sizes, [1, 1, 1])


def _window(operation: KernelOperation, flatten: bool = True) -> BlockedWindow:
    """Return the window of a convolution.

    With ``flatten``, if each position is computed from the same one of the image, all of a batch are one row.
    """
    convolution, image, result = operation.main, operation.source(0), operation.result
    kernel = grouped_filters(convolution)[3:]
    pads, end = convolution.resolve_pads(image.shape[2:], kernel)
    if flatten and math.prod((*kernel, *convolution.strides)) == 1 and not any((*pads, *end)):
        length = image.shape[0] * math.prod(image.shape[2:])
        return blocked_window([length], [length], [1], [1], [1], [0])
    return blocked_window(image.shape[2:], result.shape[2:], kernel, convolution.strides, convolution.dilations, pads)


def _depthwise_macros(placed: BlockedWindow, positions: int, taps: int) -> dict[str, int]:
    """Return the macros of blocked_depthwise.cl."""
    (_, _, kernel), (_, _, stride), (_, _, dilation), (_, _, pad) = placed.window
    span = (positions - 1) * stride + (taps - 1) * dilation + 1
    beyond = (placed.width - 1) * stride - pad + (kernel - 1) * dilation + 1 - placed.in_size[2]
    margin = bound_of(larger(larger(pad, beyond), 0))
    return {
        "I": positions, "STRIDE": stride, "DILATION": dilation, "TAPS": taps,
        "MARGIN": margin if 2 * margin <= span else span,
    }  # fmt: skip


def _image_layout(operation: KernelOperation, signature: Signature) -> Layout:
    return signature.inputs[operation.node.input_values().index(operation.outer(operation.source(0)))]


def _layer(operation: KernelOperation, signature: Signature, profile: DeviceProfile) -> Layer:
    """Return the description of a convolution for the choice of a tile."""
    groups, outputs, channels, *_ = grouped_filters(operation.main)
    in_block = profile.vector_width if isinstance(_image_layout(operation, signature), Blocks) else 1
    # In rows the images of a batch are not adjacent for each channel.
    placed = _window(operation, flatten=in_block > 1)
    positions = operation.result.shape[0] * math.prod(operation.result.shape[2:])
    window, kind = placed.window, operation.source(0).element_type
    inside = [
        not pad and length >= (count - 1) * stride + (size - 1) * dilation + 1
        for length, count, size, stride, dilation, pad in zip(placed.in_size, placed.out_size, *window)
    ]
    is_direct = kind is Type.f32 and window.kernel[2] == 1 and inside[2]
    is_point = is_direct and math.prod(window.kernel) == 1 and all(inside)
    return Layer(
        positions // placed.width, placed.width, window.kernel, window.strides[2], window.dilations[2], channels,
        in_block, -(-outputs // profile.vector_width), groups, is_direct, is_point,
    )  # fmt: skip


def _packed(filters: np.ndarray, shape: tuple[int, ...], in_block: int, block: int, vectors: int) -> np.ndarray:
    return pack_filters(filters.reshape(shape), in_block, block, vectors)


def _filters_in_blocks(filters: np.ndarray, block: int) -> np.ndarray:
    """Return filters [C, 1, 1, kernel…] as [C / block, kernel…, block], with zeros for channels beyond the last."""
    channels = filters.shape[0]
    blocks = -(-channels // block)
    padded = np.zeros((blocks * block, filters[0].size), filters.dtype)
    padded[:channels] = filters.reshape(channels, -1)
    return np.ascontiguousarray(padded.reshape(blocks, block, -1).swapaxes(1, 2))
