"""DetectionOutput: priors moved by offsets, of which the best of each class are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.detection import CORNER
from hetero.types import Type
from hetero_opencl.kernels.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.scan import exclusive_scan
from hetero_opencl.kernels.sources import ELEMENTS, source, unsupported_types
from hetero_opencl.kernels.suppression import (
    Boxes,
    Scores,
    constant_limits,
    gather_scores,
    kept_flags,
    mark_non_candidates,
    sort_by_score,
    suppress,
    take_along_axis,
)
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


@lowers(ops.DetectionOutput, ops.DetectionOutputV1, unless=unsupported_types)
def detection_output(lowering: Lowering, node: Node) -> None:
    images, priors = node.get_input_shape(0)[0], node.get_input_shape(2)[2] // node.prior_size
    classes = node.get_input_shape(1)[1] // max(priors, 1)
    text, kind = _source(node)
    score_kind = Type.f64 if node.get_input_element_type(1) is Type.f64 else Type.f32
    boxes = _moved(lowering, node, text, kind, images, priors, classes)
    limits = constant_limits(lowering, score_kind, node.nms_threshold, node.confidence_threshold)
    limit = priors if node.top_k < 0 else min(node.top_k, priors)
    if node.decrease_label_id:
        scores = _of_best_classes(lowering, node, text, boxes, limits, images, priors, classes)
        limits = constant_limits(lowering, score_kind, node.nms_threshold, -np.inf)
    else:
        scores = _of_all_classes(lowering, node, text, images, priors, classes)
    order = sort_by_score(lowering, scores)
    gone = mark_non_candidates(lowering, boxes, scores, order, limits, limit)
    kept = suppress(lowering, boxes, scores, order, gone, limits, limit)
    values, entries = gather_scores(lowering, boxes, scores, kept, limit), classes * limit
    if node.keep_top_k[0] >= 0:
        flags = _best_of_images(lowering, node, text, kept, (values, scores.value_type), images, entries)
    else:
        flags = kept_flags(lowering, boxes, scores, kept, images * entries)
    before, total = exclusive_scan(lowering, flags, images * entries)
    rows = node.get_output_shape(0)[2]
    locations = 1 if node.share_location else classes
    sizes = (images * entries, classes, limit, priors, locations, rows, node.clip_after_nms, node.decrease_label_id)
    arguments = [flags, before, total, kept, values, boxes.buffer, lowering.buffer(node.output(0))]
    lowering.launch_flat(text, "write_rows", [*arguments, *map(np.int32, sizes)], max(rows, images * entries))


def _source(node: Node) -> tuple[str, Type]:
    """The text for a node, and the type that boxes are computed in."""
    inputs = [value.element_type for value in node.input_values()]
    offsets, scores, priors, more_scores, more_offsets = [*inputs, *[Type.f32] * (5 - len(inputs))]
    kind = Type.f64 if Type.f64 in (offsets, priors, more_offsets) else Type.f32
    types = {"OFFSET": offsets, "SCORE": scores, "PRIOR": priors, "MORE_SCORE": more_scores}
    types |= {"MORE_OFFSET": more_offsets, "OUT": node.get_output_element_type(0)}
    return source("detection", types, VALUE=ELEMENTS[kind].value), kind


def _moved(lowering: Lowering, node: Node, text: str, kind: Type, images: int, priors: int, classes: int) -> Boxes:
    """The boxes of all priors, for all classes together or for each."""
    offsets, _, given = node.input_values()[:3]
    locations = 1 if node.share_location else classes
    two_steps = node.get_input_size() == 5
    more = node.input_value(4) if two_steps else offsets
    count = images * priors * locations
    buffer = lowering.scratch(count * 4, kind.size)
    width, height = (1, 1) if node.normalized else (node.input_width, node.input_height)
    sizes = (priors, locations, node.prior_size, 1 if node.variance_encoded_in_target else 2, given.shape[0])
    arguments = [*map(lowering.buffer, (given, offsets, more)), buffer, *map(np.int32, sizes)]
    arguments += map(kind.to_dtype().type, (width, height))
    arguments += map(np.int32, (node.code_type == CORNER, node.clip_before_nms, two_steps))
    lowering.launch_flat(text, "move_priors", arguments, count)
    return Boxes(buffer, kind, classes, priors * locations, 0 if node.share_location else 1, locations)


def _of_all_classes(lowering: Lowering, node: Node, text: str, images: int, priors: int, classes: int) -> Scores:
    given = node.input_value(1)
    kind = Type.f64 if given.element_type is Type.f64 else Type.f32
    count = images * classes * priors
    scores = lowering.scratch(count, kind.size)
    arguments = [*_scores(lowering, node), scores, np.int32(priors), *_settings(node, classes)]
    lowering.launch_flat(text, "turn_scores", arguments, count)
    return Scores(scores, kind, images * classes, priors)


def _of_best_classes(
    lowering: Lowering, node: Node, text: str, boxes: Boxes, limits: Buffer, images: int, priors: int, classes: int
) -> Scores:
    """The scores where each prior is of its best class, and only the best priors of an image count."""
    kind = Type.f64 if node.get_input_element_type(1) is Type.f64 else Type.f32
    count = images * priors
    values, kinds = lowering.scratch(count, kind.size), lowering.scratch(count)
    arguments = [*_scores(lowering, node), values, kinds, *_settings(node, classes)]
    lowering.launch_flat(text, "find_best_class", arguments, count)
    best = Scores(values, kind, images, priors)
    order = sort_by_score(lowering, best)
    most = priors if node.top_k < 0 else node.top_k
    gone = mark_non_candidates(lowering, boxes, best, order, limits, most, at_least=True)
    scores = lowering.scratch(count * classes, kind.size)
    arguments = [values, kinds, order, gone, scores, np.int32(priors), np.int32(classes)]
    lowering.launch_flat(text, "spread_best", arguments, count)
    return Scores(scores, kind, images * classes, priors)


def _scores(lowering: Lowering, node: Node) -> list[Buffer]:
    return [lowering.buffer(node.input_value(index if node.get_input_size() == 5 else 1)) for index in (1, 3)]


def _settings(node: Node, classes: int) -> list[np.generic]:
    two_steps = np.int32(node.get_input_size() == 5)
    return [np.int32(classes), np.int32(node.background_label_id), np.float32(node.objectness_score), two_steps]


def _best_of_images(
    lowering: Lowering,
    node: Node,
    text: str,
    kept: Buffer,
    values: tuple[Buffer, Type],
    images: int,
    entries: int,
) -> Buffer:
    """A flag for each entry kept that is among the best of its image: of equal scores those of the first priors."""
    count, (scores, kind) = images * entries, values
    keys, flags = lowering.scratch(count), lowering.scratch(count)
    lowering.launch_flat(text, "number_keys", [kept, keys], count)
    by_number = argsort(lowering, SortKeys(keys, Type.i32, images, entries, 1))
    taken = take_along_axis(lowering, scores, kind, by_number, images, entries)
    by_score = argsort(lowering, SortKeys(taken, kind, images, entries, 1), descending=True)
    sizes = [np.int32(entries), np.int32(node.keep_top_k[0])]
    lowering.launch_flat(text, "mark_best", [kept, by_number, by_score, flags, *sizes], count)
    return flags
