"""Convolutions on rows, directly: vectors along the width, for few output channels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.lengths.length import whole
from hetero.core.types import Type
from hetero.graph import constant_array
from hetero_opencl.kernels.common.definition import ProductTypes, implements, source_of_sums
from hetero_opencl.kernels.convolution.convolution import grouped_filters
from hetero_opencl.kernels.elementwise.epilogue import make_epilogue
from hetero_opencl.lowering.implementation import Configuration, Implementation, KernelOperation, Signature, traffic
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.profiles.profile import DeviceProfile, Family

_TYPES = (Type.f32, Type.f16, Type.bf16)
# Elements of a vector. Where hardware vectors are shorter, the compiler divides it.
_WIDTH = 16
# Output channels and rows of a tile, and the largest number of its vectors. Without a buffer, those that begin in the
# last row read past the end of the image, as far as the slack of buffers.
_CHANNELS, _ROWS, _VECTORS, _DIRECT_VECTORS = (1, 2, 3, 4, 6, 8, 12), (1, 2, 3, 4), 8, 4
# Multiplications of vectors in the time that a work-item takes besides those.
_ITEM_UNITS = 300


class _Geometry(NamedTuple):
    """The numbers of a convolution with one or two spatial dimensions; pairs are those of height and width.

    ``outputs`` and ``channels`` are those of one group.
    """

    batch: int
    groups: int
    outputs: int
    channels: int
    size: tuple[int, int]
    out_size: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int]
    is_swapped: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether the kernel has one column and reads nothing outside of the image."""
        return self.kernel[1] == self.strides[1] == 1 and self.pads[1] == 0 and self.size[1] >= self.out_size[1]

    @property
    def span(self) -> int:
        """Distance from the first to the last element of a row that a sum reads."""
        return (self.kernel[1] - 1) * self.dilations[1]

    @property
    def phases(self) -> int:
        """The number of remainders, modulo the stride, of the places of elements that a sum reads."""
        return min(self.strides[1], self.span + 1)


