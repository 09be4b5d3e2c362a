"""Padding of images in blocks of channels."""

from __future__ import annotations

from hetero import ops
from hetero.graph import constant_array
from hetero_opencl.device.device_profile import DeviceProfile
from hetero_opencl.kernels.common.registry import implements
from hetero_opencl.kernels.convolution.blocked_windows import blocked_source
from hetero_opencl.kernels.elementwise.epilogue import no_epilogue
from hetero_opencl.kernels.elementwise.literals import literal
from hetero_opencl.kernels.images.blocked_images import OnBlockedImages, row_parts
from hetero_opencl.kernels.movement.movement import shape_input
from hetero_opencl.lowering.implementation import Configuration, Signature
from hetero_opencl.lowering.layouts import Blocks
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.lowering.operation import Operation


@implements(ops.Pad)
class BlockedPad(OnBlockedImages):
    """Padding with a number, of channels only after the last one."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        if reason := super().mismatch(operation, profile):
            return reason
        node = operation.main
        assert isinstance(node, ops.Pad)
        if node.pad_mode != "constant":
            return "it pads with a number"
        begins, ends = (shape_input(node, index).reshape(-1) for index in (1, 2))
        if any(begins[:2]) or ends[0] or min(*begins, *ends) < 0:
            return "it pads channels at the end, and nothing is cropped"
        return None

    def emit(
        self, lowering: Lowering, operation: Operation, signature: Signature, configuration: Configuration
    ) -> None:
        node, image, output, blocks = operation.main, operation.source(0), operation.result, signature.output
        assert isinstance(node, ops.Pad) and isinstance(blocks, Blocks)
        number = constant_array(node.input_value(3)) if node.has_input("arg_pad_value") else None
        macros = {"NUMBER": literal("float", 0.0 if number is None else float(number.reshape(())))}
        text = blocked_source("blocked_pad", image.element_type, blocks.size, no_epilogue(blocks.size), macros)
        buffers = [lowering.buffer(image, blocks), lowering.buffer(output, blocks)]
        begins = shape_input(node, 1).reshape(-1).tolist()
        numbers = [image.shape[1], image.shape[0], *image.shape[2:], *output.shape[2:], *begins[2:]]
        sizes = row_parts(operation, lowering.device.profile)
        lowering.launch(text, "blocked_pad", [*buffers, *numbers], sizes, [1, 1])
