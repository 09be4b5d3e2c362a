"""Movement in blocks of channels: Gather, Split and Concat of channels that are not moved as a whole, and Pad."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from hetero import ops
from hetero.graph import Output, constant_array
from hetero_opencl.kernels.common.blocked_windows import OnBlockedImages, blocked_source, row_parts
from hetero_opencl.kernels.common.copies import WORDS, shape_input
from hetero_opencl.kernels.common.definition import ELEMENTS, implements, source
from hetero_opencl.kernels.common.literals import literal
from hetero_opencl.lowering.implementation import (
    ROWS,
    Blocks,
    Configuration,
    Implementation,
    KernelOperation,
    Signature,
)
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.profiles.profile import DeviceProfile, Family

# Positions that a work-item copies.
_PART = 64


@implements(ops.Gather, ops.Split, ops.VariadicSplit, ops.Concat)
class ChannelMovement(Implementation):
    """Copies channel by channel."""

    family = Family.PROCESSOR

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        node = operation.main
        values = [*(node.input_values() if isinstance(node, ops.Concat) else node.input_values()[:1]), *node.outputs()]
        if any(len(value.shape) < 3 or value.shape[1] == 1 for value in values):
            return "it moves several channels of images"
        if not all(math.prod(value.shape) for value in values):
            return "there are elements"
        if values[0].element_type not in ELEMENTS:
            return "elements have a C type"
        if isinstance(node, ops.Concat):
            axis = node.axis
            if all(value.shape[1] % profile.vector_width == 0 for value in values[:-2]):
                return "its inputs are no whole blocks"
        elif constant_array(node.input_value(1)) is None:
            return "indices are constants"
        else:
            axis = shape_input(node, 2 if isinstance(node, ops.Gather) else 1).item()
        if isinstance(node, ops.Gather) and (node.batch_dims or len(node.get_input_shape(1)) != 1):
            return "indices are a vector"
        return None if axis % len(values[0].shape) == 1 else "it moves channels"

    def signatures(self, operation: KernelOperation, profile: DeviceProfile) -> Iterable[Signature]:
        blocks = Blocks(profile.vector_width)
        count = operation.node.get_input_size()
        data = count if isinstance(operation.node, ops.Concat) else 1
        yield Signature((*[blocks] * data, *[ROWS] * (count - data)), blocks)

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        moved = sum(math.prod(value.shape) * value.element_type.size for value in operation.node.outputs())
        return 2 * moved / profile.bytes_per_second + profile.launch_seconds

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        node, blocks = operation.main, Blocks(lowering.profile.vector_width)
        result = node.output(0)
        if isinstance(node, ops.Gather):
            count = node.get_input_shape(0)[1]
            return _move(lowering, node.input_value(0), shape_input(node, 1) % count, result, 0, blocks)
        first = 0
        if isinstance(node, ops.Concat):
            whole, size = lowering.buffer(result, blocks), result.element_type.size
            for value in node.input_values():
                part, positions = lowering.buffer(value, blocks), math.prod(result.shape) // result.shape[1]
                place = whole.offset + int(_offsets(np.array(first), positions, blocks)) * size
                if (part.whole, part.offset) != (whole.whole or whole, place):
                    _move(lowering, value, np.arange(value.shape[1]), result, first, blocks)
                first += value.shape[1]
            return None
        for output in node.outputs():
            _move(lowering, node.input_value(0), first + np.arange(output.shape[1]), output, 0, blocks)
            first += output.shape[1]
        return None


def _move(lowering: Lowering, value: Output, channels: np.ndarray, target: Output, first: int, blocks: Blocks) -> None:
    """Launch a copy of channels of a value to the channels of another one from ``first`` on."""
    targets = first + np.arange(len(channels))
    positions = target.shape[0] * math.prod(target.shape[2:])
    places = np.stack([_offsets(channels, positions, blocks), _offsets(targets, positions, blocks)], 1)
    text = source("channel_movement", BLOCK=blocks.size, PART=_PART, WORD=WORDS[target.element_type.size])
    buffers = [lowering.buffer(value, blocks), lowering.buffer(target, blocks), lowering.constant(places)]
    # One work-item a work-group, as there are few.
    sizes = [-(-positions // _PART), -(-len(channels) // blocks.size)]
    lowering.launch(text, "move_channels", [*buffers, len(channels), positions], sizes, [1, 1])


def _offsets(channels: np.ndarray, positions: int, blocks: Blocks) -> np.ndarray:
    return (channels // blocks.size * (positions * blocks.size) + channels % blocks.size).astype(np.int32)


@implements(ops.Pad)
class BlockedPad(OnBlockedImages):
    """Padding with a number, of channels only after the last one."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        if reason := super().mismatch(operation, profile):
            return reason
        node = operation.main
        if node.pad_mode != "constant":
            return "it pads with a number"
        begins, ends = (shape_input(node, index).reshape(-1) for index in (1, 2))
        if any(begins[:2]) or ends[0] or min(*begins, *ends) < 0:
            return "it pads channels at the end, and nothing is cropped"
        return None

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        node, image, output = operation.main, operation.source(0), operation.result
        blocks = Blocks(lowering.profile.vector_width)
        number = constant_array(node.input_value(3)) if node.has_input("arg_pad_value") else None
        macros = {"NUMBER": literal("float", 0.0 if number is None else float(number.reshape(())))}
        text = blocked_source("blocked_pad", image.element_type, blocks.size, macros)
        buffers = [lowering.buffer(image, blocks), lowering.buffer(output, blocks)]
        begins = shape_input(node, 1).reshape(-1).tolist()
        numbers = [image.shape[1], image.shape[0], *image.shape[2:], *output.shape[2:], *begins[2:]]
        sizes = row_parts(operation, lowering.profile)
        lowering.launch(text, "blocked_pad", [*buffers, *numbers], sizes, [1, 1])
