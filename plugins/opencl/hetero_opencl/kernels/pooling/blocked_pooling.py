"""Pooling on blocks of channels."""

from __future__ import annotations

import math
from collections.abc import Iterable

from hetero import ops
from hetero.core.types import Type
from hetero.graph import constant_array
from hetero_opencl.device.device_profile import DeviceProfile
from hetero_opencl.kernels.common.registry import implements
from hetero_opencl.kernels.convolution.blocked_windows import blocked_source, blocked_window
from hetero_opencl.kernels.elementwise.epilogue import no_epilogue
from hetero_opencl.kernels.pooling.pooling import Pooling, counts_padding, effective_window, lowest_literal
from hetero_opencl.lowering.implementation import Configuration, Implementation, Signature, uniform
from hetero_opencl.lowering.layouts import Blocks
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.lowering.operation import Operation

_TYPES = (Type.f32, Type.f16, Type.bf16)


class _Pooling(Implementation):
    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        image = operation.source(0)
        if not profile.is_cpu_like or profile.vector_width not in (8, 16) or image.element_type not in _TYPES:
            return "it computes in f32, in vectors of 8 or 16 elements"
        if not 3 <= len(image.shape) <= 5 or image.shape[1] == 1 or not math.prod(operation.node.output(0).shape):
            return "it has one to three spatial dimensions, and several channels"
        return None

    def signatures(self, operation: Operation, profile: DeviceProfile) -> Iterable[Signature]:
        yield uniform(operation, Blocks(profile.vector_width))


@implements(ops.MaxPool, ops.MaxPoolV1, ops.MaxPoolV8, ops.AvgPool, ops.AvgPoolV1, ops.AvgPoolV14)
class BlockedPooling(_Pooling):
    """MaxPool without indices, and AvgPool."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        node = operation.main
        if isinstance(node, ops.MaxPoolV8) and node.output(1).get_target_inputs():
            return "no indices are computed"
        return super().mismatch(operation, profile)

    def emit(
        self, lowering: Lowering, operation: Operation, signature: Signature, configuration: Configuration
    ) -> None:
        node, data, output, blocks = operation.main, operation.source(0), operation.node.output(0), signature.output
        assert isinstance(node, Pooling) and isinstance(blocks, Blocks)
        begin, _ = node.resolve_pads(data.shape[2:])
        effective = effective_window(node, data.shape[2:], output.shape[2:], begin)
        placed, counted = blocked_window(data.shape[2:], output.shape[2:], *effective), counts_padding(node)
        positions, batch = placed.positions(), data.shape[0]
        macros = {
            "I": positions, "EDGE": min(placed.edge, positions), "STRIDE": placed.window.strides[2],
            "COUNT_PADDING": int(counted),
            "IS_MAX": int(not isinstance(node, ops.AvgPoolV1)), "START": lowest_literal(data.element_type),
        }  # fmt: skip
        text = blocked_source("blocked_pooling", data.element_type, blocks.size, no_epilogue(blocks.size), macros)
        size = math.prod(node.kernel_shape) if counted else 0
        numbers = [*placed.numbers(), size, batch]
        buffers = [lowering.buffer(data, blocks), lowering.buffer(output, blocks)]
        tiles, planes = -(-placed.width // positions), -(-data.shape[1] // blocks.size) * batch
        sizes = [tiles, placed.row_groups(tiles * planes, lowering.device.profile), planes]
        lowering.launch(text, "blocked_pooling", [*buffers, *numbers], sizes, [1, 1, 1])


@implements(ops.ReduceMean)
class BlockedMean(_Pooling):
    """Mean over all spatial positions."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        node, shape = operation.main, operation.source(0).shape
        axes = constant_array(node.input_value(1))
        if axes is None or not node.attribute_values()["keep_dims"]:
            return "axes stay, with length 1"
        if {int(axis) % max(1, len(shape)) for axis in axes.reshape(-1)} != set(range(2, len(shape))):
            return "it reduces all spatial axes"
        return super().mismatch(operation, profile)

    def emit(
        self, lowering: Lowering, operation: Operation, signature: Signature, configuration: Configuration
    ) -> None:
        data, blocks = operation.source(0), signature.output
        assert isinstance(blocks, Blocks)
        text = blocked_source("blocked_mean", data.element_type, blocks.size, no_epilogue(blocks.size), {})
        planes = -(-data.shape[1] // blocks.size) * data.shape[0]
        buffers = [lowering.buffer(data, blocks), lowering.buffer(operation.result, blocks)]
        numbers = [math.prod(data.shape[2:]), data.shape[0]]
        lowering.launch(text, "blocked_mean", [*buffers, *numbers], [planes], [1])