@implements(ops.Convolution, ops.GroupConvolution)
class RowConvolution(Implementation):
    """Each work-item computes I output channels of R rows and J vectors of positions along the width in registers."""

    family = Family.PROCESSOR

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        convolution, image = operation.main, operation.source(0)
        if image.element_type not in _TYPES or operation.prologue:
            return f"it computes in f32, not in {image.element_type}"
        if len(image.shape) not in (3, 4) or not math.prod(operation.result.shape) or not math.prod(image.shape):
            return "it has one or two spatial dimensions, and elements"
        if constant_array(convolution.input_value(1)) is None:
            return "its filters are constants"
        geometry = _geometry(operation)
        if geometry.groups == 1 and geometry.outputs >= profile.vector_width > 1:
            return "its output channels are too few to fill a vector"
        if 4 * _line(geometry, _VECTORS) * _lines(geometry, max(_ROWS)) > profile.l1_bytes:
            return "the rows that a tile reads fit the first-level cache"
        return None

    def configurations(
        self, operation: KernelOperation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        geometry = _geometry(operation)
        height, width = geometry.out_size
        # Rows share the elements that they both read, if there are such elements.
        rows = _ROWS if geometry.dilations[0] == 1 and geometry.kernel[0] > geometry.strides[0] else (1,)
        vectors = -(-width // _WIDTH)
        registers = profile.vector_registers * profile.vector_width // _WIDTH
        for i, r in itertools.product(_CHANNELS, rows):
            # Sums, vectors of the image, and one filter.
            largest = min((registers - 1) // (i * r + 1), _DIRECT_VECTORS if geometry.is_direct else _VECTORS)
            if i == r == 1 or (i <= geometry.outputs and r <= height and largest > 0):
                tiles = -(-vectors // max(largest, 1))
                yield {"I": i, "R": r, "J": -(-vectors // tiles)}

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        i, r, j = (configuration[key] for key in "IRJ")
        geometry = _geometry(operation)
        (kernel_y, kernel_x), rows = geometry.kernel, _rows_read(geometry, r)
        # The unit of time is a multiplication of vectors, of which a core does two in a cycle, as it does loads. Loads
        # that are not aligned count twice; a sum takes 4 cycles. A vector is copied, and stored, in about 3 cycles.
        filters, positions = kernel_y * kernel_x * i * r, rows * kernel_x
        copied = 0 if geometry.is_direct else 6 * rows * geometry.strides[1] * (j + -(-(kernel_x - 1) // _WIDTH))
        of_channel = max(filters * j, filters + 2 * positions * j, 8 * positions) + copied
        units = math.prod(_tiles(geometry, configuration)) * (
            geometry.channels * of_channel + 6 * i * r * j + _ITEM_UNITS
        )
        seconds = units * 2 * _WIDTH / profile.flops_per_second
        return max(seconds, traffic(operation) / profile.bytes_per_second) + profile.launch_seconds

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        image, filters, geometry = operation.source(0), constant_array(operation.source(1)), _geometry(operation)
        assert filters is not None
        i, r, j = (configuration[key] for key in "IRJ")
        macros = {
            "I": i, "R": r, "J": j, "STRIDE": geometry.strides[1], "DIRECT": int(geometry.is_direct),
            "PHASES": geometry.phases, "LINE": _line(geometry, j), "LINES": _lines(geometry, r),
        }  # fmt: skip
        epilogue = make_epilogue(lowering, operation, _WIDTH, in_channels=False)
        kind = image.element_type
        text = source_of_sums("row_convolution", ProductTypes(kind, kind, kind), epilogue.text, **macros)
        shape = (geometry.groups, geometry.outputs, geometry.channels, *geometry.kernel)
        packed = lowering.constant(
            filters, ("tiles", i, shape, geometry.is_swapped),
            partial(pack_filters, shape=shape, tile=i, is_swapped=geometry.is_swapped),
        )  # fmt: skip
        numbers = [
            geometry.outputs, geometry.channels, *geometry.size, *geometry.out_size, *geometry.kernel,
            geometry.strides[0], *geometry.dilations, *geometry.pads,
        ]  # fmt: skip
        buffers = [lowering.buffer(image), packed, lowering.buffer(operation.result)]
        arguments = [*buffers, *numbers, *epilogue.arguments]
        lowering.launch(text, "row_convolution", arguments, _tiles(geometry, configuration), [1, 1, 1])


def _tiles(geometry: _Geometry, configuration: Configuration) -> tuple[int, int, int]:
    """Return the numbers of tiles: along the width, the rows of all images, and the channels of all groups."""
    (height, width), (i, r, j) = geometry.out_size, (configuration[key] for key in "IRJ")
    return -(-width // (_WIDTH * j)), geometry.batch * -(-height // r), geometry.groups * -(-geometry.outputs // i)


def _line(geometry: _Geometry, vectors: int) -> int:
    """Return the elements of a line of the buffer, which end with a whole vector."""
    return _WIDTH * (vectors + 1 + -(-geometry.span // (geometry.strides[1] * _WIDTH)))


def _lines(geometry: _Geometry, rows: int) -> int:
    """Return the number of lines in the buffer of a tile."""
    return _rows_read(geometry, rows) * geometry.phases


def _rows_read(geometry: _Geometry, rows: int) -> int:
    return geometry.kernel[0] + (rows - 1) * geometry.strides[0]


def _geometry(operation: KernelOperation) -> _Geometry:
    """Return the geometry of a convolution, with the dimension that fills vectors best as the width."""
    convolution, image = operation.main, operation.source(0).shape
    groups, outputs, channels, *kernel = grouped_filters(convolution)
    pads, _ = convolution.resolve_pads(image[2:], kernel)
    values = (image[2:], operation.result.shape[2:], kernel, convolution.strides, convolution.dilations, pads)
    pairs = [(missing, *map(whole, lengths))[-2:] for missing, lengths in zip((1, 1, 1, 1, 1, 0), values)]
    is_swapped = pairs[0][1] == pairs[1][1] == 1 < pairs[1][0]
    size, *window = [(second, first) if is_swapped else (first, second) for first, second in pairs]
    out_size, kernel_size, strides, dilations, begin = window
    geometry = _Geometry(
        image[0], groups, outputs, channels, size, out_size, kernel_size, strides, dilations, begin, is_swapped
    )
    if geometry.is_direct and geometry.size == geometry.out_size and geometry.kernel[0] == geometry.strides[0] == 1:
        # The positions of an image are one row.
        row = (1, math.prod(size))
        geometry = geometry._replace(size=row, out_size=row)
    return geometry


def pack_filters(filters: np.ndarray, shape: tuple[int, int, int, int, int], tile: int, is_swapped: bool) -> np.ndarray:
    """Return filters ``[groups, outputs, channels, kernel_y, kernel_x]``, given in this shape, in tiles of outputs.

    The result is [groups, tiles, channels, kernel_y, kernel_x, tile], with zeros for outputs beyond the last.
    ``is_swapped``: the filters are given with height and width exchanged.
    """
    groups, outputs, channels, height, width = shape
    tiles = -(-outputs // tile)
    padded = np.zeros((groups, tiles * tile, channels, height, width), filters.dtype)
    ordered = filters.reshape(groups, outputs, channels, width, height).swapaxes(3, 4) if is_swapped else filters
    padded[:, :outputs] = ordered.reshape(shape)
    return np.ascontiguousarray(np.moveaxis(padded.reshape(groups, tiles, tile, channels, height, width), 2, -1))
