"""Interpolation of images in blocks of channels."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from hetero import ops
from hetero.graph import is_constant
from hetero.reference.interpolation import Taps
from hetero.types import Type
from hetero_opencl.device_profile import DeviceProfile
from hetero_opencl.implementation import Configuration, Implementation, Signature
from hetero_opencl.kernels.blocked_windows import ITEMS_PER_UNIT, blocked_source
from hetero_opencl.kernels.epilogue import no_epilogue
from hetero_opencl.kernels.interpolation import resampled_axes_of
from hetero_opencl.kernels.movement import shape_input
from hetero_opencl.kernels.registry import implements
from hetero_opencl.layouts import ROWS, Blocks
from hetero_opencl.lowering import Lowering
from hetero_opencl.operation import Operation

_TYPES = (Type.f32, Type.f16, Type.bf16)


@implements(ops.Interpolate, ops.InterpolateV4)
class BlockedInterpolation(Implementation):
    """Resamples rows and columns at once; each vector holds neighboring channels, so no element is moved within one."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        node, image, output = operation.main, operation.source(0), operation.result
        assert isinstance(node, ops.Interpolate | ops.InterpolateV4)
        if not profile.is_cpu_like or profile.vector_width not in (8, 16) or image.element_type not in _TYPES:
            return "it computes in f32, in vectors of 8 or 16 elements"
        if len(image.shape) != 4 or image.shape[1] == 1 or not math.prod((*image.shape, *output.shape)):
            return "it has two spatial dimensions, and several channels"
        if any(map(any, node.pads_of(4))) or not all(is_constant(value) for value in node.input_values()[1:]):
            return "there is no padding, and the lengths are constants"
        return "it resamples spatial axes" if image.shape[:2] != output.shape[:2] else None

    def signatures(self, operation: Operation, profile: DeviceProfile) -> Iterable[Signature]:
        blocks = Blocks(profile.vector_width)
        yield Signature((blocks, *[ROWS] * (operation.node.get_input_size() - 1)), blocks)

    def emit(
        self, lowering: Lowering, operation: Operation, signature: Signature, configuration: Configuration
    ) -> None:
        node, image, output, blocks = operation.main, operation.source(0), operation.result, signature.output
        assert isinstance(node, ops.Interpolate | ops.InterpolateV4) and isinstance(blocks, Blocks)
        taps = dict(resampled_axes_of(node, image.shape, shape_input(node, node.target_index)))
        (rows, row_weights), (columns, column_weights) = (
            _filled(taps.get(axis), output.shape[axis]) for axis in (2, 3)
        )
        macros = {"ROW_TAPS": len(rows), "COLUMN_TAPS": len(columns)}
        source = blocked_source(
            "blocked_interpolation", image.element_type, blocks.size, no_epilogue(blocks.size), macros
        )
        tables = [lowering.constant(table) for table in (rows, row_weights, columns, column_weights)]
        planes = -(-image.shape[1] // blocks.size) * image.shape[0]
        parts = min(output.shape[2], -(-ITEMS_PER_UNIT * lowering.device.profile.compute_units // planes))
        buffers = [lowering.buffer(image, blocks), lowering.buffer(output, blocks), *tables]
        numbers = [*image.shape[2:], *output.shape[2:]]
        lowering.launch(source, "blocked_interpolation", [*buffers, *numbers], [parts, planes], [1, 1])


def _filled(taps: Taps | None, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices and weights of an axis as [tap, position], of one that is not resampled too."""
    indices, weights = taps or (np.arange(length)[:, None], None)
    if weights is None:
        weights = np.ones(indices.shape)
    return np.ascontiguousarray(indices.T, np.int32), np.ascontiguousarray(weights.T, np.float32)
