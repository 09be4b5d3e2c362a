"""Proposal, GenerateProposals and Detectron's for one image: anchors moved by offsets, of which the best are kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero import ops
from hetero.errors import UnsupportedOperationError
from hetero.graph import Node, Output
from hetero.reference.proposals import LARGEST_GROWTH, anchors_of_cells
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.scan import exclusive_scan, make_dynamic_output
from hetero_opencl.kernels.sources import ELEMENTS, element_macros, template, unsupported_types
from hetero_opencl.kernels.suppression import (
    CORNERS,
    PIXELS,
    Boxes,
    Scores,
    constant_limits,
    kept_flags,
    mark_non_candidates,
    sort_by_score,
    suppress,
)
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


class _Way(NamedTuple):
    """How anchors become boxes, as the kernel move_anchors has it."""

    first_score: int = 0
    swapped: bool = False
    clips: bool = True
    zeroed: bool = True
    scaled: bool = True
    position_scale: float = 1
    side_scale: float = 1
    border: float = 0
    shift: float = 0
    margin: float = 0
    largest: float = float(LARGEST_GROWTH)
    smallest: float = 0


class _Proposed(NamedTuple):
    """The boxes of all anchors, which of them are large enough, and the text and value type of the kernels."""

    boxes: Boxes
    scores: Scores
    large: Buffer
    text: str


@lowers(ops.Proposal, ops.ProposalV1, unless=unsupported_types)
def proposal(lowering: Lowering, node: Node) -> None:
    scores, offsets, image = node.input_values()
    count, swapped, border = scores.shape[1] // 2, node.is_tensorflow, 0 if node.is_tensorflow else 1
    anchors = anchors_of_cells(node, *scores.shape[2:])
    if anchors.shape[2] != count:
        raise UnsupportedOperationError(
            f"Proposal '{lowering.name}' has {anchors.shape[2]} ratios and scales, but {count} scores of a cell"
        )
    way = _Way(
        count, swapped, node.clip_before_nms, True, True, node.box_coordinate_scale, node.box_size_scale,
        border, 0, border, np.inf, node.min_size,
    )  # fmt: skip
    found = _propose(
        lowering, node, (lowering.constant(anchors), Type.f32), offsets, scores, image, way,
        CORNERS if swapped else PIXELS,
    )  # fmt: skip
    kept, most = _keep(lowering, found, node.nms_thresh, node.pre_nms_topn, node.post_nms_topn), node.post_nms_topn
    arguments = [kept, found.boxes.buffer, found.scores.buffer, *map(lowering.buffer, (image, *node.outputs()))]
    sizes = (found.scores.length, most, swapped, node.clip_after_nms, node.normalize)
    lowering.launch_flat(found.text, "write_regions", [*arguments, *map(np.int32, sizes)], found.scores.rows * most)


@lowers(ops.GenerateProposals, unless=unsupported_types)
def generate_proposals(lowering: Lowering, node: Node) -> None:
    image, anchors, offsets, scores = node.input_values()
    border = 0 if node.normalized else 1
    way = _Way(zeroed=False, border=border, shift=border, margin=border, smallest=node.min_size)
    found = _propose(
        lowering, node, (lowering.buffer(anchors), anchors.element_type), offsets, scores, image, way,
        CORNERS if node.normalized else PIXELS,
    )  # fmt: skip
    most = node.post_nms_count
    kept = _keep(lowering, found, node.nms_threshold, node.pre_nms_count, most, only_large=True, eta=node.nms_eta)
    count = found.scores.rows * most
    before, total = exclusive_scan(lowering, kept_flags(lowering, found.boxes, found.scores, kept, count), count)
    rows, values, counts = node.outputs()
    results = [
        make_dynamic_output(lowering, rows, [-1, 4], count * 4, total),
        make_dynamic_output(lowering, values, [-1], count, total),
    ]
    sizes = map(np.int32, (found.scores.length, most, False))
    arguments = [kept, before, found.boxes.buffer, found.scores.buffer, *results, *sizes]
    lowering.launch_flat(found.text, "write_boxes", arguments, count)
    lowering.launch_flat(found.text, "count_kept", [kept, lowering.buffer(counts), np.int32(most)], found.scores.rows)


@lowers(ops.ExperimentalDetectronGenerateProposalsSingleImage, unless=unsupported_types)
def generate_proposals_single_image(lowering: Lowering, node: Node) -> None:
    image, anchors, offsets, scores = node.input_values()
    way = _Way(scaled=False, border=1, shift=1, margin=1, smallest=node.min_size)
    found = _propose(
        lowering, node, (lowering.buffer(anchors), anchors.element_type), offsets, scores, image, way, CORNERS
    )
    most = node.post_nms_count
    kept = _keep(lowering, found, node.nms_threshold, node.pre_nms_count, most)
    results, sizes = map(lowering.buffer, node.outputs()), map(np.int32, (found.scores.length, most, True))
    arguments = [kept, kept, found.boxes.buffer, found.scores.buffer, *results, *sizes]
    lowering.launch_flat(found.text, "write_boxes", arguments, most)


def _propose(
    lowering: Lowering,
    node: Node,
    anchors: tuple[Buffer, Type],
    offsets: Output,
    scores: Output,
    image: Output,
    way: _Way,
    overlap: str,
) -> _Proposed:
    """Launch what moves the anchors of all images, or of one."""
    images = scores.shape[0] if len(scores.shape) == 4 else 1
    channels, height, width = scores.shape[-3:]
    count, cells = channels - way.first_score, height * width
    kinds = {"ANCHOR": anchors[1], "OFFSET": offsets.element_type, "INFO": image.element_type}
    value = Type.f64 if Type.f64 in kinds.values() else Type.f32
    kinds |= {"SCORE": scores.element_type, "OUT": node.get_output_element_type(0)}
    if node.get_output_size() == 3:
        kinds["COUNT"] = node.get_output_element_type(2)
    macros = f"#define VALUE {ELEMENTS[value].value}\n#define HAS_SCORES {int(node.get_output_size() == 2)}\n"
    text = element_macros(kinds) + macros + template("box_decoding") + template("proposals")
    score_value = Type.f64 if scores.element_type is Type.f64 else Type.f32
    length = cells * count
    found, large = lowering.scratch(images * length, score_value.size), lowering.scratch(images * length)
    boxes = lowering.scratch(images * length * 4, value.size)
    image_step = image.shape[-1] if len(image.shape) == 2 else 0
    sizes = [cells, count, channels, way.first_score, image_step, image.shape[-1], *way[1:5]]
    numbers = map(value.to_dtype().type, way[5:])
    arguments = [anchors[0], *map(lowering.buffer, (offsets, scores, image)), boxes, found, large]
    lowering.launch_flat(text, "move_anchors", [*arguments, *map(np.int32, sizes), *numbers], images * length)
    return _Proposed(
        Boxes(boxes, value, 1, length, 0, overlap=overlap), Scores(found, score_value, images, length), large, text
    )


def _keep(
    lowering: Lowering,
    found: _Proposed,
    threshold: float,
    looked_at: int,
    most: int,
    only_large: bool = False,
    eta: float = 1.0,
) -> Buffer:
    """The numbers of the boxes kept of the best that are looked at: [images, most]."""
    boxes, scores, large, text = found
    limits = constant_limits(lowering, scores.value_type, threshold, -math.inf)
    order = sort_by_score(lowering, scores)
    gone = mark_non_candidates(lowering, boxes, scores, order, limits, looked_at, at_least=True)
    if only_large:
        arguments = [order, large, gone, np.int32(scores.length)]
        lowering.launch_flat(text, "mark_small", arguments, scores.rows * scores.length)
    return suppress(lowering, boxes, scores, order, gone, limits, most, eta)
