"""Proposal and GenerateProposals: boxes decoded from anchors and offsets, filtered by NMS."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.ops.detection.proposals import LARGEST_GROWTH, anchors_of_cells
from hetero.reference.detection.boxes import Scalar, descending_order, intersection_over_union, pixel_overlap, suppress
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
) -> tuple:
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
