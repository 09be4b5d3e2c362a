"""DetectionOutput, RegionYolo and ReorgYolo."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.ops.detection.detection import CORNER
from hetero.reference.detection.boxes import candidates, labeled, suppress
from hetero.reference.registry import Array, evaluates


@evaluates(ops.DetectionOutput, ops.DetectionOutputV1, in_f32=True)
def detection_output(node: ops.DetectionOutput, offsets: Array, scores: Array, proposals: Array, *aux: Array) -> Array:
    images, count = len(offsets), proposals.shape[2] // node.prior_size
    classes = scores.shape[1] // max(count, 1)
    scores = scores.reshape(images, count, classes)
    locations = 1 if node.share_location else classes
    boxes, variances = _priors(node, proposals, count)
    if aux:
        aux_scores, aux_offsets = aux
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


def _priors(node: ops.DetectionOutput, proposals: Array, count: int) -> tuple[Array, Array]:
    """Return the priors and their variances, ``[images or 1, priors, 1, 4]`` each."""
    boxes = proposals[:, 0].reshape(len(proposals), count, 1, node.prior_size)[..., -4:]
    if not node.normalized:
        width, height = node.input_width, node.input_height
        boxes = boxes / np.array([width, height, width, height], boxes.dtype)
    if node.variance_encoded_in_target:
        return boxes, np.ones((1, 1, 1, 4), boxes.dtype)
    return boxes, proposals[:, 1, : count * 4].reshape(len(proposals), count, 1, 4)


def _decoded(node: ops.DetectionOutput, boxes: Array, variances: Array, offsets: Array) -> Array:
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


def _detect(node: ops.DetectionOutput, image: int, boxes: Array, scores: Array) -> Array:
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


def _class_by_class(node: ops.DetectionOutput, boxes: Array, scores: Array) -> tuple[Array, Array]:
    """Return class and prior of the selected boxes; a prior may be selected for several classes."""
    selected = {}
    for label, values in enumerate(scores.T):
        if label != node.background_label_id:
            best = candidates(values, values > np.float32(node.confidence_threshold), node.top_k)
            selected[label] = _selected(node, boxes, label, best)
    return labeled(selected)


def _by_best_class(node: ops.DetectionOutput, boxes: Array, scores: Array) -> tuple[Array, Array]:
    """Return class and prior of the selected boxes, considering each prior for its best class only.

    Class 0 is the background.
    """
    allowed = np.array([label for label in range(1, scores.shape[1]) if label != node.background_label_id], np.int64)
    if not allowed.size:
        return labeled({})
    best = allowed[scores[:, allowed].argmax(axis=1)]
    values = np.take_along_axis(scores, best[:, None], axis=1)[:, 0]
    order = candidates(values, values >= np.float32(node.confidence_threshold), node.top_k)
    by_class = {label: order[best[order] == label] for label in np.unique(best[order]).tolist()}
    return labeled({label: _selected(node, boxes, label, priors) for label, priors in by_class.items()})


def _selected(node: ops.DetectionOutput, boxes: Array, label: int, priors: Array) -> Array:
    class_boxes = boxes[:, 0 if node.share_location else label][priors]
    return priors[suppress(class_boxes, np.float32(node.nms_threshold), len(priors))]


@evaluates(ops.RegionYolo, in_f32=True)
def region_yolo(node: ops.RegionYolo, data: Array) -> Array:
    images, channels, height, width = data.shape
    used = node.boxes * node.box_size
    if channels < used:
        raise ValueError(f"data has {channels} channels, but {used} are needed")
    result = data.copy() if node.do_softmax else data[:, :used].copy()
    boxes = result[:, :used].reshape(images, node.boxes, node.box_size, height, width)
    logistic = [slice(0, 2), slice(node.coords, node.coords + 1 if node.do_softmax else None)]
    for part in logistic:
        boxes[:, :, part] = 1 / (1 + np.exp(-boxes[:, :, part]))
    if node.do_softmax:
        scores = boxes[:, :, node.coords + 1 :]
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        boxes[:, :, node.coords + 1 :] = powers / powers.sum(axis=2, keepdims=True)
        result[:, :used] = boxes.reshape(images, used, height, width)
        begin, end = node.axis % 4, node.end_axis % 4
        if begin < end:
            shape = data.shape
            return result.reshape(*shape[:begin], int(np.prod(shape[begin : end + 1])), *shape[end + 1 :])
        return result
    return boxes.reshape(images, used, height, width)


@evaluates(ops.ReorgYolo)
def reorg_yolo(node: ops.ReorgYolo, data: Array) -> Array:
    (batch, channels, height, width), stride = data.shape, node.stride[0]
    blocks = data.reshape(batch, channels // stride**2, height, stride, width, stride)
    moved = blocks.transpose(0, 3, 5, 1, 2, 4)
    return moved.reshape(batch, channels * stride**2, height // stride, width // stride)
