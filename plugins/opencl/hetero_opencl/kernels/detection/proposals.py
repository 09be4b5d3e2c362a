"""Proposal, GenerateProposals and its Detectron variant: decode anchors, keep the best boxes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, Output
from hetero.ops.detection.proposals import LARGEST_GROWTH, anchors_of_cells
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.algorithms import count_valid, exclusive_scan, make_dynamic_output, valid_flags
from hetero_opencl.kernels.common.definition import ELEMENTS, float_type, lowers, source, template, unsupported_types
from hetero_opencl.kernels.detection.suppression import CORNERS, PIXELS, Boxes, Scores, Suppression, constant_limits
from hetero_opencl.lowering.lowering import Argument, Lowering


class _Settings(NamedTuple):
    """Settings of the decoding of anchors: arguments of the kernel decode_anchors, in order."""

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


class _Candidates(NamedTuple):
    """Decoded boxes of all anchors, a flag for those that are large enough, and the source of the kernels."""

    boxes: Boxes
    scores: Scores
    large: Buffer
    text: str


@lowers(ops.Proposal, ops.ProposalV1, unsupported=unsupported_types)
def proposal(lowering: Lowering, node: ops.Proposal) -> None:
    scores, offsets, image = node.input_values()
    count, swapped, border = scores.shape[1] // 2, node.is_tensorflow, 0 if node.is_tensorflow else 1
    anchors = anchors_of_cells(node, *scores.shape[2:])
    if anchors.shape[2] != count:
        raise UnsupportedOperationError(
            f"Proposal '{lowering.name}' needs one score per anchor, but a cell has {anchors.shape[2]} anchors and "
            f"{count} scores"
        )
    settings = _Settings(
        count, swapped, node.clip_before_nms, True, True, node.box_coordinate_scale, node.box_size_scale,
        border, 0, border, np.inf, node.min_size,
    )  # fmt: skip
    decoded = _decode(
        lowering, node, (lowering.constant(anchors), Type.f32), offsets, scores, image, settings,
        CORNERS if swapped else PIXELS,
    )  # fmt: skip
    max_kept = node.post_nms_topn
    kept, count = _keep(lowering, decoded, node.nms_thresh, node.pre_nms_topn, max_kept), decoded.scores.rows * max_kept
    buffers = [kept, decoded.boxes.buffer, decoded.scores.buffer]
    sizes = (decoded.scores.length, max_kept, swapped, node.clip_after_nms, node.normalize)
    lowering.launch_flat(decoded.text, "write_regions", [*buffers, image, *node.outputs(), *sizes], count)


@lowers(ops.GenerateProposals, unsupported=unsupported_types)
def generate_proposals(lowering: Lowering, node: ops.GenerateProposals) -> None:
    image, anchors, offsets, scores = node.input_values()
    border = 0 if node.normalized else 1
    settings = _Settings(zeroed=False, border=border, shift=border, margin=border, smallest=node.min_size)
    decoded = _decode(
        lowering, node, (lowering.buffer(anchors), anchors.element_type), offsets, scores, image, settings,
        CORNERS if node.normalized else PIXELS,
    )  # fmt: skip
    max_kept = node.post_nms_count
    kept = _keep(lowering, decoded, node.nms_threshold, node.pre_nms_count, max_kept, only_large=True, eta=node.nms_eta)
    count = decoded.scores.rows * max_kept
    before, total = exclusive_scan(lowering, valid_flags(lowering, kept, count), count)
    rows, values, counts = node.outputs()
    results = [
        make_dynamic_output(lowering, rows, [-1, 4], count * 4, total),
        make_dynamic_output(lowering, values, [-1], count, total),
    ]
    buffers = [kept, before, decoded.boxes.buffer, decoded.scores.buffer, *results]
    lowering.launch_flat(decoded.text, "write_boxes", [*buffers, decoded.scores.length, max_kept, False], count)
    count_valid(lowering, kept, decoded.scores.rows, max_kept, counts)


@lowers(ops.ExperimentalDetectronGenerateProposalsSingleImage, unsupported=unsupported_types)
def generate_proposals_single_image(
    lowering: Lowering, node: ops.ExperimentalDetectronGenerateProposalsSingleImage
) -> None:
    image, anchors, offsets, scores = node.input_values()
    settings = _Settings(scaled=False, border=1, shift=1, margin=1, smallest=node.min_size)
    decoded = _decode(
        lowering, node, (lowering.buffer(anchors), anchors.element_type), offsets, scores, image, settings, CORNERS
    )
    max_kept = node.post_nms_count
    kept = _keep(lowering, decoded, node.nms_threshold, node.pre_nms_count, max_kept)
    buffers, sizes = [kept, kept, decoded.boxes.buffer, decoded.scores.buffer], (decoded.scores.length, max_kept, True)
    lowering.launch_flat(decoded.text, "write_boxes", [*buffers, *node.outputs(), *sizes], max_kept)


def _decode(
    lowering: Lowering,
    node: Node,
    anchors: tuple[Buffer, Type],
    offsets: Output,
    scores: Output,
    image: Output,
    settings: _Settings,
    overlap: str,
) -> _Candidates:
    """Launch the decoding of the anchors of all images."""
    images = scores.shape[0] if len(scores.shape) == 4 else 1
    channels, height, width = scores.shape[-3:]
    count, cells = channels - settings.first_score, height * width
    types = {"ANCHOR": anchors[1], "OFFSET": offsets.element_type, "INFO": image.element_type}
    value = Type.f64 if Type.f64 in types.values() else Type.f32
    types |= {"SCORE": scores.element_type, "OUT": node.get_output_element_type(0)}
    macros = {"VALUE": ELEMENTS[value].value, "HAS_SCORES": int(node.get_output_size() == 2)}
    text = source("box_decoding", types, **macros) + template("proposals")
    score_value = float_type(scores.element_type)
    length = cells * count
    out_scores, large = lowering.scratch(images * length, score_value.size), lowering.scratch(images * length)
    boxes = lowering.scratch(images * length * 4, value.size)
    image_step = image.shape[-1] if len(image.shape) == 2 else 0
    sizes = [cells, count, channels, settings.first_score, image_step, image.shape[-1], *settings[1:5]]
    arguments: list[Argument] = [anchors[0], offsets, scores, image, boxes, out_scores, large, *sizes]
    arguments += map(value.to_dtype().type, settings[5:])
    lowering.launch_flat(text, "decode_anchors", arguments, images * length)
    return _Candidates(
        Boxes(boxes, value, 1, length, 0, overlap=overlap), Scores(out_scores, score_value, images, length), large, text
    )


def _keep(
    lowering: Lowering,
    decoded: _Candidates,
    threshold: float,
    candidate_count: int,
    max_kept: int,
    only_large: bool = False,
    eta: float = 1.0,
) -> Buffer:
    """Return the indices kept of the best ``candidate_count`` boxes of each image, ``[images, max_kept]``."""
    boxes, scores, large, text = decoded
    limits = constant_limits(lowering, scores.value_type, threshold, -math.inf)
    nms = Suppression(lowering, boxes, scores)
    order, suppressed = nms.select(limits, candidate_count, at_least=True)
    if only_large:
        lowering.launch_flat(text, "mark_small", [order, large, suppressed, scores.length], scores.rows * scores.length)
    return nms.suppress(order, suppressed, limits, max_kept, eta)
