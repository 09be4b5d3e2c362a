"""Resizing and sampling of images, and regions of interest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_writer import NodeWriter, NotInOnnx, emit, emitter

_MODES = {"nearest": "nearest", "linear": "linear", "linear_onnx": "linear", "cubic": "cubic"}


emit(
    {
        ops.Interpolate: lambda node: _resize(
            node, node.op, 1, node.axes(2, node.rank(0)) if node.op.has_input("axes") else None
        ),
        ops.InterpolateV4: lambda node: _resize(
            node, node.op, node.op.target_index, node.axes(3, node.rank(0)) if node.op.has_input("axes") else None
        ),
        ops.InterpolateV1: lambda node: _resize(
            node, node.op.to_interpolate_11(node.rank(0)), 1, [int(axis) for axis in node.op.axes]
        ),
    }
)


def _resize(
    node: NodeWriter, op: ops.Interpolate | ops.InterpolateV4, target_index: int, axes: list[int] | None
) -> str:
    if op.antialias or op.mode not in _MODES:
        raise NotInOnnx("antialias" if op.antialias else f"mode {op.mode}")
    coordinates, nearest = op.coordinate_transformation_mode, op.nearest_mode
    if op.mode == "nearest":
        coordinates, nearest = _nearest(node, op, axes)
    elif coordinates == "tf_half_pixel_for_nn":
        raise NotInOnnx(f"mode {op.mode} and coordinate_transformation_mode {coordinates}")
    value, rank = node.input(0), node.rank(0)
    pads = [pad for side in zip(*op.pads_of(rank)) for pad in side]
    if any(pads):
        value = node.add("Pad", value, pads)
    calculation, shape = op.shape_calculation_mode, node.op.get_output_partial_shape(0)
    if calculation == "sizes":
        sizes = node.vector(target_index)
    elif coordinates == "align_corners":
        # ONNX aligns the corners of fractional sizes.
        if shape.is_dynamic:
            raise NotInOnnx("align_corners and scales for a dynamic shape")
        lengths = shape.to_shape()
        sizes = [lengths[axis] for axis in axes] if axes is not None else list(lengths)
    else:
        sizes = None
    return node.add(
        "Resize", value, None, None if sizes is not None else node.converted(target_index, Type.f32), sizes,
        axes=axes, mode=_MODES[op.mode], coordinate_transformation_mode=coordinates,
        nearest_mode=nearest if op.mode == "nearest" else None,
        cubic_coeff_a=op.cube_coeff if op.mode == "cubic" else None,
    )  # fmt: skip


def _nearest(node: NodeWriter, op: ops.Interpolate | ops.InterpolateV4, axes: list[int] | None) -> tuple[str, str]:
    """Return the coordinates and the rounding for mode nearest."""
    coordinates, nearest = op.coordinate_transformation_mode, op.nearest_mode
    if nearest == "simple":  # up when downsampling, down when upsampling
        before, after = (port.partial_shape for port in (node.op.input_value(0), node.op.output(0)))
        resized = [(before[axis], after[axis]) for axis in (range(len(before)) if axes is None else axes)]
        if any(length.is_dynamic for pair in resized for length in pair):
            raise NotInOnnx("nearest_mode simple and a dynamic shape")
        lengths = [(old.get_length(), new.get_length()) for old, new in resized if old != new]
        if any(old < new for old, new in lengths) and any(old > new for old, new in lengths):
            raise NotInOnnx("nearest_mode simple for a smaller and a larger axis")
        nearest = "floor" if any(old < new for old, new in lengths) else "ceil"
    if coordinates == "tf_half_pixel_for_nn":
        # (i + 0.5) / scale rounded down is (i + 0.5) / scale - 0.5 rounded to the nearest index, halves up.
        if nearest != "floor":
            raise NotInOnnx(f"{coordinates} and nearest_mode {nearest}")
        return "half_pixel", "round_prefer_ceil"
    return coordinates, nearest


@emitter(ops.Resize)
def resize(node: NodeWriter) -> str:
    op = node.op
    is_scale = op.shape_calculation_mode == "scales"
    return node.add(
        "Resize", node.input(0), node.optional("roi"), node.converted(1, Type.f32) if is_scale else None,
        None if is_scale else node.vector(1), axes=op.axes, mode=op.mode,
        coordinate_transformation_mode=op.coordinate_transformation_mode, nearest_mode=op.nearest_mode,
        antialias=int(op.antialias), cubic_coeff_a=op.cube_coeff, exclude_outside=int(op.exclude_outside),
        extrapolation_value=op.extrapolation_value, keep_aspect_ratio_policy=op.keep_aspect_ratio_policy,
    )  # fmt: skip


@emitter(ops.ROIAlign, ops.ROIAlignLargestTerm)
def roi_align(node: NodeWriter) -> str:
    op = node.op
    modes = {"asymmetric": "output_half_pixel", "half_pixel_for_nn": "half_pixel", "half_pixel": "half_pixel"}
    # half_pixel adds 0.5 to coordinates before the scale.
    regions = node.add("Add", node.input(1), node.number(0.5)) if op.aligned_mode == "half_pixel" else node.input(1)
    if type(op) is ops.ROIAlign and op.mode == "max":
        raise NotInOnnx("mode max")
    return node.add(
        "RoiAlign", node.input(0), regions, node.converted(2, Type.i64), output_height=op.pooled_h,
        output_width=op.pooled_w, sampling_ratio=op.sampling_ratio, spatial_scale=op.spatial_scale, mode=op.mode,
        coordinate_transformation_mode=modes[op.aligned_mode],
    )  # fmt: skip


@emitter(ops.NonMaxSuppression)
def non_max_suppression(node: NodeWriter) -> Sequence[str]:
    op = node.op
    if op.has_input("soft_nms_sigma") and np.any(node.known(5)):
        raise NotInOnnx("soft_nms_sigma")
    limits = [
        node.add("Reshape", node.converted(index, kind), [1]) if op.get_input_size() > index else None
        for index, kind in ((2, Type.i64), (3, Type.f32), (4, Type.f32))
    ]
    indices = node.add(
        "NonMaxSuppression", node.converted(0, Type.f32), node.converted(1, Type.f32), *limits,
        center_point_box=int(op.box_encoding == "center"),
    )  # fmt: skip
    scores = node.add("GatherND", node.input(1), indices)
    if op.sort_result_descending:
        scores, order = node.add_outputs(2, "TopK", scores, node.add("Shape", scores))
        indices = node.add("Gather", indices, order)
    kind = op.get_output_element_type(1)
    batch_and_class = node.cast(node.add("Slice", indices, [0], [2], [1]), kind)
    scores = node.cast(node.add("Unsqueeze", scores, [-1]), kind, node.kind(1))
    selected = node.add("Concat", batch_and_class, scores, axis=-1)
    count = node.lengths(indices, [0])
    return [node.cast(indices, op.output_type, Type.i64), selected, node.cast(count, op.output_type, Type.i64)]


@emitter(ops.Col2Im)
def col2im(node: NodeWriter) -> str:
    op = node.op
    has_batch = node.rank(0) == 3
    columns = node.input(0) if has_batch else node.add("Unsqueeze", node.input(0), [0])
    image = node.add(
        "Col2Im", columns, node.vector(1), node.vector(2), strides=op.strides, dilations=op.dilations,
        pads=[*op.pads_begin, *op.pads_end],
    )  # fmt: skip
    return image if has_batch else node.add("Squeeze", image, [0])
