"""NonMaxSuppression in all versions, and NMSRotated: suppression per class, then the outputs of all classes."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, constant_array
from hetero_opencl.kernels.common.registry import lowers
from hetero_opencl.kernels.common.sources import ELEMENTS, source, unsupported_types
from hetero_opencl.kernels.detection.suppression import Boxes, Scores, Suppression
from hetero_opencl.kernels.movement.movement import shape_input
from hetero_opencl.kernels.reduction.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.reduction.scan import exclusive_scan, make_dynamic_output, valid_flags
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.lowering.program import Buffer

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
    real, rounding = ("double", "1e-9f") if lowering.device.has_doubles else ("float", "1e-6f")
    prelude = ELEMENTS[Type.f64].prelude if lowering.device.has_doubles else ""
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
    found, found_values = (
        make_dynamic_output(lowering, output, [-1, 3], count * 3, total) for output in node.outputs()[:2]
    )
    lowering.launch_flat(text, "write_kept", [*inputs, found, values, found_values, *sizes, count, is_sorted], count)
    lowering.launch_flat(text, "write_count", [total, node.output(2)], 1)
