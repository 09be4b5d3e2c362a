"""DetectionOutput and the Detectron operations, which decode priors and keep the best boxes of each class; priors."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, Output
from hetero.ops.detection.detection import CORNER
from hetero.reference.registry import evaluate
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.algorithms import SortKeys, argsort, exclusive_scan, valid_flags
from hetero_opencl.kernels.common.copies import copy_whole, shape_input
from hetero_opencl.kernels.common.definition import ELEMENTS, float_type, lowers, source, template, unsupported_types
from hetero_opencl.kernels.detection.suppression import (
    PIXELS,
    Boxes,
    Scores,
    Suppression,
    constant_limits,
    take_along_axis,
)
from hetero_opencl.lowering.lowering import Argument, Lowering

Counts = tuple[int, int, int]  # of images, priors and classes


@lowers(ops.DetectionOutput, ops.DetectionOutputV1, unsupported=unsupported_types)
def detection_output(lowering: Lowering, node: ops.DetectionOutput) -> None:
    images, priors = node.get_input_shape(0)[0], node.get_input_shape(2)[2] // node.prior_size
    classes = node.get_input_shape(1)[1] // max(priors, 1)
    text, kind = _source(node)
    score_kind = float_type(node.get_input_element_type(1))
    counts = images, priors, classes
    boxes = _decode_boxes(lowering, node, text, kind, counts)
    limits = constant_limits(lowering, score_kind, node.nms_threshold, node.confidence_threshold)
    limit = priors if node.top_k < 0 else min(node.top_k, priors)
    if node.decrease_label_id:
        scores = _best_class_scores(lowering, node, text, boxes, limits, counts)
        limits = constant_limits(lowering, score_kind, node.nms_threshold, -np.inf)
    else:
        scores = _all_scores(lowering, node, text, counts)
    nms, entries = Suppression(lowering, boxes, scores), classes * limit
    kept = nms.suppress(*nms.select(limits, limit), limits, limit)
    values = nms.kept_scores(kept, limit)
    if node.keep_top_k[0] >= 0:
        keys = SortKeys(values, scores.value_type, images, entries, 1)
        flags = _keep_best(lowering, text, kept, keys, node.keep_top_k[0])
    else:
        flags = valid_flags(lowering, kept, images * entries)
    before, total = exclusive_scan(lowering, flags, images * entries)
    rows = node.get_output_shape(0)[2]
    locations = 1 if node.share_location else classes
    sizes = (images * entries, classes, limit, priors, locations, rows, node.clip_after_nms, node.decrease_label_id)
    arguments: list[Argument] = [flags, before, total, kept, values, boxes.buffer, node.output(0), *sizes]
    lowering.launch_flat(text, "write_rows", arguments, max(rows, images * entries))


def _source(node: ops.DetectionOutput) -> tuple[str, Type]:
    """Return the source of the kernels, and the type in which boxes are computed."""
    inputs = [value.element_type for value in node.input_values()]
    offsets, scores, priors, more_scores, more_offsets = [*inputs, *[Type.f32] * (5 - len(inputs))]
    kind = Type.f64 if Type.f64 in (offsets, priors, more_offsets) else Type.f32
    types = {"OFFSET": offsets, "SCORE": scores, "PRIOR": priors, "MORE_SCORE": more_scores}
    types |= {"MORE_OFFSET": more_offsets, "OUT": node.get_output_element_type(0)}
    return source("detection", types, VALUE=ELEMENTS[kind].value), kind


def _decode_boxes(lowering: Lowering, node: ops.DetectionOutput, text: str, kind: Type, counts: Counts) -> Boxes:
    """Decode the boxes of all priors, shared by all classes or one per class."""
    images, priors, classes = counts
    offsets, _, prior_boxes = node.input_values()[:3]
    locations = 1 if node.share_location else classes
    two_steps = node.get_input_size() == 5
    more = node.input_value(4) if two_steps else offsets
    count = images * priors * locations
    buffer = lowering.scratch(count * 4, kind.size)
    width, height = (1, 1) if node.normalized else (node.input_width, node.input_height)
    sizes = (priors, locations, node.prior_size, 1 if node.variance_encoded_in_target else 2, prior_boxes.shape[0])
    arguments: list[Argument] = [prior_boxes, offsets, more, buffer, *sizes]
    arguments += map(kind.to_dtype().type, (width, height))
    arguments += node.code_type == CORNER, node.clip_before_nms, two_steps
    lowering.launch_flat(text, "decode_priors", arguments, count)
    return Boxes(buffer, kind, classes, priors * locations, 0 if node.share_location else 1, locations)


def _all_scores(lowering: Lowering, node: ops.DetectionOutput, text: str, counts: Counts) -> Scores:
    images, priors, classes = counts
    kind = float_type(node.get_input_element_type(1))
    count = images * classes * priors
    scores = lowering.scratch(count, kind.size)
    arguments = [*_scores(node), scores, priors, *_settings(node, classes)]
    lowering.launch_flat(text, "transpose_scores", arguments, count)
    return Scores(scores, kind, images * classes, priors)


def _best_class_scores(
    lowering: Lowering, node: ops.DetectionOutput, text: str, boxes: Boxes, limits: Buffer, counts: Counts
) -> Scores:
    """Return the scores if each prior counts only for its best class, and only the best priors of an image count."""
    images, priors, classes = counts
    kind = float_type(node.get_input_element_type(1))
    count = images * priors
    values, labels = lowering.scratch(count, kind.size), lowering.scratch(count)
    lowering.launch_flat(text, "find_best_class", [*_scores(node), values, labels, *_settings(node, classes)], count)
    best = Scores(values, kind, images, priors)
    max_candidates = priors if node.top_k < 0 else node.top_k
    order, suppressed = Suppression(lowering, boxes, best).select(limits, max_candidates, at_least=True)
    scores = lowering.scratch(count * classes, kind.size)
    lowering.launch_flat(text, "scatter_best", [values, labels, order, suppressed, scores, priors, classes], count)
    return Scores(scores, kind, images * classes, priors)


def _scores(node: ops.DetectionOutput) -> list[Output]:
    return [node.input_value(index if node.get_input_size() == 5 else 1) for index in (1, 3)]


def _settings(node: ops.DetectionOutput, classes: int) -> list[Argument]:
    return [classes, node.background_label_id, np.float32(node.objectness_score), node.get_input_size() == 5]


def _keep_best(lowering: Lowering, text: str, kept: Buffer, scores: SortKeys, limit: int) -> Buffer:
    """Return a flag for each entry that is among the ``limit`` best of its image. Ties: lower priors first."""
    _, kind, images, entries, _ = scores
    count = images * entries
    keys, flags = lowering.scratch(count), lowering.scratch(count)
    lowering.launch_flat(text, "index_keys", [kept, keys], count)
    by_number = argsort(lowering, SortKeys(keys, Type.i32, images, entries, 1))
    taken = take_along_axis(lowering, scores.buffer, kind, by_number, images, entries)
    by_score = argsort(lowering, scores._replace(buffer=taken), descending=True)
    lowering.launch_flat(text, "mark_best", [kept, by_number, by_score, flags, entries, limit], count)
    return flags


@lowers(ops.PriorBox, ops.PriorBoxV1, ops.PriorBoxClustered)
def prior_boxes(lowering: Lowering, node: ops.PriorBoxV1 | ops.PriorBoxClustered) -> None:
    """Upload the boxes that the reference computes, if constant folding has not replaced the node already."""
    (boxes,) = evaluate(node, [shape_input(node, index) for index in range(node.get_input_size())])
    copy_whole(lowering, lowering.constant(boxes), node.output(0), lowering.buffer(node.output(0)))


def _detectron_source(node: Node) -> tuple[str, Type]:
    """Return the source of the kernels, and the type in which they compute."""
    kind = node.get_input_element_type(0)
    value = float_type(kind)
    return source("box_decoding", {"DATA": kind}, VALUE=ELEMENTS[value].value) + template("detectron"), value


@lowers(ops.ExperimentalDetectronDetectionOutput, unsupported=unsupported_types)
def detectron_output(lowering: Lowering, node: ops.ExperimentalDetectronDetectionOutput) -> None:
    boxes_in, offsets, scores, info = node.input_values()
    text, value = _detectron_source(node)
    length, classes, number = node.get_input_shape(0)[0], node.num_classes, value.to_dtype().type
    count, max_kept = length * classes, length if node.post_nms_count == -1 else min(node.post_nms_count, length)
    decoded, transposed = lowering.scratch(count * 4, value.size), lowering.scratch(count, value.size)
    weights = lowering.constant(np.array(node.deltas_weights, np.float32))
    largest = number(np.float32(node.max_delta_log_wh))
    lowering.launch_flat(
        text, "decode_for_classes", [boxes_in, offsets, info, weights, decoded, classes, largest], count
    )
    lowering.launch_flat(text, "transpose_scores", [boxes_in, scores, transposed, classes, length], count)
    boxes = Boxes(decoded, value, classes, 0, 1, classes, PIXELS)
    nms = Suppression(lowering, boxes, Scores(transposed, value, classes, length))
    limits = constant_limits(lowering, value, node.nms_threshold, node.score_threshold)
    kept = nms.suppress(*nms.select(limits, length), limits, max_kept)
    values, entries = nms.kept_scores(kept, max_kept), classes * max_kept
    flags = valid_flags(lowering, kept, entries)
    before, total = exclusive_scan(lowering, flags, entries)
    best = argsort(lowering, SortKeys(values, value, 1, entries, 1), descending=True)
    rows, sizes = node.max_detections_per_image, (classes, max_kept, entries, node.max_detections_per_image)
    buffers = [kept, flags, before, total, best, values, decoded]
    lowering.launch_flat(text, "write_objects", [*buffers, *node.outputs(), *sizes], max(entries, rows))


@lowers(ops.ExperimentalDetectronTopKROIs, unsupported=unsupported_types)
def topk_rois(lowering: Lowering, node: ops.ExperimentalDetectronTopKROIs) -> None:
    boxes, probabilities = node.input_values()
    count = boxes.shape[0]
    elements = SortKeys(lowering.buffer(probabilities), probabilities.element_type, 1, count, 1)
    order = argsort(lowering, elements, node.max_rois, descending=True)
    text, _ = _detectron_source(node)
    lowering.launch_flat(text, "take_boxes", [boxes, order, node.output(0), count], node.max_rois * 4)


@lowers(ops.ExperimentalDetectronPriorGridGenerator, unsupported=unsupported_types)
def prior_grid_generator(lowering: Lowering, node: ops.ExperimentalDetectronPriorGridGenerator) -> None:
    priors, output = node.input_value(0), node.output(0)
    features, image = (node.get_input_shape(index) for index in (1, 2))
    height, width = node.h or features[2], node.w or features[3]
    text, value = _detectron_source(node)
    x, y = (
        lowering.constant(((np.arange(length) + 0.5) * (step or whole / max(length, 1))).astype(value.to_dtype()))
        for length, step, whole in ((width, node.stride_x, image[3]), (height, node.stride_y, image[2]))
    )
    lowering.launch_flat(text, "place_priors", [priors, x, y, output, width, priors.shape[0]], math.prod(output.shape))
