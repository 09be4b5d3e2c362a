"""Conversion of NV12 and I420 images to RGB and BGR."""

from __future__ import annotations

import math

from hetero import ops
from hetero.graph import Node
from hetero_opencl.kernels.common.definition import lowers, source, unsupported_types
from hetero_opencl.lowering.lowering import Lowering


@lowers(ops.NV12toBGR, ops.NV12toRGB, ops.I420toBGR, ops.I420toRGB, unsupported=unsupported_types)
def convert_colors(lowering: Lowering, node: Node) -> None:
    in_pairs = isinstance(node, (ops.NV12toBGR, ops.NV12toRGB))  # U and V are interleaved, else in two planes
    output, planes = node.output(0), [lowering.buffer(value) for value in node.input_values()]
    _, height, width, _ = output.shape
    area, quarter = height * width, height * width // 4
    color_step = 2 * quarter if in_pairs else quarter
    image_step, u_offset, v_offset = area, 0, 1 if in_pairs else 0
    if len(planes) == 1:
        image_step = color_step = area + 2 * quarter
        u_offset, v_offset = area, area + (1 if in_pairs else quarter)
    kind = output.element_type
    backwards = isinstance(node, (ops.NV12toBGR, ops.I420toBGR))
    text = source("color", {"DATA": kind}, BACKWARDS=int(backwards), WHOLE=int(kind.is_integer()))
    sizes = (height, width, image_step, color_step, u_offset, v_offset, 2 if in_pairs else 1)
    # For NV12 U and V are in one plane; with a single input all planes are in one tensor.
    u, v = planes[min(1, len(planes) - 1)], planes[-1]
    lowering.launch_flat(text, "convert_colors", [planes[0], u, v, output, *sizes], math.prod(output.shape[:3]))
