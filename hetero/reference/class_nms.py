"""MatrixNms and MulticlassNms."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.boxes import falling, intersection_over_union, pixel_overlap, suppress, suppress_adaptively
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.MatrixNms)
@in_single
def matrix_nms(node: Node, boxes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, ...]:
    classes = _classes(node, scores.shape[1])
    found = [_of_batch(node, [(kind, *_decayed(node, boxes[batch], scores[batch, kind])) for kind in classes])
             for batch in range(len(scores))]  # fmt: skip
    places = [kept + batch * boxes.shape[1] for batch, (_, kept, _) in enumerate(found)]
    return _outputs(node, boxes.reshape(-1, 4), found, places, places)


@evaluates(ops.MulticlassNms, ops.MulticlassNmsV8)
@in_single
def multiclass_nms(node: Node, boxes: np.ndarray, scores: np.ndarray, counts: np.ndarray | None = None) -> tuple:
    if scores.ndim == 3:
        classes = _classes(node, scores.shape[1])
        found = [_of_batch(node, [(kind, *_suppressed(node, boxes[batch], scores[batch, kind])) for kind in classes])
                 for batch in range(len(scores))]  # fmt: skip
        places = [kept + batch * boxes.shape[1] for batch, (_, kept, _) in enumerate(found)]
        return _outputs(node, boxes.reshape(-1, 4), found, places, places)
    count = len(scores)
    found, places, rows = [], [], []
    begin = 0
    for end in np.cumsum(np.maximum(counts, 0)):
        of_classes = [(kind, *_suppressed(node, boxes[kind, begin:end], scores[kind, begin:end]))
                      for kind in _classes(node, count)]  # fmt: skip
        found.append(_of_batch(node, of_classes))
        kinds, kept, _ = found[-1]
        places.append((begin + kept) * count + kinds)
        rows.append(kinds * boxes.shape[1] + begin + kept)
        begin = end
    return _outputs(node, boxes.reshape(-1, 4), found, places, rows)


def _classes(node: Node, count: int) -> list[int]:
    return [kind for kind in range(count) if kind != node.background_class]


def _candidates(node: Node, scores: np.ndarray, fits: np.ndarray) -> np.ndarray:
    """The indices of the scores that fit, of at most ``nms_top_k``, the largest first."""
    found = np.flatnonzero(fits)
    found = found[falling(scores[found])]
    return found if node.nms_top_k < 0 else found[: node.nms_top_k]


def _decayed(node: Node, boxes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The boxes kept and their new scores, by Wang et al., SOLOv2 (2020), section 3.3."""
    candidates = _candidates(node, scores, scores > node.score_threshold)
    boxes = boxes[candidates]
    overlap = np.tril((intersection_over_union if node.normalized else pixel_overlap)(boxes, boxes), -1)
    largest = overlap.max(axis=1, initial=0)
    if node.decay_function == "gaussian":
        decay = np.exp((largest**2 - overlap**2) * np.float32(node.gaussian_sigma))
    else:
        decay = (1 - overlap) / (1 - largest + np.float32(1e-10))
    decay[np.triu_indices(len(decay))] = 1
    values = scores[candidates] * decay.min(axis=1, initial=1)
    good = values > node.post_threshold
    return candidates[good], values[good]


def _suppressed(node: Node, boxes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The boxes kept and their scores."""
    candidates = _candidates(node, scores, scores >= node.score_threshold)

    overlap = intersection_over_union if node.normalized else pixel_overlap
    boxes, threshold = boxes[candidates], np.float32(node.iou_threshold)
    if node.nms_eta < 1:
        kept = candidates[suppress_adaptively(boxes, threshold, node.nms_eta, overlap)]
    else:
        kept = candidates[suppress(boxes, threshold, len(boxes), overlap)]
    return kept, scores[kept]


def _of_batch(node: Node, of_classes: list[tuple[int, np.ndarray, np.ndarray]]) -> tuple[np.ndarray, ...]:
    """Class, index and score of the boxes of one batch that are kept, by falling score."""
    kinds = np.concatenate([np.zeros(0, np.int64), *(np.full(len(kept), kind) for kind, kept, _ in of_classes)])
    kept = np.concatenate([np.zeros(0, np.int64), *(kept for _, kept, _ in of_classes)])
    values = np.concatenate([np.zeros(0, np.float32), *(values for _, _, values in of_classes)])
    order = np.lexsort((kept, kinds, -values))
    if node.keep_top_k >= 0:
        order = order[: node.keep_top_k]
    return kinds[order], kept[order], values[order]


def _outputs(node: Node, boxes: np.ndarray, found: list, places: list, rows: list) -> tuple[np.ndarray, ...]:
    """The outputs from what each batch has kept, the numbers of its boxes, and their rows in all boxes ``[n, 4]``."""
    counts = np.array([len(kept) for kept in places], np.int64)
    if not counts.sum():
        return np.zeros((0, 6), boxes.dtype), np.zeros((0, 1), np.int64), counts
    kinds, kept, values = (np.concatenate(arrays) for arrays in zip(*found))
    batches = np.repeat(np.arange(len(counts)), counts)
    keys = (-values, batches, kinds, kept)
    if node.sort_result_type == "classid":
        keys = (kinds, batches, -values, kept)
    if not node.sort_result_across_batch or node.sort_result_type == "none":
        keys = (batches, *keys)
    order = np.lexsort(keys[::-1])
    picked = np.column_stack([kinds, values, boxes[np.concatenate(rows)]])[order]
    return picked, np.concatenate(places)[order][:, None], counts
