"""Convolutions on rows, directly: vectors along the width, for few output channels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.graph import constant_array
from hetero_opencl.device_profile import DeviceProfile
from hetero_opencl.implementation import Configuration, Implementation, Signature, traffic
from hetero_opencl.kernels.convolution import convolution_flops, grouped_filters
from hetero_opencl.kernels.epilogue import make_epilogue
from hetero_opencl.kernels.registry import implements
from hetero_opencl.kernels.sources import FLOATS
from hetero_opencl.kernels.sums import ProductTypes, source_of_sums
from hetero_opencl.lowering import Lowering
from hetero_opencl.operation import Operation

# Elements of a vector. Where hardware vectors are shorter, the compiler divides it.
_WIDTH = 16
# Vectors that a kernel without a buffer may read past the end of the image: the slack of buffers.
_MOST_DIRECT = 4
_SIZES = {"I": (1, 2, 3, 4, 6, 8, 12), "J": (1, 2, 3, 4, 5, 6, 8)}


class _Geometry(NamedTuple):
    """A convolution of one or two spatial dimensions: [height, width] of everything, and number of images."""

    batch: int
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


@implements(ops.Convolution, ops.GroupConvolution)
class RowConvolution(Implementation):
    """Each work-item computes a tile of I output channels by J vectors of positions along the width in registers."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        convolution, image = operation.anchor, operation.source(0)
        assert isinstance(convolution, ops.Convolution | ops.GroupConvolution)
        if not profile.is_cpu_like:
            return "it has no work-groups that share memory"
        if image.element_type not in FLOATS or operation.prologue:
            return f"it computes with floating-point numbers, not {image.element_type}"
        if len(image.shape) not in (3, 4) or not math.prod(operation.result.shape) or not math.prod(image.shape):
            return "it has one or two spatial dimensions, and elements"
        if constant_array(convolution.input_value(1)) is None:
            return "its filters are constants"
        return None

    def configurations(
        self, operation: Operation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        outputs, geometry = grouped_filters(operation.anchor)[1], _geometry(operation)
        vectors = -(-geometry.out_size[1] // _WIDTH)
        registers = profile.vector_registers * max(profile.vector_width, 1) // _WIDTH
        for i in _SIZES["I"]:
            for j in _SIZES["J"]:
                if i > outputs or (j > vectors) or (j > _MOST_DIRECT and geometry.is_direct):
                    continue
                if i * j + j + 1 <= registers or i == j == 1:
                    yield {"I": i, "J": j}

    def estimate(
        self, operation: Operation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        i, j = configuration["I"], configuration["J"]
        outputs, geometry = grouped_filters(operation.anchor)[1], _geometry(operation)
        width = geometry.out_size[1]
        waste = -(-width // (_WIDTH * j)) * _WIDTH * j / width * (-(-outputs // i) * i / outputs)
        speed = i * j / max(i * j, 8.0, i + 2 * j)
        seconds = convolution_flops(operation) * waste / (speed * profile.flops_per_second)
        return max(seconds, traffic(operation) / profile.bytes_per_second) + profile.launch_seconds

    def emit(
        self, lowering: Lowering, operation: Operation, signature: Signature, configuration: Configuration
    ) -> None:
        convolution, image = operation.anchor, operation.source(0)
        assert isinstance(convolution, ops.Convolution | ops.GroupConvolution)
        groups, outputs, channels, *_ = grouped_filters(convolution)
        geometry = _geometry(operation)
        i, j = configuration["I"], configuration["J"]
        stride, span = geometry.strides[1], (geometry.kernel[1] - 1) * geometry.dilations[1]
        phases = min(stride, span + 1)
        macros = {
            "I": i, "J": j, "STRIDE": stride, "DIRECT": int(geometry.is_direct), "ROWS": geometry.kernel[0],
            # Copies of rows end with a whole vector.
            "PHASES": phases, "LINE": _WIDTH * (j + 1 + -(-span // (stride * _WIDTH))),
        }  # fmt: skip
        epilogue = make_epilogue(lowering, operation, _WIDTH, in_channels=False)
        kind = image.element_type
        text = source_of_sums("row_convolution", ProductTypes(kind, kind, kind), epilogue.text, **macros)
        filters = constant_array(convolution.input_value(1))
        assert filters is not None
        shape = (groups, outputs, channels, *geometry.kernel)
        packed = lowering.constant(
            filters, ("tiles", i, shape, geometry.is_swapped),
            partial(pack_filters, shape=shape, tile=i, is_swapped=geometry.is_swapped),
        )  # fmt: skip
        numbers = [
            outputs, channels, *geometry.size, *geometry.out_size, *geometry.kernel, geometry.strides[0],
            *geometry.dilations, *geometry.pads,
        ]  # fmt: skip
        out_height, out_width = geometry.out_size
        sizes = [-(-out_width // (_WIDTH * j)), geometry.batch * out_height, groups * -(-outputs // i)]
        buffers = [lowering.buffer(image), packed, lowering.buffer(operation.result)]
        lowering.launch(text, "row_convolution", [*buffers, *numbers, *epilogue.arguments], sizes, [1, 1, 1])


def _geometry(operation: Operation) -> _Geometry:
    """Return the geometry of a convolution, with the dimension that fills vectors best as the width."""
    convolution, image = operation.anchor, operation.source(0).shape
    assert isinstance(convolution, ops.Convolution | ops.GroupConvolution)
    kernel = grouped_filters(convolution)[3:]
    pads, _ = convolution.resolve_pads(image[2:], kernel)
    values = image[2:], operation.result.shape[2:], kernel, convolution.strides, convolution.dilations, pads
    missing = (1, 1, 1, 1, 1, 0)
    pairs = [(one, *map(int, given))[-2:] for one, given in zip(missing, values)]
    size, out_size = pairs[:2]
    is_swapped = size[1] == out_size[1] == 1 and out_size[0] > 1
    if is_swapped:
        pairs = [pair[::-1] for pair in pairs]
    geometry = _Geometry(image[0], *pairs, is_swapped)
    if geometry.is_direct and geometry.size == geometry.out_size and geometry.kernel[0] == geometry.strides[0] == 1:
        # The positions of an image are one row.
        row = (1, math.prod(size))
        geometry = geometry._replace(size=row, out_size=row)
    return geometry


def pack_filters(
    filters: np.ndarray, shape: tuple[int, int, int, int, int], tile: int, is_swapped: bool
) -> np.ndarray:
    """Return filters ``[groups, outputs, channels, kernel_y, kernel_x]``, given in this shape, in tiles of outputs.

    The result is [groups, tiles, channels, kernel_y, kernel_x, tile], with zeros for outputs beyond the last.
    ``is_swapped``: the filters are given with height and width exchanged.
    """
    groups, outputs, channels, height, width = shape
    tiles = -(-outputs // tile)
    padded = np.zeros((groups, tiles * tile, channels, height, width), filters.dtype)
    given = filters.reshape(groups, outputs, channels, width, height).swapaxes(3, 4) if is_swapped else filters
    padded[:, :outputs] = given.reshape(shape)
    return np.ascontiguousarray(np.moveaxis(padded.reshape(groups, tiles, tile, channels, height, width), 2, -1))
