"""Suppression per class: NonMaxSuppression in all versions, NMSRotated, MulticlassNms and MatrixNms."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, constant_array
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.algorithms import (
    SortKeys,
    argsort,
    count_valid,
    exclusive_scan,
    make_dynamic_output,
    valid_flags,
)
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import ELEMENTS, lowers, source, template, unsupported_types
from hetero_opencl.kernels.detection.suppression import (
    CORNERS,
    PIXELS,
    Boxes,
    Scores,
    Suppression,
    constant_limits,
    take_along_axis,
)
from hetero_opencl.lowering.lowering import Lowering

ClassNms = ops.MulticlassNms | ops.MatrixNms
NonMaxSuppression = ops.NonMaxSuppression | ops.NonMaxSuppressionV4 | ops.NonMaxSuppressionV1


@lowers(
    ops.NonMaxSuppression, ops.NonMaxSuppressionV5, ops.NonMaxSuppressionV4, ops.NonMaxSuppressionV3,
    ops.NonMaxSuppressionV1, unsupported=unsupported_types,
)  # fmt: skip
def non_max_suppression(lowering: Lowering, node: NonMaxSuppression) -> None:
    value, centered = node.input_value(0), node.box_encoding == "center"
    batches, count, _ = value.shape
    text, corners = _source(value.element_type, Type.f32), lowering.scratch(batches * count * 4)
    lowering.launch_flat(text, "find_corners", [value, corners, centered], batches * count)
    _suppress(lowering, node, Boxes(corners, Type.f32, node.get_input_shape(1)[1], count, 0))


@lowers(ops.NMSRotated, unsupported=unsupported_types)
def nms_rotated(lowering: Lowering, node: ops.NMSRotated) -> None:
    """Compute in f64 if the device has it, like the reference; it matters for boxes near the threshold."""
    value, classes = node.input_value(0), node.get_input_shape(1)[1]
    real, rounding = ("double", "1e-9f") if lowering.profile.has_doubles else ("float", "1e-6f")
    prelude = ELEMENTS[Type.f64].prelude if lowering.profile.has_doubles else ""
    text = source("rotated_iou", REAL=real, ROUNDING=rounding, TURN=1 if node.clockwise else -1)
    overlap, buffer = prelude + text, lowering.buffer(value)
    _suppress(lowering, node, Boxes(buffer, value.element_type, classes, value.shape[1], 0, overlap=overlap))


def _source(data: Type, limit: Type) -> str:
    return source("nms", {"DATA": data, "LIMIT": limit})


def _suppress(lowering: Lowering, node: NonMaxSuppression | ops.NMSRotated, boxes: Boxes) -> None:
    value = node.input_value(1)
    batches, classes, length = value.shape
    scores = Scores(lowering.buffer(value), value.element_type, batches * classes, length)
    limit = shape_input(node, 2).reshape(-1)[0] if node.get_input_size() > 2 else 0
    max_kept, limits = min(length, max(0, int(limit))), _read_limits(lowering, node, scores)
    nms = Suppression(lowering, boxes, scores)
    sigma = constant_array(node.input_value(5)) if node.get_input_size() > 5 else np.zeros(1)
    if sigma is not None and not sigma.reshape(-1)[0] > 0:
        kept = nms.suppress(*nms.select(limits, length), limits, max_kept)
        values = nms.kept_scores(kept, max_kept)
    else:
        # With sigma, version 5 also removes boxes above the IoU threshold; version 9 only lowers their scores.
        limited = isinstance(node, ops.NonMaxSuppressionV5)
        kept, values = nms.suppress_softly(limits, max_kept, limited)
    _write_kept(lowering, node, scores, (classes, max_kept), kept, values)


def _read_limits(lowering: Lowering, node: Node, scores: Scores) -> Buffer:
    """Return a buffer of IoU threshold, score threshold and sigma, in the type of scores; absent inputs are 0."""
    values, kind = node.input_values()[3:6], scores.value_type
    numbers = [array.reshape(-1)[0] for array in map(constant_array, values) if array is not None]
    if len(numbers) == len(values):
        return lowering.constant(np.array([*numbers, *[0] * (3 - len(numbers))], kind.to_dtype()))
    limits = lowering.scratch(3, kind.size)
    for index, value in enumerate(values):
        lowering.launch_flat(_source(value.element_type, kind), "set_limit", [value, limits, index], 1)
    return limits


def _write_kept(
    lowering: Lowering,
    node: NonMaxSuppression | ops.NMSRotated,
    scores: Scores,
    sizes: tuple[int, int],
    kept: Buffer,
    values: Buffer,
) -> None:
    """Launch the kernels that write the outputs, from the kept indices and their scores.

    ``sizes`` are the number of classes and that of kept indices per row.
    """
    count, places = scores.rows * sizes[1], node.output(0)
    before, total = exclusive_scan(lowering, valid_flags(lowering, kept, count), count)
    order, is_sorted = before, node.sort_result_descending
    if is_sorted:
        order = argsort(lowering, SortKeys(values, scores.value_type, 1, count, 1), descending=True)
    inputs, types = [kept, order, before, total], {"INDEX": places.element_type}
    if node.get_output_size() == 1:
        numbers = (*sizes, math.prod(places.shape) // 3, is_sorted)
        return lowering.launch_flat(source("nms_outputs", types), "write_kept", [*inputs, places, *numbers], count)
    text = source("nms_outputs", types, SCORE="double" if scores.value_type is Type.f64 else "float")
    selected, found_values = (
        make_dynamic_output(lowering, output, [-1, 3], count * 3, total) for output in node.outputs()[:2]
    )
    lowering.launch_flat(text, "write_kept", [*inputs, selected, values, found_values, *sizes, count, is_sorted], count)
    lowering.launch_flat(text, "write_count", [total, node.output(2)], 1)


@lowers(ops.MulticlassNms, ops.MulticlassNmsV8, unsupported=unsupported_types)
def multiclass_nms(lowering: Lowering, node: ops.MulticlassNms) -> None:
    boxes, scores = _boxes_and_scores(lowering, node)
    limits = constant_limits(lowering, scores.value_type, node.iou_threshold, node.score_threshold)
    nms, max_kept = Suppression(lowering, boxes, scores), _max_kept(node, scores)
    kept = nms.suppress(*nms.select(limits, max_kept, at_least=True), limits, max_kept, node.nms_eta)
    _write(lowering, node, boxes, scores, max_kept, kept, nms.kept_scores(kept, max_kept))


@lowers(ops.MatrixNms, unsupported=unsupported_types)
def matrix_nms(lowering: Lowering, node: ops.MatrixNms) -> None:
    boxes, scores = _boxes_and_scores(lowering, node)
    limits = constant_limits(lowering, scores.value_type, 0, node.score_threshold)
    nms, count = Suppression(lowering, boxes, scores), scores.rows * scores.length
    order, suppressed = nms.select(limits, _max_kept(node, scores))
    text = nms.source() + template("matrix_nms")
    largest, kept, values = (lowering.scratch(count) for _ in range(3))
    sizes = [scores.length, boxes.classes]
    lowering.launch_flat(text, "find_largest", [boxes.buffer, order, suppressed, largest, *sizes], count)
    buffers = [boxes.buffer, scores.buffer, order, suppressed, largest, kept, values]
    settings = [node.decay_function == "gaussian", np.float32(node.gaussian_sigma), np.float32(node.post_threshold)]
    lowering.launch_flat(text, "decay_scores", [*buffers, *sizes, *settings], count)
    _write(lowering, node, boxes, scores, scores.length, kept, values)


def _max_kept(node: ClassNms, scores: Scores) -> int:
    return scores.length if node.nms_top_k < 0 else min(node.nms_top_k, scores.length)


def _boxes_and_scores(lowering: Lowering, node: ClassNms) -> tuple[Boxes, Scores]:
    """Return the boxes, and scores with one row per class and batch, NaN where a box is no candidate."""
    boxes, scores = node.input_values()[:2]
    is_flat = len(scores.shape) == 2  # one list of boxes for all batches
    classes, length = scores.shape[-2:]
    batches, bounds = scores.shape[0], lowering.buffer(scores)
    types = {"DATA": scores.element_type, "INDEX": Type.i64}
    if is_flat:
        counts = node.input_value(2)
        batches, types["INDEX"] = counts.shape[0], counts.element_type
        bounds = lowering.scratch(batches + 1)
        lowering.launch_flat(source("class_nms", types), "find_bounds", [counts, bounds, batches, length], 1)
    rows = batches * classes
    masked = lowering.scratch(rows * length)
    sizes = (length, classes, node.background_class, is_flat)
    lowering.launch_flat(source("class_nms", types), "mask_scores", [scores, bounds, masked, *sizes], rows * length)
    steps = (0, length) if is_flat else (length, 0)
    overlap = CORNERS if node.normalized else PIXELS
    candidates = Boxes(lowering.buffer(boxes), boxes.element_type, classes, *steps, overlap=overlap)
    return candidates, Scores(masked, Type.f32, rows, length)


def _write(
    lowering: Lowering, node: ClassNms, boxes: Boxes, scores: Scores, max_kept: int, kept: Buffer, values: Buffer
) -> None:
    """Launch the kernels that write the outputs, from the kept indices ``[rows, max_kept]`` and their scores."""
    rows, numbers, counts = node.outputs()
    batches, entries = scores.rows // max(boxes.classes, 1), boxes.classes * max_kept
    types = {"DATA": rows.element_type, "INDEX": numbers.element_type}
    text = source("class_nms", types)
    order = argsort(lowering, SortKeys(values, Type.f32, batches, entries, 1), descending=True)
    best = entries if node.keep_top_k < 0 else min(node.keep_top_k, entries)
    count = batches * best
    picked = lowering.scratch(count)
    lowering.launch_flat(text, "pick_best", [kept, order, picked, entries, best], count)
    count_valid(lowering, picked, batches, best, counts)
    picked = _sort_result(lowering, node, text, picked, values, (batches, best), (max_kept, boxes.classes))
    before, total = exclusive_scan(lowering, valid_flags(lowering, picked, count), count)
    outputs = [
        make_dynamic_output(lowering, rows, [-1, 6], count * 6, total),
        make_dynamic_output(lowering, numbers, [-1, 1], count, total),
    ]
    sizes = (max_kept, boxes.classes, scores.length, boxes.batch_step == 0)
    lowering.launch_flat(text, "write_picked", [picked, before, kept, values, boxes.buffer, *outputs, *sizes], count)


def _sort_result(
    lowering: Lowering,
    node: ClassNms,
    text: str,
    picked: Buffer,
    values: Buffer,
    shape: tuple[int, int],
    sizes: tuple[int, int],
) -> Buffer:
    """Return the picked boxes in the order of ``sort_result_type``."""
    across, batches, best = node.sort_result_across_batch, *shape
    # Within a batch they are sorted by score already.
    if node.sort_result_type == "none" or (node.sort_result_type == "score" and not across):
        return picked
    scores, labels = (lowering.scratch(batches * best) for _ in range(2))
    lowering.launch_flat(text, "find_keys", [picked, values, scores, labels, *sizes], batches * best)
    rows, length = (1, batches * best) if across else (batches, best)
    if node.sort_result_type == "score":
        order = argsort(lowering, SortKeys(scores, Type.f32, rows, length, 1), descending=True)
    else:
        order = argsort(lowering, SortKeys(labels, Type.i32, rows, length, 1))
    return take_along_axis(lowering, picked, Type.i32, order, rows, length)
