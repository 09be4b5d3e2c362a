"""Values in blocks of channels: sliding windows, sources of kernels, and the base of implementations."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hetero.core.lengths.length import about, bound_of, larger, least, smaller
from hetero.core.types import Type
from hetero.graph import is_constant
from hetero_opencl.kernels.common.definition import NO_EPILOGUE, source, template
from hetero_opencl.kernels.common.windows import Lengths, Window, in_three, make_window
from hetero_opencl.lowering.implementation import ROWS, Blocks, Implementation, KernelOperation, Signature, uniform
from hetero_opencl.profiles.profile import DeviceProfile, Family

# Work-items per compute unit: each costs 15 to 35 ns, and with too few of them units wait for each other.
ITEMS_PER_UNIT = 8
# Positions along the row that a work-item of a memory-bound kernel computes.
_POSITIONS = 12


class BlockedWindow(NamedTuple):
    """Lengths of the image, those of the output, and the window, along three spatial axes."""

    in_size: Lengths
    out_size: Lengths
    window: Window

    def numbers(self) -> list[int]:
        """Return the sizes in the order in which kernels take them. The stride along the row is a macro."""
        kernel, (stride_z, stride_y, _), dilations, pads = self.window
        return [*self.in_size, *self.out_size, *kernel, stride_z, stride_y, *dilations, *pads]

    @property
    def width(self) -> int:
        """The positions of a row of the output."""
        return self.out_size[2]

    @property
    def rows(self) -> int:
        return self.out_size[0] * self.out_size[1]

    @property
    def edge(self) -> int:
        """The number of positions at either end of a row with windows that reach beyond the image along the row."""
        (_, _, kernel), (_, _, stride), (_, _, dilation), (_, _, pad) = self.window
        inside = (self.in_size[2] + pad - (kernel - 1) * dilation - 1) // stride + 1
        return bound_of(larger(larger(-(-pad // stride), self.width - inside), 0))

    def row_groups(self, tiles: int, profile: DeviceProfile) -> int:
        """Return the number of work-items among which the rows are divided, if there are ``tiles`` apart from rows."""
        return smaller(self.rows, -(-ITEMS_PER_UNIT * profile.compute_units // max(about(tiles), 1)))

    def positions(self, most: int = _POSITIONS) -> int:
        """Return the positions of a tile along the row for memory-bound kernels, at most ``most``."""
        width = least(self.width)
        return -(-width // -(-width // min(most, _POSITIONS)))


def blocked_window(
    in_lengths: Sequence[int],
    out_lengths: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> BlockedWindow:
    """Return the window. Axes of length 1, on which nothing moves, come first, so that rows are long."""
    in_size, out_size = in_three(in_lengths), in_three(out_lengths)
    window = make_window(kernel, strides, dilations, pads)
    single = [
        window.kernel[axis] == 1 and window.pads[axis] == 0 and in_size[axis] == 1 and out_size[axis] == 1
        for axis in range(3)
    ]
    order = sorted(range(3), key=lambda axis: not single[axis])
    in_size, out_size, *fields = [_permuted(lengths, order) for lengths in (in_size, out_size, *window)]
    return BlockedWindow(in_size, out_size, Window(*fields))


def _permuted(lengths: Lengths, order: Sequence[int]) -> Lengths:
    first, second, third = (lengths[axis] for axis in order)
    return first, second, third


def blocked_source(name: str, kind: Type, block: int, macros: Mapping[str, object], epilogue: str = NO_EPILOGUE) -> str:
    """Return the text of a kernel for blocks of channels whose elements are all of one type."""
    types = dict.fromkeys(("DATA", "FILTER", "RESULT"), kind)
    prelude = epilogue + template("channel_blocks")
    return source(name, types, prelude, BLOCK=block, **{"WIDEN_RESULT(x)": "(x)"}, **macros)


class OnBlocks(Implementation):
    """Base of implementations that read an image in blocks of channels, and write another."""

    family = Family.PROCESSOR

    types: Collection[Type] = (Type.f32, Type.f16, Type.bf16)
    spatial_axes: Collection[int] = (1, 2, 3)

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        image, output = operation.source(0), operation.node.output(0)
        if profile.vector_width not in (8, 16):
            return "the device has no vectors of 8 or 16 elements"
        if image.element_type not in self.types or operation.prologue:
            return f"it computes in f32, not in {image.element_type}"
        if len(image.shape) - 2 not in self.spatial_axes or not math.prod((*image.shape, *output.shape)):
            return f"it has {' or '.join(map(str, self.spatial_axes))} spatial dimensions, and elements"
        return None

    def signatures(self, operation: KernelOperation, profile: DeviceProfile) -> Iterable[Signature]:
        yield uniform(operation, Blocks(profile.vector_width))


class OnBlockedImages(OnBlocks):
    """Base of implementations for images with two spatial axes. The inputs after the image are constants."""

    spatial_axes = (2,)

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        if reason := super().mismatch(operation, profile):
            return reason
        if operation.source(0).shape[1] == 1:
            return "it has several channels"
        return None if all(map(is_constant, operation.main.input_values()[1:])) else "its other inputs are constants"

    def signatures(self, operation: KernelOperation, profile: DeviceProfile) -> Iterable[Signature]:
        blocks = Blocks(profile.vector_width)
        yield Signature((blocks, *[ROWS] * (operation.node.get_input_size() - 1)), blocks)


def row_parts(operation: KernelOperation, profile: DeviceProfile) -> list[int]:
    """Return the work-items: parts into which the rows of a block of the output are divided, blocks times batches."""
    batch, channels, height, _ = operation.result.shape
    planes = -(-channels // profile.vector_width) * batch
    return [smaller(height, -(-ITEMS_PER_UNIT * profile.compute_units // about(planes))), planes]
