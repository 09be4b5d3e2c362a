"""ROIPooling, PSROIPooling and DeformablePSROIPooling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.errors import UnsupportedOperationError
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.roi_align import sampling_source
from hetero_opencl.kernels.sources import unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Argument, Lowering


@lowers(ops.ROIPooling, unless=unsupported_types)
def roi_pooling(lowering: Lowering, node: ops.ROIPooling) -> None:
    _pool(lowering, node, "largest_of_parts" if node.method == "max" else "spread_samples")


@lowers(ops.PSROIPooling, unless=unsupported_types)
def psroi_pooling(lowering: Lowering, node: ops.PSROIPooling) -> None:
    if node.mode == "average":
        _pool(lowering, node, "means_of_parts")
    else:
        _pool(lowering, node, "means_of_spread_samples", node.spatial_bins_y, node.spatial_bins_x)


@lowers(ops.DeformablePSROIPooling, unless=unsupported_types)
def deformable_psroi_pooling(lowering: Lowering, node: ops.DeformablePSROIPooling) -> None:
    offsets = node.input_value(2 if node.has_input("offsets") else 0)
    classes = offsets.shape[1] // 2 if node.has_input("offsets") else 0
    if node.has_input("offsets") and (
        offsets.shape[0] != node.get_input_shape(1)[0] or not classes or node.output_dim % classes
    ):
        raise UnsupportedOperationError(
            f"{lowering.type_name} '{lowering.name}' has offsets of shape {offsets.shape}; it needs one set per "
            f"region, with a number of classes that divides output_dim {node.output_dim}"
        )
    bins = node.spatial_bins_y, node.spatial_bins_x
    _pool(lowering, node, "means_of_moved_samples", *bins, offsets, classes, node.part_size, np.float32(node.trans_std))


def _pool(
    lowering: Lowering,
    node: ops.ROIPooling | ops.PSROIPooling | ops.DeformablePSROIPooling,
    kernel: str,
    *others: Argument,
) -> None:
    (data, regions), output = node.input_values()[:2], node.output(0)
    arguments: list[Argument] = [data, regions, output, *data.shape, *output.shape[1:]]
    arguments += [np.float32(node.spatial_scale), *others]
    text = sampling_source("roi_pooling", {"DATA": data.element_type})
    lowering.launch_flat(text, kernel, arguments, math.prod(output.shape))
