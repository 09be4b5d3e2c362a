"""Operations of Detectron models."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.ops.detection.proposals import LARGEST_GROWTH
from hetero.reference.detection.boxes import candidates, descending_order, labeled, pixel_overlap, suppress
from hetero.reference.detection.proposals import FAR_CORNER, best_first, decode_boxes, per_cell
from hetero.reference.detection.roi import pool_region
from hetero.reference.registry import Array, evaluates

# A box with this side uses the feature map of this level, a box with twice the side the next level.
_COMMON_SIDE, _COMMON_LEVEL = np.float32(224), 2


@evaluates(ops.ExperimentalDetectronPriorGridGenerator, in_f32=True)
def prior_grid_generator(
    node: ops.ExperimentalDetectronPriorGridGenerator, priors: Array, features: Array, image: Array
) -> Array:
    height, width = node.h or features.shape[2], node.w or features.shape[3]
    stride_y, stride_x = node.stride_y or image.shape[2] / height, node.stride_x or image.shape[3] / width
    y, x = np.meshgrid((np.arange(height) + 0.5) * stride_y, (np.arange(width) + 0.5) * stride_x, indexing="ij")
    boxes = np.stack([x, y, x, y], axis=-1).astype(priors.dtype)[:, :, None] + priors
    return boxes.reshape(-1, 4) if node.flatten else boxes


@evaluates(ops.ExperimentalDetectronTopKROIs, in_f32=True)
def topk_rois(node: ops.ExperimentalDetectronTopKROIs, boxes: Array, probabilities: Array) -> Array:
    return _padded(boxes[descending_order(probabilities)], node.max_rois)


def _padded(rows: Array, count: int) -> Array:
    """Return the first ``count`` rows, padded with zeros."""
    result = np.zeros((count, *rows.shape[1:]), rows.dtype)
    result[: len(rows)] = rows[:count]
    return result


@evaluates(ops.ExperimentalDetectronGenerateProposalsSingleImage, in_f32=True)
def generate_proposals_single_image(
    node: ops.ExperimentalDetectronGenerateProposalsSingleImage,
    info: Array,
    anchors: Array,
    deltas: Array,
    scores: Array,
) -> tuple[Array, Array]:
    count, height, width = scores.shape
    boxes = decode_boxes(anchors.reshape(height, width, count, 4), per_cell(deltas, count), 1, LARGEST_GROWTH)
    boxes = (boxes - FAR_CORNER).clip(0, info[[1, 0, 1, 0]] - 1)
    large = (boxes[..., 2:] - boxes[..., :2] + 1 >= node.min_size).all(axis=-1)
    boxes, scores, _ = best_first(boxes, scores.transpose(1, 2, 0) * large, node.pre_nms_count)
    selected = suppress(boxes, np.float32(node.nms_threshold), node.post_nms_count)
    return _padded(boxes[selected], node.post_nms_count), _padded(scores[selected], node.post_nms_count)


@evaluates(ops.ExperimentalDetectronDetectionOutput, in_f32=True)
def detection_output(
    node: ops.ExperimentalDetectronDetectionOutput, boxes: Array, offsets: Array, scores: Array, image: Array
) -> tuple[Array, ...]:
    offsets = offsets.reshape(len(boxes), node.num_classes, 4) / np.array(node.deltas_weights, np.float32)
    height, width = image[0, :2]
    decoded = decode_boxes(boxes[:, None], offsets, 1, np.float32(node.max_delta_log_wh)) - FAR_CORNER
    decoded = decoded.clip(0, [width - 1, height - 1, width - 1, height - 1]).astype(boxes.dtype)
    nonempty = (boxes[:, 2:] > boxes[:, :2]).all(axis=1)
    limit = len(boxes) if node.post_nms_count == -1 else node.post_nms_count
    selected = {}
    for label in range(1, node.num_classes):
        values = scores[:, label]
        best = candidates(values, nonempty & (values > np.float32(node.score_threshold)))
        selected[label] = best[suppress(decoded[best, label], np.float32(node.nms_threshold), limit, pixel_overlap)]
    labels, indices = labeled(selected)
    if len(indices) > node.max_detections_per_image:
        order = np.lexsort((indices, labels, -scores[indices, labels]))
        labels, indices = labels[order], indices[order]
    rows = (decoded[indices, labels], labels, scores[indices, labels])
    return tuple(_padded(array, node.max_detections_per_image) for array in rows)


@evaluates(ops.ExperimentalDetectronROIFeatureExtractor, in_f32=True)
def roi_feature_extractor(
    node: ops.ExperimentalDetectronROIFeatureExtractor, boxes: Array, *maps: Array
) -> tuple[Array, Array]:
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
