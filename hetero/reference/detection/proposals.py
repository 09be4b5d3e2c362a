"""Boxes decoded from anchors and offsets, filtered by NMS, and the operations of Detectron."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.ops.detection.proposals import LARGEST_GROWTH, anchors_of_cells
from hetero.reference.detection.boxes import (
    Scalar,
    candidates,
    descending_order,
    intersection_over_union,
    labeled,
    pixel_overlap,
    suppress,
)
from hetero.reference.detection.roi import pool_region
from hetero.reference.registry import Array, evaluates

# Moves the far corner of a box [x1, y1, x2, y2] from outside of the box to its last pixel.
FAR_CORNER = np.array([0, 0, 1, 1], np.float32)


def decode_boxes(anchors: Array, offsets: Array, border: float, largest: Scalar = np.inf) -> Array:
    """Return boxes ``[..., 4]``: anchors moved by the first two offsets and scaled by exp of the last two.

    ``border`` is 1 if the far corner is inside the anchor; it is outside of the returned boxes.
    """
    sides = anchors[..., 2:] - anchors[..., :2] + anchors.dtype.type(border)
    center = anchors[..., :2] + sides / 2 + offsets[..., :2] * sides
    half = np.exp(np.minimum(offsets[..., 2:], largest)) * sides / 2
    return np.concatenate([center - half, center + half], axis=-1)


def per_cell(offsets: Array, count: int) -> Array:
    """Rearrange offsets ``[count * 4, height, width]`` to ``[height, width, count, 4]``."""
    return offsets.reshape(count, 4, *offsets.shape[1:]).transpose(2, 3, 0, 1)


def best_first(boxes: Array, scores: Array, limit: int) -> tuple[Array, Array, Array]:
    """Return boxes, scores and indices of the best ``limit`` boxes of all cells, in descending order of score."""
    boxes, scores = boxes.reshape(-1, 4), scores.reshape(-1)
    order = descending_order(scores)[:limit]
    return boxes[order], scores[order], order


@evaluates(ops.Proposal, ops.ProposalV1, in_f32=True)
def proposal(node: ops.Proposal, scores: Array, offsets: Array, image: Array) -> tuple[Array, ...]:
    images, border = len(scores), 0 if node.is_tensorflow else 1
    count = scores.shape[1] // 2
    shape = image[[0, 1, 0, 1] if node.is_tensorflow else [1, 0, 1, 0]]  # upper bounds of x, y, x and y
    anchors = anchors_of_cells(node, *scores.shape[2:])
    if anchors.shape[2] != count:
        raise ValueError(f"there are {anchors.shape[2]} anchors per cell, but {count} scores")
    if node.is_tensorflow:
        anchors = anchors.clip(0, shape)
    scales = np.array([node.box_coordinate_scale] * 2 + [node.box_size_scale] * 2, np.float32)
    smallest = node.min_size * image[[-1, 2]]  # minimum width and height
    rows = np.zeros((images, node.post_nms_topn, 5), scores.dtype)
    values = np.zeros((images, node.post_nms_topn), scores.dtype)
    for index in range(images):
        boxes = decode_boxes(anchors, per_cell(offsets[index], count) / scales, border)
        if node.clip_before_nms:
            boxes = boxes.clip(0, shape - border)
        large = (boxes[..., 2:] - boxes[..., :2] + border >= smallest).all(axis=-1)
        boxes, best, _ = best_first(boxes, scores[index, count:].transpose(1, 2, 0) * large, node.pre_nms_topn)
        overlap = intersection_over_union if node.is_tensorflow else pixel_overlap
        selected = suppress(boxes, np.float32(node.nms_thresh), node.post_nms_topn, overlap)
        boxes = boxes[selected].clip(0, shape) if node.clip_after_nms else boxes[selected]
        rows[index, : len(selected), 0] = index
        rows[index, : len(selected), 1:] = boxes / shape if node.normalize else boxes
        rows[index, len(selected) : len(selected) + 1, 0] = -1
        values[index, : len(selected)] = best[selected]
    return (rows.reshape(-1, 5), values.reshape(-1))[: node.output_size]


@evaluates(ops.GenerateProposals, in_f32=True)
def generate_proposals(
    node: ops.GenerateProposals, image: Array, anchors: Array, offsets: Array, scores: Array
) -> tuple[Array, ...]:
    border = 0 if node.normalized else 1
    all_boxes, all_values = [np.zeros((0, 4), scores.dtype)], [np.zeros(0, scores.dtype)]
    for info, offset, score in zip(image, offsets, scores):
        shape = info[[1, 0, 1, 0]] - border
        boxes = decode_boxes(anchors, per_cell(offset, score.shape[0]), border, LARGEST_GROWTH)
        boxes = (boxes - border * FAR_CORNER).clip(0, shape)
        large = (boxes[..., 2:] - boxes[..., :2] + border >= node.min_size * info[[-1, 2]]).all(axis=-1)
        boxes, values, order = best_first(boxes, score.transpose(1, 2, 0), node.pre_nms_count)
        large = large.reshape(-1)[order]
        boxes, values = boxes[large], values[large]
        overlap = intersection_over_union if node.normalized else pixel_overlap
        threshold = np.float32(node.nms_threshold)
        selected = suppress(boxes, threshold, node.post_nms_count, overlap, node.nms_eta)
        all_boxes.append(boxes[selected])
        all_values.append(values[selected])
    counts = np.array([len(values) for values in all_values[1:]], np.int64)
    return np.concatenate(all_boxes), np.concatenate(all_values), counts


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
