"""MatrixNms and MulticlassNms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.reference.detection.boxes import candidates, intersection_over_union, pixel_overlap, suppress
from hetero.reference.registry import Array, evaluates

_ClassNms = ops.MatrixNms | ops.MulticlassNms


@evaluates(ops.MatrixNms, in_f32=True)
def matrix_nms(node: ops.MatrixNms, boxes: Array, scores: Array) -> tuple[Array, ...]:
    return _select_by_batch(node, boxes, scores, _decayed)


@evaluates(ops.MulticlassNms, ops.MulticlassNmsV8, in_f32=True)
def multiclass_nms(node: ops.MulticlassNms, boxes: Array, scores: Array, counts: Array | None = None) -> tuple:
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
    return _outputs(node, boxes.reshape(-1, 4), selected, numbers, rows)


def _select_by_batch(node: _ClassNms, boxes: Array, scores: Array, select: Callable) -> tuple[Array, ...]:
    """Return the outputs of a node whose boxes are common to all classes, given ``select(node, boxes, scores)``."""
    classes = _classes(node, scores.shape[1])
    selected = [
        _merge_classes(node, [(label, *select(node, boxes[batch], scores[batch, label])) for label in classes])
        for batch in range(len(scores))
    ]
    numbers = [indices + batch * boxes.shape[1] for batch, (_, indices, _) in enumerate(selected)]
    return _outputs(node, boxes.reshape(-1, 4), selected, numbers, numbers)


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


def _outputs(node: _ClassNms, boxes: Array, selected: list, numbers: list, rows: list) -> tuple[Array, ...]:
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
