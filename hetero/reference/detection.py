"""DetectionOutput: boxes decoded from priors and offsets, filtered by NMS."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.detection import CORNER
from hetero.reference.boxes import descending_order, suppress
from hetero.reference.registry import compute_in_f32, evaluates


@evaluates(ops.DetectionOutput, ops.DetectionOutputV1)
@compute_in_f32
def detection_output(node: Node, offsets, scores, proposals, aux_scores=None, aux_offsets=None) -> np.ndarray:
    images, count = len(offsets), proposals.shape[2] // node.prior_size
    classes = scores.shape[1] // max(count, 1)
    scores = scores.reshape(images, count, classes)
    locations = 1 if node.share_location else classes
    boxes, variances = _priors(node, proposals, count)
    if aux_scores is not None:
        is_background = aux_scores.reshape(images, count, 2)[..., 1] < node.objectness_score
        background = np.arange(classes) == node.background_label_id
        scores = np.where(is_background[..., None], background.astype(scores.dtype), scores)
        boxes = _decoded(node, boxes, variances, aux_offsets.reshape(images, count, locations, 4))
    boxes = _decoded(node, boxes, variances, offsets.reshape(images, count, locations, 4))
    rows = [_detect(node, image, boxes[image], scores[image]) for image in range(images)]
    detections = np.concatenate([np.zeros((0, 7), scores.dtype), *rows])
    limit = node.rows(images, count, classes)
    result = np.zeros((limit, 7), scores.dtype)
    result[: len(detections)] = detections
    if len(detections) < limit:
        result[len(detections), 0] = -1
    return result[None, None]


def _priors(node: Node, proposals: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the priors and their variances, ``[images or 1, priors, 1, 4]`` each."""
    boxes = proposals[:, 0].reshape(len(proposals), count, 1, node.prior_size)[..., -4:]
    if not node.normalized:
        width, height = node.input_width, node.input_height
        boxes = boxes / np.array([width, height, width, height], boxes.dtype)
    if node.variance_encoded_in_target:
        return boxes, np.ones((1, 1, 1, 4), boxes.dtype)
    return boxes, proposals[:, 1, : count * 4].reshape(len(proposals), count, 1, 4)


def _decoded(node: Node, boxes: np.ndarray, variances: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the boxes moved by offsets: ``[images, priors, locations, 4]``."""
    offsets = offsets * variances
    if node.code_type == CORNER:
        decoded = boxes + offsets
    else:
        size = boxes[..., 2:] - boxes[..., :2]
        center = offsets[..., :2] * size + (boxes[..., 2:] + boxes[..., :2]) / 2
        half = np.exp(offsets[..., 2:]) * size / 2
        decoded = np.concatenate([center - half, center + half], axis=-1)
    return decoded.clip(0, 1) if node.clip_before_nms else decoded


def _detect(node: Node, image: int, boxes: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the output rows of one image, sorted by class, then by descending score."""
    labels, priors = (_by_best_class if node.decrease_label_id else _class_by_class)(node, boxes, scores)
    values = scores[priors, labels]
    if 0 <= node.keep_top_k[0] < len(priors):
        best = np.lexsort((priors, -values))[: node.keep_top_k[0]]
        best = best[np.argsort(labels[best], kind="stable")]
        labels, priors, values = labels[best], priors[best], values[best]
    corners = boxes[priors, 0 if node.share_location else labels]
    if node.clip_after_nms:
        corners = corners.clip(0, 1)
    output_labels = labels - 1 if node.decrease_label_id else labels
    return np.column_stack([np.full(len(priors), image), output_labels, values, corners]).astype(scores.dtype)


def _class_by_class(node: Node, boxes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return class and prior of the selected boxes; a prior may be selected for several classes."""
    labels, priors = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for label in range(scores.shape[1]):
        if label == node.background_label_id:
            continue
        candidates = np.flatnonzero(scores[:, label] > np.float32(node.confidence_threshold))
        candidates = candidates[descending_order(scores[candidates, label])]
        priors.append(_selected(node, boxes, label, candidates if node.top_k < 0 else candidates[: node.top_k]))
        labels.append(np.full(len(priors[-1]), label))
    return np.concatenate(labels), np.concatenate(priors)


def _by_best_class(node: Node, boxes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return class and prior of the selected boxes, considering each prior for its best class only.

    Class 0 is the background.
    """
    labels, priors = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    allowed = np.array([label for label in range(1, scores.shape[1]) if label != node.background_label_id], np.int64)
    if not allowed.size:
        return labels[0], priors[0]
    best = allowed[scores[:, allowed].argmax(axis=1)]
    values = np.take_along_axis(scores, best[:, None], axis=1)[:, 0]
    candidates = np.flatnonzero(values >= np.float32(node.confidence_threshold))
    candidates = candidates[descending_order(values[candidates])]
    candidates = candidates if node.top_k < 0 else candidates[: node.top_k]
    for label in np.unique(best[candidates]):
        priors.append(_selected(node, boxes, label, candidates[best[candidates] == label]))
        labels.append(np.full(len(priors[-1]), label))
    return np.concatenate(labels), np.concatenate(priors)


def _selected(node: Node, boxes: np.ndarray, label: int, candidates: np.ndarray) -> np.ndarray:
    class_boxes = boxes[candidates, 0 if node.share_location else label]
    return candidates[suppress(class_boxes, np.float32(node.nms_threshold), len(class_boxes))]
