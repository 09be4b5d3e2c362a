"""RegionYolo and ReorgYolo."""

from __future__ import annotations

import math

from hetero import ops
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.kernels.common.copies import copy_or_share, unsupported_movement
from hetero_opencl.kernels.common.definition import lowers, source, unsupported_types
from hetero_opencl.kernels.common.view import view_of
from hetero_opencl.lowering.lowering import Lowering


def _unsupported_region(node: ops.RegionYolo) -> str | None:
    if node.do_softmax and node.coords < 1:
        return "RegionYolo needs coords >= 1 if do_softmax is set"
    return unsupported_types(node)


@lowers(ops.RegionYolo, unsupported=_unsupported_region)
def region_yolo(lowering: Lowering, node: ops.RegionYolo) -> None:
    data, output = node.input_value(0), node.output(0)
    images, channels, *cells = data.shape
    extra_channels = channels - node.boxes * node.box_size
    if extra_channels < 0:
        raise UnsupportedOperationError(
            f"RegionYolo '{lowering.name}' has {channels} channels, but needs {node.boxes * node.box_size}"
        )
    extra_channels = extra_channels if node.do_softmax else 0
    sizes = (channels, math.prod(cells), node.boxes, node.coords, node.classes, node.do_softmax, extra_channels)
    text, count = source("yolo", {"DATA": data.element_type}), images * math.prod(cells) * (node.boxes + extra_channels)
    lowering.launch_flat(text, "region_yolo", [data, output, *sizes], count)


@lowers(ops.ReorgYolo, unsupported=unsupported_movement)
def reorg_yolo(lowering: Lowering, node: ops.ReorgYolo) -> None:
    data, stride = view_of(node.input_value(0)), node.stride[0]
    batch, channels, height, width = data.shape
    blocks = data.reshape(batch, channels // stride**2, height, stride, width, stride)
    copy_or_share(lowering, node.input_value(0), blocks.transpose(0, 3, 5, 1, 2, 4), node.output(0))
