"""Non-maximum suppression (NMS), class by class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.boxes import Overlap, descending_order, intersection_over_union, suppress
from hetero.reference.registry import compute_in_f32, evaluates
from hetero.reference.rotated_boxes import rotated_intersection_over_union


def _number(value: np.ndarray | None) -> float:
    return value.reshape(-1)[0] if value is not None else np.float32(0)


@evaluates(ops.NonMaxSuppression, ops.NonMaxSuppressionV5)
@compute_in_f32
def non_max_suppression(node: Node, boxes: np.ndarray, scores: np.ndarray, *numbers: np.ndarray) -> tuple:
    return _outputs(*_select(node, boxes, scores, *numbers))


@evaluates(ops.NMSRotated)
@compute_in_f32
def nms_rotated(node: Node, boxes: np.ndarray, scores: np.ndarray, *numbers: np.ndarray) -> tuple:
    limit, iou_threshold, score_threshold = (_number(value) for value in numbers)
    if not node.clockwise:
        boxes = boxes * boxes.dtype.type([1, 1, 1, 1, -1])

    def select(batch: int, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _hard_nms(boxes[batch], row, int(limit), iou_threshold, score_threshold, rotated_intersection_over_union)

    return _outputs(*_for_all_classes(node, scores, select))


def _outputs(indices: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return indices, np.column_stack([indices[:, :2], values]), np.array([len(indices)])


@evaluates(ops.NonMaxSuppressionV4, ops.NonMaxSuppressionV3, ops.NonMaxSuppressionV1)
@compute_in_f32
def fixed_non_max_suppression(node: Node, boxes: np.ndarray, scores: np.ndarray, *numbers: np.ndarray) -> np.ndarray:
    indices, _ = _select(node, boxes, scores, *numbers)
    batches, classes, count = scores.shape
    row_count = min(count, max(0, int(_number(numbers[0]))) if numbers else 0) * classes
    if isinstance(node, ops.NonMaxSuppressionV4) and not isinstance(node, ops.NonMaxSuppressionV3):
        row_count *= batches
    rows = np.full((row_count, 3), -1)
    rows[: len(indices)] = indices[:row_count]
    return rows


def _select(
    node: Node, boxes, scores, limit=None, iou_threshold=None, score_threshold=None, sigma=None
) -> tuple[np.ndarray, np.ndarray]:
    """Return batch, class and index of the selected boxes, and their scores."""
    limit, iou_threshold, score_threshold, sigma = map(_number, (limit, iou_threshold, score_threshold, sigma))
    corners = _corners(boxes.astype(np.float32, copy=False), node.box_encoding)

    def select(batch: int, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if sigma > 0:
            # Only version 5 also drops boxes above the IoU threshold in soft NMS.
            soft_iou_threshold = iou_threshold if isinstance(node, ops.NonMaxSuppressionV5) else np.inf
            return _soft_nms(corners[batch], row, int(limit), soft_iou_threshold, score_threshold, sigma)
        return _hard_nms(corners[batch], row, int(limit), iou_threshold, score_threshold, intersection_over_union)

    return _for_all_classes(node, scores, select)


def _for_all_classes(node: Node, scores: np.ndarray, select: Callable) -> tuple[np.ndarray, np.ndarray]:
    """Apply ``select`` to each batch and class; return batch, class and index of selected boxes, and their scores."""
    indices, values = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.float32)]
    for batch, label in np.ndindex(scores.shape[:2]):
        selected, selected_scores = select(batch, scores[batch, label])
        indices.append(np.stack(np.broadcast_arrays(batch, label, selected), axis=1))
        values.append(selected_scores)
    indices, values = np.concatenate(indices), np.concatenate(values)
    if node.sort_result_descending:
        order = descending_order(values)
        indices, values = indices[order], values[order]
    return indices, values


def _corners(boxes: np.ndarray, encoding: str) -> np.ndarray:
    """Convert boxes to two opposite corners, the one with the smaller coordinates first."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if encoding == "center":
        first, second = first - second / 2, first + second / 2
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def _hard_nms(
    boxes: np.ndarray, scores: np.ndarray, limit: int, iou_threshold: float, score_threshold: float, overlap: Overlap
) -> tuple[np.ndarray, np.ndarray]:
    """Return the selected boxes and their scores; boxes above the IoU threshold with a selected one are dropped."""
    candidates = np.flatnonzero(scores > score_threshold)
    candidates = candidates[descending_order(scores[candidates])]
    selected = candidates[suppress(boxes[candidates], iou_threshold, limit, overlap)]
    return selected, scores[selected]


def _soft_nms(
    boxes: np.ndarray, scores: np.ndarray, limit: int, iou_threshold: float, score_threshold: float, sigma: float
) -> tuple:
    """Return the selected boxes and their scores; selected boxes reduce the scores of those that overlap them."""
    candidates = np.flatnonzero(scores > score_threshold)
    values, selected, selected_scores = scores[candidates], [], []
    while candidates.size and len(selected) < limit:
        best = np.argmax(values)
        selected.append(candidates[best])
        selected_scores.append(values[best])
        overlap = intersection_over_union(boxes[selected[-1:]], boxes[candidates])[0]
        values = values * np.exp(np.float32(-0.5) / sigma * overlap * overlap)
        remaining = (values > score_threshold) & (overlap <= iou_threshold)
        remaining[best] = False
        candidates, values = candidates[remaining], values[remaining]
    return np.array(selected, np.int64), np.array(selected_scores, np.float32)
