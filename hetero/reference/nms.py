"""Non-maximum suppression, class by class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.boxes import Overlap, falling, intersection_over_union, suppress
from hetero.reference.registry import evaluates, in_single
from hetero.reference.rotated_boxes import rotated_intersection_over_union


def _number(value: np.ndarray | None) -> float:
    return value.reshape(-1)[0] if value is not None else np.float32(0)


@evaluates(ops.NonMaxSuppression, ops.NonMaxSuppressionV5)
@in_single
def non_max_suppression(node: Node, boxes: np.ndarray, scores: np.ndarray, *numbers: np.ndarray) -> tuple:
    return _outputs(*_kept(node, boxes, scores, *numbers))


@evaluates(ops.NMSRotated)
@in_single
def nms_rotated(node: Node, boxes: np.ndarray, scores: np.ndarray, *numbers: np.ndarray) -> tuple:
    most, highest, least = (_number(value) for value in numbers)
    if not node.clockwise:
        boxes = boxes * boxes.dtype.type([1, 1, 1, 1, -1])

    def suppressed(batch: int, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _suppress_hard(boxes[batch], row, int(most), highest, least, rotated_intersection_over_union)

    return _outputs(*_of_all_classes(node, scores, suppressed))


def _outputs(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return places, np.column_stack([places[:, :2], values]), np.array([len(places)])


@evaluates(ops.NonMaxSuppressionV4, ops.NonMaxSuppressionV3, ops.NonMaxSuppressionV1)
@in_single
def fixed_non_max_suppression(node: Node, boxes: np.ndarray, scores: np.ndarray, *numbers: np.ndarray) -> np.ndarray:
    places, _ = _kept(node, boxes, scores, *numbers)
    batches, classes, count = scores.shape
    most = min(count, max(0, int(_number(numbers[0]))) if numbers else 0) * classes
    if isinstance(node, ops.NonMaxSuppressionV4) and not isinstance(node, ops.NonMaxSuppressionV3):
        most *= batches
    rows = np.full((most, 3), -1)
    rows[: len(places)] = places[:most]
    return rows


def _kept(node: Node, boxes, scores, most=None, overlap=None, least=None, sigma=None) -> tuple[np.ndarray, np.ndarray]:
    """Batch, class and index of the boxes kept, and their scores."""
    most, overlap, least, sigma = (_number(value) for value in (most, overlap, least, sigma))
    corners = _corners(boxes.astype(np.float32, copy=False), node.box_encoding)

    def suppressed(batch: int, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if sigma > 0:
            # Only the older version lets boxes that overlap by more than the threshold go here, too.
            highest = overlap if isinstance(node, ops.NonMaxSuppressionV5) else np.inf
            return _suppress_softly(corners[batch], row, int(most), highest, least, sigma)
        return _suppress_hard(corners[batch], row, int(most), overlap, least, intersection_over_union)

    return _of_all_classes(node, scores, suppressed)


def _of_all_classes(node: Node, scores: np.ndarray, suppressed: Callable) -> tuple[np.ndarray, np.ndarray]:
    """Batch, class and index of the boxes, and their scores, that ``suppressed`` keeps of each batch and class."""
    places, values = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.float32)]
    for batch, kind in np.ndindex(scores.shape[:2]):
        kept, found = suppressed(batch, scores[batch, kind])
        places.append(np.stack(np.broadcast_arrays(batch, kind, kept), axis=1))
        values.append(found)
    places, values = np.concatenate(places), np.concatenate(values)
    if node.sort_result_descending:
        order = falling(values)
        places, values = places[order], values[order]
    return places, values


def _corners(boxes: np.ndarray, encoding: str) -> np.ndarray:
    """Boxes as their corner of the smaller coordinates, then the other."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if encoding == "center":
        first, second = first - second / 2, first + second / 2
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def _suppress_hard(
    boxes: np.ndarray, scores: np.ndarray, most: int, highest: float, least: float, overlap: Overlap
) -> tuple[np.ndarray, np.ndarray]:
    """Boxes kept and their scores, where those taken let all others go that overlap them by more than ``highest``."""
    candidates = np.flatnonzero(scores > least)
    candidates = candidates[falling(scores[candidates])]
    kept = candidates[suppress(boxes[candidates], highest, most, overlap)]
    return kept, scores[kept]


def _suppress_softly(
    boxes: np.ndarray, scores: np.ndarray, most: int, highest: float, least: float, sigma: float
) -> tuple:
    """Boxes kept and their scores, where those taken make the scores of those that overlap them smaller."""
    waiting = np.flatnonzero(scores > least)
    values, kept, found = scores[waiting], [], []
    while waiting.size and len(kept) < most:
        best = np.argmax(values)
        kept.append(waiting[best])
        found.append(values[best])
        overlap = intersection_over_union(boxes[kept[-1:]], boxes[waiting])[0]
        values = values * np.exp(np.float32(-0.5) / sigma * overlap * overlap)
        stays = (values > least) & (overlap <= highest)
        stays[best] = False
        waiting, values = waiting[stays], values[stays]
    return np.array(kept, np.int64), np.array(found, np.float32)
