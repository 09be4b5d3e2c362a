"""What implementations have in common that read one image in blocks of channels and write another."""

from __future__ import annotations

import math
from collections.abc import Iterable

from hetero.core.types import Type
from hetero.graph import is_constant
from hetero_opencl.device.device_profile import DeviceProfile
from hetero_opencl.kernels.convolution.blocked_windows import ITEMS_PER_UNIT
from hetero_opencl.lowering.implementation import Implementation, Signature
from hetero_opencl.lowering.layouts import ROWS, Blocks
from hetero_opencl.lowering.operation import Operation

_TYPES = (Type.f32, Type.f16, Type.bf16)


class OnBlockedImages(Implementation):
    """Base of implementations for images with two spatial axes. The inputs after the image are constants."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        image, output = operation.source(0), operation.result
        if not profile.is_cpu_like or profile.vector_width not in (8, 16) or image.element_type not in _TYPES:
            return "it handles f32, f16 and bf16, in vectors of 8 or 16 elements"
        if len(image.shape) != 4 or image.shape[1] == 1 or not math.prod((*image.shape, *output.shape)):
            return "it has two spatial dimensions, and several channels"
        return None if all(map(is_constant, operation.main.input_values()[1:])) else "its other inputs are constants"

    def signatures(self, operation: Operation, profile: DeviceProfile) -> Iterable[Signature]:
        blocks = Blocks(profile.vector_width)
        yield Signature((blocks, *[ROWS] * (operation.node.get_input_size() - 1)), blocks)


def row_parts(operation: Operation, profile: DeviceProfile) -> list[int]:
    """Return the work-items: parts into which the rows of a block of the output are divided, blocks times batches."""
    batch, channels, height, _ = operation.result.shape
    planes = -(-channels // profile.vector_width) * batch
    return [min(height, -(-ITEMS_PER_UNIT * profile.compute_units // planes)), planes]
