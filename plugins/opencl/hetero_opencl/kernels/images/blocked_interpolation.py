"""Interpolation of images in blocks of channels."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.images.interpolation import Taps
from hetero_opencl.device.device_profile import DeviceProfile
from hetero_opencl.kernels.common.registry import implements
from hetero_opencl.kernels.convolution.blocked_windows import blocked_source
from hetero_opencl.kernels.elementwise.epilogue import no_epilogue
from hetero_opencl.kernels.images.blocked_images import OnBlockedImages, row_parts
from hetero_opencl.kernels.images.interpolation import resampled_axes_of
from hetero_opencl.kernels.movement.movement import shape_input
from hetero_opencl.lowering.implementation import Configuration, Signature
from hetero_opencl.lowering.layouts import Blocks
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.lowering.operation import Operation


@implements(ops.Interpolate, ops.InterpolateV4)
class BlockedInterpolation(OnBlockedImages):
    """Resamples rows and columns at once; each vector holds neighboring channels, so no element is moved within one."""

    def mismatch(self, operation: Operation, profile: DeviceProfile) -> str | None:
        if reason := super().mismatch(operation, profile):
            return reason
        node = operation.main
        assert isinstance(node, ops.Interpolate | ops.InterpolateV4)
        if any(map(any, node.pads_of(4))):
            return "there is no padding"
        is_spatial = operation.source(0).shape[:2] == operation.result.shape[:2]
        return None if is_spatial else "it resamples spatial axes"

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
        buffers = [lowering.buffer(image, blocks), lowering.buffer(output, blocks), *tables]
        numbers, sizes = [*image.shape[2:], *output.shape[2:]], row_parts(operation, lowering.device.profile)
        lowering.launch(source, "blocked_interpolation", [*buffers, *numbers], sizes, [1, 1])


def _filled(taps: Taps | None, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices and weights of an axis as [tap, position], of one that is not resampled too."""
    indices, weights = taps or (np.arange(length)[:, None], None)
    if weights is None:
        weights = np.ones(indices.shape)
    return np.ascontiguousarray(indices.T, np.int32), np.ascontiguousarray(weights.T, np.float32)
