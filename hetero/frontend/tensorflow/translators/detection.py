"""Object detection: non-maximum suppression, crops of boxes."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import pad_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, convert_to, int64, reshape, scalar_like
from hetero.graph import Node, Output


@translator(*(f"NonMaxSuppression{version}" for version in ("", "V2", "V3", "V4", "V5")))
def non_max_suppression(node: TensorflowNodeContext) -> Translation:
    """Return the indices of the selected boxes; in V5 their scores; from V4 on their number.

    Boxes are ``[N, 4]`` and scores ``[N]``. The threshold of the overlap is an attribute of the first version. Outputs
    are padded by zeros to the maximum number with ``pad_to_max_output_size``.
    """
    boxes, scores, limit, *thresholds = node.get_inputs()
    kind, version = boxes.element_type, node.get_op_type()[-1]
    if not thresholds:
        thresholds = [scalar_like(scores, node.get_attribute("iou_threshold", 0.5, float)).output(0)]
    if len(thresholds) < 2:
        thresholds.append(scalar_like(scores, np.finfo(scores.element_type.to_dtype()).min).output(0))
    boxes, scores = (convert_to(value, Type.f32) for value in (boxes, scores))
    selected = _suppress(
        ops.Unsqueeze(boxes, int64([0])), ops.Unsqueeze(scores, int64([0, 1])), reshape(limit, ()), thresholds
    )
    indices, chosen = (ops.Gather(value, int64(2), int64(1)).output(0) for value in selected.outputs()[:2])
    outputs = [indices, convert_to(chosen, kind)] if version == "5" else [indices]
    if version not in "45":
        return outputs
    count = reshape(selected.output(2), ())
    if node.get_attribute("pad_to_max_output_size", False, bool):
        outputs = [pad_to(value, reshape(limit, ()), count) for value in outputs]
    return [*outputs, count]


def _suppress(boxes: Output | Node, scores: Output | Node, limit: Output, thresholds: list[Output]) -> Node:
    """Select boxes ``[batch, N, 4]`` by scores ``[batch, classes, N]``, in i32. ``thresholds``: overlap, score, sigma.

    Soft suppression does not apply the overlap threshold.
    """
    numbers = [convert_to(reshape(value, ()), Type.f32) for value in thresholds]
    return ops.NonMaxSuppression(boxes, scores, limit, *numbers, output_type=Type.i32)


@translator("CombinedNonMaxSuppression")
def combined_non_max_suppression(node: TensorflowNodeContext) -> Translation:
    """Select the best boxes of all classes. Boxes are ``[batch, N, q, 4]`` and scores ``[batch, N, classes]``.

    q is 1 for boxes common to all classes, else the number of classes. Outputs, padded by zeros: boxes, scores and
    classes of each batch in descending order of scores, and their numbers.
    """
    boxes, scores, per_class, total, *thresholds = node.get_inputs()
    scores = ops.Transpose(scores, int64([0, 2, 1])).output(0)
    per_class, total = (reshape(convert_to(value, Type.i64), ()) for value in (per_class, total))
    classes, count = (axis_length(scores, axis) for axis in (1, 2))
    by_class = ops.Transpose(boxes, int64([0, 2, 1, 3])).output(0)
    shape = ops.ShapeOf(scores)
    table = ops.Broadcast(by_class, ops.Concat([shape, int64([4])], 0), broadcast_spec="bidirectional").output(0)
    # Each class of each batch is a batch of one class.
    selected = _suppress(
        ops.Reshape(table, ops.Concat([int64([-1]), reshape(count, (1,)), int64([4])], 0), False),
        ops.Reshape(scores, ops.Concat([int64([-1, 1]), reshape(count, (1,))], 0), False),
        per_class,
        thresholds,
    )
    rows = ops.Gather(selected.output(0), int64([0, 2]), int64(1))
    lowest = scalar_like(scores, -np.inf)
    blank = ops.Broadcast(lowest, ops.Concat([_product(shape), reshape(count, (1,))], 0))
    chosen = ops.ScatterNDUpdate(blank, rows, ops.Gather(selected.output(1), int64(2), int64(1)), "none")
    flat = ops.Reshape(chosen, ops.Concat([reshape(axis_length(scores, 0), (1,)), int64([-1])], 0), False)
    if node.get_attribute("pad_per_class", False, bool):
        total = ops.Minimum(total, ops.Multiply(per_class, classes)).output(0)
    # There may be fewer boxes than the total.
    extra = ops.Broadcast(lowest, ops.Concat([reshape(axis_length(scores, 0), (1,)), reshape(total, (1,))], 0))
    best = ops.TopK(ops.Concat([flat, extra], 1), total, 1, "max", "value", Type.i64)
    is_valid = ops.Greater(best.output(0), lowest)
    flat_index = ops.Select(is_valid, best.output(1), int64(0))
    flat_boxes = ops.Reshape(table, int64([0, -1, 4]), True)
    best_boxes = ops.Gather(flat_boxes, flat_index, int64(1), 1).output(0)
    if node.get_attribute("clip_boxes", True, bool):
        best_boxes = ops.Clamp(best_boxes, 0.0, 1.0).output(0)
    zero = scalar_like(scores, 0)
    kind = scores.element_type
    return [
        ops.Select(ops.Unsqueeze(is_valid, int64([2])), best_boxes, zero),
        ops.Select(is_valid, best.output(0), zero),
        ops.Convert(ops.Divide(flat_index, count), kind),
        ops.ReduceSum(ops.Convert(is_valid, Type.i32), int64([1]), False),
    ]


def _product(shape: Node) -> Node:
    """Return the number of pairs of a batch and a class as a vector of one element."""
    return ops.ReduceProd(ops.Gather(shape, int64([0, 1]), int64(0)), int64([0]), True)


@translator("CropAndResize")
def crop_and_resize(node: TensorflowNodeContext) -> Translation:
    """Crop boxes of images ``[batch, height, width, channels]`` and resize the crops to ``crop_size``.

    Boxes ``[N, 4]`` are y1, x1, y2, x2 relative to height - 1 and width - 1. Elements outside of the image are
    ``extrapolation_value``.
    """
    image, boxes, batch_indices, size = node.get_inputs()
    image = convert_to(image, Type.f32)
    lengths = [axis_length(image, axis) for axis in (1, 2)]
    sizes = [ops.Gather(convert_to(size, Type.i64), int64(axis), int64(0)).output(0) for axis in (0, 1)]
    edges = [ops.Gather(boxes, int64([column]), int64(1)).output(0) for column in range(4)]
    # Rows are [N, crop height, 1], columns [N, 1, crop width].
    rows, columns = (
        ops.Unsqueeze(_sample_points(edges[axis], edges[axis + 2], lengths[axis], sizes[axis]), int64([2 - axis]))
        for axis in (0, 1)
    )
    is_inside = ops.LogicalAnd(_is_inside(rows, lengths[0]), _is_inside(columns, lengths[1]))
    images = ops.Multiply(convert_to(batch_indices, Type.i64), ops.Multiply(*lengths))
    starts = ops.Unsqueeze(images, int64([1, 2]))
    pixels = ops.Reshape(image, ops.Concat([int64([-1]), reshape(axis_length(image, 3), (1,))], 0), False)

    def pixel(row: Node, column: Node) -> Node:
        """Return the pixels at whole coordinates, clamped to the image."""
        y, x = (
            ops.Convert(ops.Minimum(ops.Relu(value), _last(length)), Type.i64)
            for value, length in zip((row, column), lengths)
        )
        position = ops.Add(starts, ops.Add(ops.Multiply(y, lengths[1]), x))
        return ops.Gather(pixels, position, int64(0))

    if node.get_attribute("method", "bilinear") == "nearest":
        # TensorFlow rounds halves away from zero.
        crops = pixel(ops.Round(rows, "half_away_from_zero"), ops.Round(columns, "half_away_from_zero"))
    else:
        top, left, bottom, right = ops.Floor(rows), ops.Floor(columns), ops.Ceiling(rows), ops.Ceiling(columns)
        y, x = (
            ops.Unsqueeze(ops.Subtract(value, whole), int64([3])) for value, whole in ((rows, top), (columns, left))
        )
        upper = _between(pixel(top, left), pixel(top, right), x)
        crops = _between(upper, _between(pixel(bottom, left), pixel(bottom, right), x), y)
    other = np.float32(node.get_attribute("extrapolation_value", 0.0, float))
    return ops.Select(ops.Unsqueeze(is_inside, int64([3])), crops, other)


def _sample_points(start: Output, stop: Output, length: Output, size: Output) -> Node:
    """Return the coordinates ``[N, size]`` of samples from start to stop ``[N, 1]``, for one sample the center."""
    last = _last(length)
    intervals = ops.Convert(ops.Maximum(ops.Subtract(size, int64(1)), int64(1)), Type.f32)
    step = ops.Divide(ops.Multiply(ops.Subtract(stop, start), last), intervals)
    spread = ops.Add(ops.Multiply(start, last), ops.Multiply(ops.Convert(arange(size), Type.f32), step))
    center = ops.Multiply(ops.Multiply(ops.Add(start, stop), np.float32(0.5)), last)
    return ops.Select(ops.Greater(size, int64(1)), spread, center)


def _last(length: Output) -> Output:
    """Return the last index of an axis as f32."""
    return ops.Convert(ops.Subtract(length, int64(1)), Type.f32).output(0)


def _is_inside(points: Node, length: Output) -> Node:
    return ops.LogicalAnd(ops.GreaterEqual(points, np.float32(0)), ops.LessEqual(points, _last(length)))


def _between(start: Node, stop: Node, weight: Node) -> Node:
    return ops.Add(start, ops.Multiply(ops.Subtract(stop, start), weight))
