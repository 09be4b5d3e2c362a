"""1×1 convolutions whose filters have many zeros, on blocks of channels: group convolutions above all."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import numpy as np

from hetero import ops
from hetero.core.lengths.length import check_row, least, smaller
from hetero.core.types import Type
from hetero.graph import Node, constant_array
from hetero_opencl.kernels.common.blocked_windows import OnBlocks, blocked_source
from hetero_opencl.kernels.common.definition import implements
from hetero_opencl.kernels.convolution.convolution import grouped_filters
from hetero_opencl.kernels.elementwise.epilogue import make_epilogue
from hetero_opencl.lowering.implementation import Configuration, KernelOperation, Signature, traffic
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile

# More channels than this share of all are not worth a list.
_LARGEST_SHARE = 0.6
# Work-items for each core: they run for different times. One loops over many tiles, because starting one costs time.
_ITEMS_PER_CORE = 8


@implements(ops.Convolution, ops.GroupConvolution)
class SparseConvolution(OnBlocks):
    """Each tile of output channels has a list of the input channels for which it has a filter that is not zero.

    So neither groups nor permutations of channels need to fit the blocks.
    """

    types = (Type.f32,)
    spatial_axes = (1, 2)

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        if reason := super().mismatch(operation, profile):
            return reason
        convolution, image = operation.main, operation.source(0)
        groups, outputs, channels, *kernel = grouped_filters(convolution)
        filters = constant_array(convolution.input_value(1))
        begin, end = convolution.resolve_pads(image.shape[2:], kernel)
        if filters is None or math.prod(kernel) > 1 or any((*begin, *end)):
            return "filters are constants of one element, and there is no padding"
        if channels * groups == 1 or outputs * groups == 1 or channels * outputs == 1:
            return "groups, and blocks, have several channels"
        if groups == 1 and np.count_nonzero(filters) > _LARGEST_SHARE * filters.size:
            return "its filters have few zeros"
        return None

    def configurations(
        self, operation: KernelOperation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        width = least(_geometry(operation)[-1])
        for j in (1, 2):
            # The other registers hold a vector of filters for each of J, and an element of the image.
            largest = min(width, (profile.vector_registers - 1) // j - 1)
            yield {"I": -(-width // -(-width // largest)), "J": j}

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        i, j = configuration["I"], configuration["J"]
        steps = int(_used(_dense_filters(operation), profile.vector_width * j).sum())
        batches, *_, rows, width = _geometry(operation)
        # Slots for the multiplications of a step, for its loads, of which fewer run at once, and for their latency.
        slots = max(i * j, 1.25 * (i + j), 8)
        flops = 2 * profile.vector_width * slots * steps * batches * rows * -(-width // i)
        seconds = max(flops / profile.flops_per_second, traffic(operation) / profile.bytes_per_second)
        return seconds + profile.launch_seconds

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        profile, blocks, convolution = lowering.profile, signature.output, operation.main
        width, i, j = profile.vector_width, configuration["I"], configuration["J"]
        batches, height, length, out_height, out_length = _geometry(operation)
        check_row(out_length, i)
        stride_y, stride_x = (1, *convolution.strides)[-2:]
        filters = _dense_filters(operation)
        used = _used(filters, width * j)
        tile, channel = np.nonzero(used)
        pack = partial(_pack, dense=filters, size=width * j, tile=tile, channel=channel)
        epilogue = make_epilogue(lowering, operation, width, True, blocks)
        macros = {"I": i, "J": j, "STRIDE": stride_x}
        text = blocked_source("sparse_convolution", Type.f32, width, macros, epilogue.text)
        arguments: list[Argument] = [
            lowering.buffer(operation.source(0), blocks),
            lowering.constant(_filters(convolution), ("lists of channels", width * j), pack),
            lowering.constant(channel.astype(np.int32)),
            lowering.constant(np.cumsum(used.sum(1), dtype=np.int32)),
            lowering.buffer(operation.result, blocks),
            len(used), -(-len(filters) // width), height, length, out_height, out_length, stride_y, batches,
            *epilogue.arguments,
        ]  # fmt: skip
        items = len(used) * batches * out_height * -(-out_length // i)
        size = smaller(items, profile.compute_units * _ITEMS_PER_CORE)
        lowering.launch(text, "sparse_convolution", arguments, [size], [1])


def _filters(convolution: Node) -> np.ndarray:
    filters = constant_array(convolution.input_value(1))
    assert filters is not None
    return filters


def _dense_filters(operation: KernelOperation) -> np.ndarray:
    """Return the filters as [outputs, channels], with zeros for the channels of other groups."""
    convolution = operation.main
    groups, outputs, channels, *_ = grouped_filters(convolution)
    return merge_groups(_filters(convolution).reshape(groups, outputs, channels), groups)[0]


def merge_groups(filters: np.ndarray, count: int) -> np.ndarray:
    """Return filters ``[groups, outputs, channels, …]`` with ``count`` groups merged in one."""
    groups, outputs, channels, *kernel = filters.shape
    merged = np.zeros((groups // count, count, outputs, count, channels, *kernel), filters.dtype)
    index = np.arange(count)
    # Advanced indices on both sides of a slice move to the front.
    merged[:, index, :, index] = filters.reshape(groups // count, count, *filters.shape[1:]).swapaxes(0, 1)
    return merged.reshape(groups // count, count * outputs, count * channels, *kernel)


def _used(filters: np.ndarray, tile: int) -> np.ndarray:
    """Return for each tile of outputs, and each channel, whether there is a filter that is not zero."""
    return np.logical_or.reduceat(filters != 0, np.arange(0, len(filters), tile))


def _pack(_: np.ndarray, dense: np.ndarray, size: int, tile: np.ndarray, channel: np.ndarray) -> np.ndarray:
    """Return the filters of pairs of a tile of ``size`` outputs and a channel, with zeros beyond the last output."""
    padded = np.pad(dense, [(0, -len(dense) % size), (0, 0)])
    return np.ascontiguousarray(padded.reshape(-1, size, dense.shape[1])[tile, :, channel])


def _geometry(operation: KernelOperation) -> tuple[int, int, int, int, int]:
    """Return batches, height and width of the image, and height and width of the output.

    Without strides all positions of the batch are one row.
    """
    (batch, _, *image), (*_, out_width) = operation.source(0).shape, operation.result.shape
    if math.prod(operation.main.strides) == 1:
        count = batch * math.prod(image)
        return 1, 1, count, 1, count
    height, width = (1, *image)[-2:]
    return batch, height, width, (1, *operation.result.shape[2:])[-2], out_width
