"""Non-maximum suppression (NMS), class by class, MatrixNms and MulticlassNms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import ops
from hetero.reference.detection.boxes import (
    Overlap,
    Scalar,
    candidates,
    descending_order,
    intersection_over_union,
    pixel_overlap,
    rotated_intersection_over_union,
    suppress,
)
from hetero.reference.registry import Array, evaluates

# Versions with a fixed number of output rows.
_Fixed = ops.NonMaxSuppressionV4 | ops.NonMaxSuppressionV1


@evaluates(ops.NonMaxSuppression, ops.NonMaxSuppressionV5, in_f32=True)
def non_max_suppression(node: ops.NonMaxSuppression, boxes: Array, scores: Array, *numbers: Array) -> tuple[Array, ...]:
    return _outputs(*_select(node, boxes, scores, *numbers))


@evaluates(ops.NMSRotated, in_f32=True)
def nms_rotated(node: ops.NMSRotated, boxes: Array, scores: Array, *numbers: Array) -> tuple[Array, ...]:
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
    node: ops.NonMaxSuppression | ops.NMSRotated | _Fixed, scores: Array, select: Callable[..., Any]
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


_ClassNms = ops.MatrixNms | ops.MulticlassNms


@evaluates(ops.MatrixNms, in_f32=True)
def matrix_nms(node: ops.MatrixNms, boxes: Array, scores: Array) -> tuple[Array, ...]:
    return _select_by_batch(node, boxes, scores, _decayed)


@evaluates(ops.MulticlassNms, ops.MulticlassNmsV8, in_f32=True)
def multiclass_nms(
    node: ops.MulticlassNms, boxes: Array, scores: Array, counts: Array | None = None
) -> tuple[Array, ...]:
    if counts is None:
        return _select_by_batch(node, boxes, scores, _suppressed)
    count = len(scores)
    selected, numbers, rows = [], [], []
    begin = 0
    for end in np.cumsum(np.maximum(counts, 0)):
        by_class = [(label, *_suppressed(node, boxes[label, begin:end], scores[label, begin:end]))
                    for label in _classes(node, count)]  # fmt: skip
        selected.append(_merge_classes(node, by_class))
        labels, indices, _ = selected[-1]
        numbers.append((begin + indices) * count + labels)
        rows.append(labels * boxes.shape[1] + begin + indices)
        begin = end
    return _class_outputs(node, boxes.reshape(-1, 4), selected, numbers, rows)


def _select_by_batch(node: _ClassNms, boxes: Array, scores: Array, select: Callable[..., Any]) -> tuple[Array, ...]:
    """Return the outputs of a node whose boxes are common to all classes, given ``select(node, boxes, scores)``."""
    classes = _classes(node, scores.shape[1])
    selected = [
        _merge_classes(node, [(label, *select(node, boxes[batch], scores[batch, label])) for label in classes])
        for batch in range(len(scores))
    ]
    numbers = [indices + batch * boxes.shape[1] for batch, (_, indices, _) in enumerate(selected)]
    return _class_outputs(node, boxes.reshape(-1, 4), selected, numbers, numbers)


def _classes(node: _ClassNms, count: int) -> list[int]:
    return [label for label in range(count) if label != node.background_class]


def _decayed(node: ops.MatrixNms, boxes: Array, scores: Array) -> tuple[Array, Array]:
    """Return the selected boxes and their decayed scores, by Wang et al., SOLOv2 (2020), section 3.3."""
    best = candidates(scores, scores > node.score_threshold, node.nms_top_k)
    boxes = boxes[best]
    overlap = np.tril((intersection_over_union if node.normalized else pixel_overlap)(boxes, boxes), -1)
    largest = overlap.max(axis=1, initial=0)
    if node.decay_function == "gaussian":
        decay = np.exp((largest**2 - overlap**2) * np.float32(node.gaussian_sigma))
    else:
        decay = (1 - overlap) / (1 - largest + np.float32(1e-10))
    decay[np.triu_indices(len(decay))] = 1
    values = scores[best] * decay.min(axis=1, initial=1)
    passes = values > node.post_threshold
    return best[passes], values[passes]


def _suppressed(node: ops.MulticlassNms, boxes: Array, scores: Array) -> tuple[Array, Array]:
    """Return the boxes selected by NMS and their scores."""
    best = candidates(scores, scores >= node.score_threshold, node.nms_top_k)
    overlap = intersection_over_union if node.normalized else pixel_overlap
    threshold = np.float32(node.iou_threshold)
    selected = best[suppress(boxes[best], threshold, len(best), overlap, node.nms_eta)]
    return selected, scores[selected]


def _merge_classes(node: _ClassNms, by_class: list[tuple[int, Array, Array]]) -> tuple[Array, ...]:
    """Return class, index and score of the best ``keep_top_k`` boxes of one batch, in descending order of score."""
    labels = np.concatenate([np.zeros(0, np.int64), *(np.full(len(indices), label) for label, indices, _ in by_class)])
    indices = np.concatenate([np.zeros(0, np.int64), *(indices for _, indices, _ in by_class)])
    values = np.concatenate([np.zeros(0, np.float32), *(values for _, _, values in by_class)])
    order = np.lexsort((indices, labels, -values))
    if node.keep_top_k >= 0:
        order = order[: node.keep_top_k]
    return labels[order], indices[order], values[order]


def _class_outputs(
    node: _ClassNms, boxes: Array, selected: list[Any], numbers: list[Any], rows: list[Any]
) -> tuple[Array, ...]:
    """Return the outputs of the node.

    ``selected``: class, index and score of the boxes selected in each batch; ``numbers``: their output indices;
    ``rows``: their rows in ``boxes [n, 4]``.
    """
    counts = np.array([len(batch) for batch in numbers], np.int64)
    if not counts.sum():
        return np.zeros((0, 6), boxes.dtype), np.zeros((0, 1), np.int64), counts
    labels, indices, values = (np.concatenate(arrays) for arrays in zip(*selected))
    batches = np.repeat(np.arange(len(counts)), counts)
    keys: tuple[Array, ...] = (-values, batches, labels, indices)
    if node.sort_result_type == "classid":
        keys = (labels, batches, -values, indices)
    if not node.sort_result_across_batch or node.sort_result_type == "none":
        keys = (batches, *keys)
    order = np.lexsort(keys[::-1])
    output = np.column_stack([labels, values, boxes[np.concatenate(rows)]])[order]
    return output, np.concatenate(numbers)[order][:, None], counts
