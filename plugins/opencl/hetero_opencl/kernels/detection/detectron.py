"""ExperimentalDetectron operations: DetectionOutput, TopKROIs and PriorGridGenerator."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero_opencl.kernels.common.registry import lowers
from hetero_opencl.kernels.common.sources import ELEMENTS, float_type, source, template, unsupported_types
from hetero_opencl.kernels.detection.suppression import PIXELS, Boxes, Scores, Suppression, constant_limits
from hetero_opencl.kernels.reduction.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.reduction.scan import exclusive_scan, valid_flags
from hetero_opencl.lowering.lowering import Lowering


def _source(node: Node) -> tuple[str, Type]:
    """Return the source of the kernels, and the type in which they compute."""
    kind = node.get_input_element_type(0)
    value = float_type(kind)
    return source("box_decoding", {"DATA": kind}, VALUE=ELEMENTS[value].value) + template("detectron"), value


@lowers(ops.ExperimentalDetectronDetectionOutput, unsupported=unsupported_types)
def detection_output(lowering: Lowering, node: ops.ExperimentalDetectronDetectionOutput) -> None:
    boxes_in, offsets, scores, info = node.input_values()
    text, value = _source(node)
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
    lowering.launch_flat(_source(node)[0], "take_boxes", [boxes, order, node.output(0), count], node.max_rois * 4)


@lowers(ops.ExperimentalDetectronPriorGridGenerator, unsupported=unsupported_types)
def prior_grid_generator(lowering: Lowering, node: ops.ExperimentalDetectronPriorGridGenerator) -> None:
    priors, output = node.input_value(0), node.output(0)
    features, image = (node.get_input_shape(index) for index in (1, 2))
    height, width = node.h or features[2], node.w or features[3]
    text, value = _source(node)
    x, y = (
        lowering.constant(((np.arange(length) + 0.5) * (step or whole / max(length, 1))).astype(value.to_dtype()))
        for length, step, whole in ((width, node.stride_x, image[3]), (height, node.stride_y, image[2]))
    )
    lowering.launch_flat(text, "place_priors", [priors, x, y, output, width, priors.shape[0]], math.prod(output.shape))
