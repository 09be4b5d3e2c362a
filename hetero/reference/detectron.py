"""Operations of Detectron models."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.proposals import LARGEST_GROWTH
from hetero.reference.boxes import descending_order, intersection_over_union, pixel_overlap, suppress
from hetero.reference.proposals import best_first, decode_boxes, per_cell
from hetero.reference.registry import compute_in_f32, evaluates
from hetero.reference.roi import pool_region

# A box with this side uses the feature map of this level, a box with twice the side the next level.
_COMMON_SIDE, _COMMON_LEVEL = np.float32(224), 2


@evaluates(ops.ExperimentalDetectronPriorGridGenerator)
@compute_in_f32
def prior_grid_generator(node: Node, priors: np.ndarray, features: np.ndarray, image: np.ndarray) -> np.ndarray:
    height, width = node.h or features.shape[2], node.w or features.shape[3]
    stride_y, stride_x = node.stride_y or image.shape[2] / height, node.stride_x or image.shape[3] / width
    y, x = np.meshgrid((np.arange(height) + 0.5) * stride_y, (np.arange(width) + 0.5) * stride_x, indexing="ij")
    boxes = np.stack([x, y, x, y], axis=-1).astype(priors.dtype)[:, :, None] + priors
    return boxes.reshape(-1, 4) if node.flatten else boxes


@evaluates(ops.ExperimentalDetectronTopKROIs)
@compute_in_f32
def topk_rois(node: Node, boxes: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    return _padded(boxes[descending_order(probabilities)], node.max_rois)


def _padded(rows: np.ndarray, count: int) -> np.ndarray:
    """Return the first ``count`` rows, padded with zeros."""
    result = np.zeros((count, *rows.shape[1:]), rows.dtype)
    result[: len(rows)] = rows[:count]
    return result


@evaluates(ops.ExperimentalDetectronGenerateProposalsSingleImage)
@compute_in_f32
def generate_proposals_single_image(node: Node, image, anchors, offsets, scores) -> tuple[np.ndarray, np.ndarray]:
    count, height, width = scores.shape
    boxes = decode_boxes(anchors.reshape(height, width, count, 4), per_cell(offsets, count), 1, LARGEST_GROWTH)
    boxes = (boxes - np.float32([0, 0, 1, 1])).clip(0, image[[1, 0, 1, 0]] - 1)
    large = (boxes[..., 2:] - boxes[..., :2] + 1 >= node.min_size).all(axis=-1)
    boxes, scores, _ = best_first(boxes, scores.transpose(1, 2, 0) * large, node.pre_nms_count)
    selected = suppress(boxes, np.float32(node.nms_threshold), node.post_nms_count, intersection_over_union)
    return _padded(boxes[selected], node.post_nms_count), _padded(scores[selected], node.post_nms_count)


@evaluates(ops.ExperimentalDetectronDetectionOutput)
@compute_in_f32
def detection_output(node: Node, boxes, offsets, scores, image) -> tuple[np.ndarray, ...]:
    offsets = offsets.reshape(len(boxes), node.num_classes, 4) / np.float32(node.deltas_weights)
    height, width = image[0, :2]
    decoded = decode_boxes(boxes[:, None], offsets, 1, np.float32(node.max_delta_log_wh)) - np.float32([0, 0, 1, 1])
    decoded = decoded.clip(0, [width - 1, height - 1, width - 1, height - 1]).astype(boxes.dtype)
    nonempty = (boxes[:, 2:] > boxes[:, :2]).all(axis=1)
    labels, indices = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for label in range(1, node.num_classes):
        candidates = np.flatnonzero(nonempty & (scores[:, label] > np.float32(node.score_threshold)))
        candidates = candidates[descending_order(scores[candidates, label])]
        limit = len(boxes) if node.post_nms_count == -1 else node.post_nms_count
        selected = suppress(decoded[candidates, label], np.float32(node.nms_threshold), limit, pixel_overlap)
        indices.append(candidates[selected])
        labels.append(np.full(len(selected), label))
    labels, indices = np.concatenate(labels), np.concatenate(indices)
    if len(indices) > node.max_detections_per_image:
        best = np.lexsort((indices, labels, -scores[indices, labels]))
        labels, indices = labels[best], indices[best]
    rows = (decoded[indices, labels], labels, scores[indices, labels])
    return tuple(_padded(array, node.max_detections_per_image) for array in rows)


@evaluates(ops.ExperimentalDetectronROIFeatureExtractor)
@compute_in_f32
def roi_feature_extractor(node: Node, boxes: np.ndarray, *maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    result = np.zeros((len(boxes), maps[0].shape[1], node.pooled_size, node.pooled_size), boxes.dtype)
    sides = boxes[:, 2:] - boxes[:, :2]
    area = sides[:, 0] * sides[:, 1]
    level = np.log2(np.sqrt(np.maximum(area, 0)) / _COMMON_SIDE + np.float32(1e-6))
    level = np.clip(np.floor(level + _COMMON_LEVEL), 0, len(maps) - 1).astype(np.int64)
    for index in np.flatnonzero(area > 0):
        features, scale = maps[level[index]][0], np.float32(1 / node.pyramid_scales[level[index]])
        corner = boxes[index, :2] * scale - np.float32(0.5 if node.aligned else 0)
        pool_region(features, corner, np.maximum(sides[index] * scale, 1), node.sampling_ratio, "avg", result[index])
    return result, boxes
