"""DetectionOutput: boxes from priors and offsets, of those that overlap the best."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.detection import CORNER
from hetero.reference.boxes import falling, suppress
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.DetectionOutput, ops.DetectionOutputV1)
@in_single
def detection_output(node: Node, offsets, scores, proposals, more_scores=None, more_offsets=None) -> np.ndarray:
    images, count = len(offsets), proposals.shape[2] // node.prior_size
    classes = scores.shape[1] // max(count, 1)
    scores = scores.reshape(images, count, classes)
    locations = 1 if node.share_location else classes
    boxes, variances = _priors(node, proposals, count)
    if more_scores is not None:
        dull = more_scores.reshape(images, count, 2)[..., 1] < node.objectness_score
        background = np.arange(classes) == node.background_label_id
        scores = np.where(dull[..., None], background.astype(scores.dtype), scores)
        boxes = _moved(node, boxes, variances, more_offsets.reshape(images, count, locations, 4))
    boxes = _moved(node, boxes, variances, offsets.reshape(images, count, locations, 4))
    rows = [_of_image(node, image, boxes[image], scores[image]) for image in range(images)]
    found = np.concatenate([np.zeros((0, 7), scores.dtype), *rows])
    limit = node.rows(images, count, classes)
    result = np.zeros((limit, 7), scores.dtype)
    result[: len(found)] = found
    if len(found) < limit:
        result[len(found), 0] = -1
    return result[None, None]


def _priors(node: Node, proposals: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The priors and their variances, ``[images or 1, priors, 1, 4]`` each."""
    boxes = proposals[:, 0].reshape(len(proposals), count, 1, node.prior_size)[..., -4:]
    if not node.normalized:
        width, height = node.input_width, node.input_height
        boxes = boxes / np.array([width, height, width, height], boxes.dtype)
    if node.variance_encoded_in_target:
        return boxes, np.ones((1, 1, 1, 4), boxes.dtype)
    return boxes, proposals[:, 1, : count * 4].reshape(len(proposals), count, 1, 4)


def _moved(node: Node, boxes: np.ndarray, variances: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The boxes moved by offsets: ``[images, priors, locations, 4]``."""
    offsets = offsets * variances
    if node.code_type == CORNER:
        moved = boxes + offsets
    else:
        size = boxes[..., 2:] - boxes[..., :2]
        center = offsets[..., :2] * size + (boxes[..., 2:] + boxes[..., :2]) / 2
        half = np.exp(offsets[..., 2:]) * size / 2
        moved = np.concatenate([center - half, center + half], axis=-1)
    return moved.clip(0, 1) if node.clip_before_nms else moved


def _of_image(node: Node, image: int, boxes: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The rows of the boxes found in one image, class by class, each by falling score."""
    kinds, places = (_by_best_class if node.decrease_label_id else _class_by_class)(node, boxes, scores)
    values = scores[places, kinds]
    if 0 <= node.keep_top_k[0] < len(places):
        best = np.lexsort((places, -values))[: node.keep_top_k[0]]
        best = best[np.argsort(kinds[best], kind="stable")]
        kinds, places, values = kinds[best], places[best], values[best]
    corners = boxes[places, 0 if node.share_location else kinds]
    if node.clip_after_nms:
        corners = corners.clip(0, 1)
    labels = kinds - 1 if node.decrease_label_id else kinds
    return np.column_stack([np.full(len(places), image), labels, values, corners]).astype(scores.dtype)


def _class_by_class(node: Node, boxes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Class and prior of the boxes kept, where a prior may be of several classes."""
    kinds, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for kind in range(scores.shape[1]):
        if kind == node.background_label_id:
            continue
        candidates = np.flatnonzero(scores[:, kind] > np.float32(node.confidence_threshold))
        candidates = candidates[falling(scores[candidates, kind])]
        places.append(_kept(node, boxes, kind, candidates if node.top_k < 0 else candidates[: node.top_k]))
        kinds.append(np.full(len(places[-1]), kind))
    return np.concatenate(kinds), np.concatenate(places)


def _by_best_class(node: Node, boxes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Class and prior of the boxes kept, where a prior is of its best class; class 0 is the background."""
    kinds, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    allowed = np.array([kind for kind in range(1, scores.shape[1]) if kind != node.background_label_id], np.int64)
    if not allowed.size:
        return kinds[0], places[0]
    best = allowed[scores[:, allowed].argmax(axis=1)]
    values = np.take_along_axis(scores, best[:, None], axis=1)[:, 0]
    candidates = np.flatnonzero(values >= np.float32(node.confidence_threshold))
    candidates = candidates[falling(values[candidates])]
    candidates = candidates if node.top_k < 0 else candidates[: node.top_k]
    for kind in np.unique(best[candidates]):
        places.append(_kept(node, boxes, kind, candidates[best[candidates] == kind]))
        kinds.append(np.full(len(places[-1]), kind))
    return np.concatenate(kinds), np.concatenate(places)


def _kept(node: Node, boxes: np.ndarray, kind: int, candidates: np.ndarray) -> np.ndarray:
    own = boxes[candidates, 0 if node.share_location else kind]
    return candidates[suppress(own, np.float32(node.nms_threshold), len(own))]
