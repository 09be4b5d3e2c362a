"""ROIPooling, PSROIPooling and DeformablePSROIPooling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.errors import UnsupportedOperationError
from hetero.graph import Node
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.roi_align import sampling_source
from hetero_opencl.kernels.sources import unsupported_types
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


@lowers(ops.ROIPooling, unless=unsupported_types)
def roi_pooling(lowering: Lowering, node: Node) -> None:
    _pool(lowering, node, "largest_of_parts" if node.method == "max" else "spread_samples")


@lowers(ops.PSROIPooling, unless=unsupported_types)
def psroi_pooling(lowering: Lowering, node: Node) -> None:
    if node.mode == "average":
        _pool(lowering, node, "means_of_parts")
    else:
        _pool(lowering, node, "means_of_spread_samples", *map(np.int32, (node.spatial_bins_y, node.spatial_bins_x)))


@lowers(ops.DeformablePSROIPooling, unless=unsupported_types)
def deformable_psroi_pooling(lowering: Lowering, node: Node) -> None:
    offsets = node.input_value(2 if node.has_input("offsets") else 0)
    classes = offsets.shape[1] // 2 if node.has_input("offsets") else 0
    if node.has_input("offsets") and (
        offsets.shape[0] != node.get_input_shape(1)[0] or not classes or node.output_dim % classes
    ):
        raise UnsupportedOperationError(
            f"{lowering.type_name} '{lowering.name}' has offsets of shape {offsets.shape}; it needs one set per "
            f"region, with a number of classes that divides output_dim {node.output_dim}"
        )
    bins = map(np.int32, (node.spatial_bins_y, node.spatial_bins_x))
    moved = (lowering.buffer(offsets), np.int32(classes), np.int32(node.part_size), np.float32(node.trans_std))
    _pool(lowering, node, "means_of_moved_samples", *bins, *moved)


def _pool(lowering: Lowering, node: Node, kernel: str, *others: Buffer | np.generic) -> None:
    data, regions = node.input_values()[:2]
    output = node.output(0)
    sizes = map(np.int32, (*data.shape, *output.shape[1:]))
    arguments = [*map(lowering.buffer, (data, regions, output)), *sizes, np.float32(node.spatial_scale), *others]
    text = sampling_source("roi_pooling", {"DATA": data.element_type})
    lowering.launch_flat(text, kernel, arguments, math.prod(output.shape))
