"""MulticlassNms and MatrixNms: suppression per class; the best boxes of each batch are kept."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero_opencl.kernels.common.registry import lowers
from hetero_opencl.kernels.common.sources import source, template, unsupported_types
from hetero_opencl.kernels.detection.suppression import (
    CORNERS,
    PIXELS,
    Boxes,
    Scores,
    Suppression,
    constant_limits,
    take_along_axis,
)
from hetero_opencl.kernels.reduction.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.reduction.scan import count_valid, exclusive_scan, make_dynamic_output, valid_flags
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.lowering.program import Buffer

ClassNms = ops.MulticlassNms | ops.MatrixNms


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
