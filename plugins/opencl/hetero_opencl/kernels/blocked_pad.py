"""Padding of images in blocks of channels."""

from __future__ import annotations

import math
from collections.abc import Iterable

from hetero import ops
from hetero.graph import constant_array, is_constant
from hetero.types import Type
from hetero_opencl.device_profile import DeviceProfile
from hetero_opencl.implementation import Configuration, Implementation, Signature
from hetero_opencl.kernels.blocked_windows import ITEMS_PER_UNIT, blocked_source
from hetero_opencl.kernels.epilogue import no_epilogue
from hetero_opencl.kernels.literals import literal
from hetero_opencl.kernels.movement import shape_input
from hetero_opencl.kernels.registry import implements
from hetero_opencl.layouts import ROWS, Blocks
from hetero_opencl.lowering import Lowering
from hetero_opencl.operation import Operation

_TYPES = (Type.f32, Type.f16, Type.bf16)


@implements(ops.Pad)
class BlockedPad(Implementation):
    """Padding with a number, of channels only after the last one."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        node, image, output = operation.main, operation.source(0), operation.result
        assert isinstance(node, ops.Pad)
        if not profile.is_cpu_like or profile.vector_width not in (8, 16) or image.element_type not in _TYPES:
            return "it moves f32, f16 or bf16 in vectors of 8 or 16 elements"
        if len(image.shape) != 4 or image.shape[1] == 1 or not math.prod((*image.shape, *output.shape)):
            return "it has two spatial dimensions, and several channels"
        if node.pad_mode != "constant" or not all(is_constant(value) for value in node.input_values()[1:]):
            return "it pads with a number"
        begins, ends = (shape_input(node, index).reshape(-1) for index in (1, 2))
        if any(begins[:2]) or ends[0] or min(*begins, *ends) < 0:
            return "it pads channels at the end, and nothing is cropped"
        return None

    def signatures(self, operation: Operation, profile: DeviceProfile) -> Iterable[Signature]:
        blocks = Blocks(profile.vector_width)
        yield Signature((blocks, *[ROWS] * (operation.node.get_input_size() - 1)), blocks)

    def emit(
        self, lowering: Lowering, operation: Operation, signature: Signature, configuration: Configuration
    ) -> None:
        node, image, output, blocks = operation.main, operation.source(0), operation.result, signature.output
        assert isinstance(node, ops.Pad) and isinstance(blocks, Blocks)
        number = constant_array(node.input_value(3)) if node.has_input("arg_pad_value") else None
        macros = {"NUMBER": literal("float", 0.0 if number is None else float(number.reshape(())))}
        text = blocked_source("blocked_pad", image.element_type, blocks.size, no_epilogue(blocks.size), macros)
        planes = -(-output.shape[1] // blocks.size) * image.shape[0]
        parts = min(output.shape[2], -(-ITEMS_PER_UNIT * lowering.device.profile.compute_units // planes))
        buffers = [lowering.buffer(image, blocks), lowering.buffer(output, blocks)]
        begins = shape_input(node, 1).reshape(-1).tolist()
        numbers = [image.shape[1], image.shape[0], *image.shape[2:], *output.shape[2:], *begins[2:]]
        lowering.launch(text, "blocked_pad", [*buffers, *numbers], [parts, planes], [1, 1])
