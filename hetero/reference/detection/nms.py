"""Non-maximum suppression (NMS), class by class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.reference.detection.boxes import (
    Overlap,
    Scalar,
    candidates,
    descending_order,
    intersection_over_union,
    suppress,
)
from hetero.reference.detection.rotated_boxes import rotated_intersection_over_union
from hetero.reference.registry import Array, evaluates

# Versions with a fixed number of output rows.
_Fixed = ops.NonMaxSuppressionV4 | ops.NonMaxSuppressionV1


@evaluates(ops.NonMaxSuppression, ops.NonMaxSuppressionV5, in_f32=True)
def non_max_suppression(node: ops.NonMaxSuppression, boxes: Array, scores: Array, *numbers: Array) -> tuple:
    return _outputs(*_select(node, boxes, scores, *numbers))


@evaluates(ops.NMSRotated, in_f32=True)
def nms_rotated(node: ops.NMSRotated, boxes: Array, scores: Array, *numbers: Array) -> tuple:
    limit, iou_threshold, score_threshold = (value.reshape(-1)[0] for value in numbers)
    if not node.clockwise:
        boxes = boxes * np.array([1, 1, 1, 1, -1], boxes.dtype)

    def select(batch: int, row: Array) -> tuple[Array, Array]:
        return _hard_nms(boxes[batch], row, int(limit), iou_threshold, score_threshold, rotated_intersection_over_union)

    return _outputs(*_for_all_classes(node, scores, select))


def _outputs(indices: Array, values: Array) -> tuple[Array, Array, Array]:
    return indices, np.column_stack([indices[:, :2], values]), np.array([len(indices)])


@evaluates(ops.NonMaxSuppressionV4, ops.NonMaxSuppressionV3, ops.NonMaxSuppressionV1, in_f32=True)
def fixed_non_max_suppression(node: _Fixed, boxes: Array, scores: Array, *numbers: Array) -> Array:
    indices, _ = _select(node, boxes, scores, *numbers)
    batches, classes, count = scores.shape
    row_count = min(count, max(0, int(numbers[0].reshape(-1)[0])) if numbers else 0) * classes
    if isinstance(node, ops.NonMaxSuppressionV4) and not isinstance(node, ops.NonMaxSuppressionV3):
        row_count *= batches
    rows = np.full((row_count, 3), -1)
    rows[: len(indices)] = indices[:row_count]
    return rows


def _select(node: ops.NonMaxSuppression | _Fixed, boxes: Array, scores: Array, *inputs: Array) -> tuple[Array, Array]:
    """Return batch, class and index of the selected boxes, and their scores. ``inputs``: numbers, by default 0."""
    numbers = [value.reshape(-1)[0] for value in inputs]
    limit, iou_threshold, score_threshold, sigma = numbers + [np.float32(0)] * (4 - len(numbers))
    corners = _corners(boxes.astype(np.float32, copy=False), node.box_encoding)

    def select(batch: int, row: Array) -> tuple[Array, Array]:
        if sigma > 0:
            # Only version 5 also drops boxes above the IoU threshold in soft NMS.
            soft_iou_threshold = iou_threshold if isinstance(node, ops.NonMaxSuppressionV5) else np.inf
            return _soft_nms(corners[batch], row, int(limit), soft_iou_threshold, score_threshold, sigma)
        return _hard_nms(corners[batch], row, int(limit), iou_threshold, score_threshold, intersection_over_union)

    return _for_all_classes(node, scores, select)


def _for_all_classes(
    node: ops.NonMaxSuppression | ops.NMSRotated | _Fixed, scores: Array, select: Callable
) -> tuple[Array, Array]:
    """Apply ``select`` to each batch and class; return batch, class and index of selected boxes, and their scores."""
    all_indices, all_values = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.float32)]
    for batch, label in np.ndindex(scores.shape[:2]):
        selected, selected_scores = select(batch, scores[batch, label])
        all_indices.append(np.stack(np.broadcast_arrays(batch, label, selected), axis=1))
        all_values.append(selected_scores)
    indices, values = np.concatenate(all_indices), np.concatenate(all_values)
    if node.sort_result_descending:
        order = descending_order(values)
        indices, values = indices[order], values[order]
    return indices, values


def _corners(boxes: Array, encoding: str) -> Array:
    """Convert boxes to two opposite corners, the one with the smaller coordinates first."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if encoding == "center":
        first, second = first - second / 2, first + second / 2
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def _hard_nms(
    boxes: Array, scores: Array, limit: int, iou_threshold: Scalar, score_threshold: Scalar, overlap: Overlap
) -> tuple[Array, Array]:
    """Return the selected boxes and their scores; boxes above the IoU threshold with a selected one are dropped."""
    best = candidates(scores, scores > score_threshold)
    selected = best[suppress(boxes[best], iou_threshold, limit, overlap)]
    return selected, scores[selected]


def _soft_nms(
    boxes: Array, scores: Array, limit: int, iou_threshold: Scalar, score_threshold: Scalar, sigma: Scalar
) -> tuple[Array, Array]:
    """Return the selected boxes and their scores; selected boxes reduce the scores of those that overlap them."""
    remaining = np.flatnonzero(scores > score_threshold)
    values = scores[remaining]
    selected: list[int] = []
    selected_scores: list[float] = []
    while remaining.size and len(selected) < limit:
        best = np.argmax(values)
        selected.append(remaining[best])
        selected_scores.append(values[best])
        overlap = intersection_over_union(boxes[selected[-1:]], boxes[remaining])[0]
        values = values * np.exp(np.float32(-0.5) / sigma * overlap * overlap)
        kept = (values > score_threshold) & (overlap <= iou_threshold)
        kept[best] = False
        remaining, values = remaining[kept], values[kept]
    return np.array(selected, np.int64), np.array(selected_scores, np.float32)
