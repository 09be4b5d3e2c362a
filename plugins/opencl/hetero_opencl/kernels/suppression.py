"""Non-maximum suppression: the steps that object detection operations have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero.types import Type
from hetero_opencl.kernels.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.sources import element_macros, float_type, source, template
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# Work-items that check together what one box suppresses. On a CPU it is one, as a barrier costs more than they save.
_GROUP = 64
# Sources of the IoU of boxes whose far corner is exclusive, and of boxes of pixels whose far corner is inclusive.
CORNERS, PIXELS = (f"#define INCLUSIVE {border}\n" + template("iou") for border in (0, 1))


class Boxes(NamedTuple):
    """Boxes of the candidates, with strides in boxes. There is one row of candidates per class and batch."""

    buffer: Buffer
    element_type: Type
    classes: int
    batch_step: int
    class_step: int
    box_step: int = 1
    overlap: str = CORNERS

    def steps(self) -> list[np.int32]:
        return [np.int32(number) for number in (self.classes, self.batch_step, self.class_step, self.box_step)]


class Scores(NamedTuple):
    """Scores of the candidates, ``[rows, length]``."""

    buffer: Buffer
    element_type: Type
    rows: int
    length: int

    @property
    def value_type(self) -> Type:
        return float_type(self.element_type)


def suppression_source(boxes: Boxes, scores: Scores) -> str:
    types = element_macros({"BOX": boxes.element_type, "SCORE": scores.element_type})
    return types + boxes.overlap + template("suppression")


def constant_limits(lowering: Lowering, scores_type: Type, overlap: float, score: float) -> Buffer:
    """Return a buffer with the IoU threshold, the score threshold and 0, in the type of computed scores."""
    return lowering.constant(np.array([overlap, score, 0], np.float32).astype(scores_type.to_dtype()))


def sort_by_score(lowering: Lowering, scores: Scores) -> Buffer:
    """Return the indices of each row's scores, sorted in descending order, ties in index order."""
    return argsort(
        lowering, SortKeys(scores.buffer, scores.element_type, scores.rows, scores.length, 1), descending=True
    )


def mark_non_candidates(
    lowering: Lowering,
    boxes: Boxes,
    scores: Scores,
    order: Buffer,
    limits: Buffer,
    max_candidates: int,
    at_least: bool = False,
) -> Buffer:
    """Return a flag for each sorted index after the first ``max_candidates``, or of too low a score.

    A candidate's score is above ``limits[1]``, or with ``at_least`` not below it.
    """
    suppressed = lowering.scratch(scores.rows * scores.length)
    sizes = map(np.int32, (scores.length, max_candidates, at_least))
    arguments = [scores.buffer, order, limits, suppressed, *sizes]
    lowering.launch_flat(
        suppression_source(boxes, scores), "mark_non_candidates", arguments, scores.rows * scores.length
    )
    return suppressed


def suppress(
    lowering: Lowering,
    boxes: Boxes,
    scores: Scores,
    order: Buffer,
    suppressed: Buffer,
    limits: Buffer,
    max_kept: int,
    eta: float = 1.0,
) -> Buffer:
    """Return the indices kept of each row, ``[rows, max_kept]``, in descending order of scores, padded with -1."""
    kept = lowering.scratch(scores.rows * max_kept)
    arguments = [boxes.buffer, order, suppressed, limits, kept, np.int32(scores.length), *boxes.steps()]
    lanes = lanes_per_row(lowering)
    arguments += [np.int32(max_kept), np.float32(eta)]
    lowering.launch(suppression_source(boxes, scores), "suppress", arguments, [scores.rows * lanes], [lanes])
    return kept


def suppress_softly(
    lowering: Lowering, boxes: Boxes, scores: Scores, limits: Buffer, max_kept: int, limited: bool
) -> tuple[Buffer, Buffer]:
    """Soft-NMS: overlapping boxes lower the scores of others. Return the kept indices and their scores, f32."""
    kept, values = (lowering.scratch(scores.rows * max_kept) for _ in range(2))
    waiting, lanes = lowering.scratch(scores.rows * scores.length), lanes_per_row(lowering)
    arguments = [boxes.buffer, scores.buffer, limits, waiting, kept, values, np.int32(scores.length), *boxes.steps()]
    arguments += [np.int32(max_kept), np.int32(limited)]
    lowering.launch(suppression_source(boxes, scores), "suppress_softly", arguments, [scores.rows * lanes], [lanes])
    return kept, values


def gather_scores(lowering: Lowering, boxes: Boxes, scores: Scores, kept: Buffer, max_kept: int) -> Buffer:
    """Return the scores of kept indices, of ``scores.value_type``; -inf for padding."""
    count = scores.rows * max_kept
    values = lowering.scratch(count, scores.value_type.size)
    arguments = [scores.buffer, kept, values, np.int32(scores.length), np.int32(max_kept)]
    lowering.launch_flat(suppression_source(boxes, scores), "gather_scores", arguments, count)
    return values


def take_along_axis(lowering: Lowering, keys: Buffer, kind: Type, order: Buffer, rows: int, length: int) -> Buffer:
    """Return ``keys[row, order[row]]`` for keys ``[rows, length]`` of i32 or floating-point numbers."""
    taken = lowering.scratch(rows * length, kind.size)
    text = source("take_along_axis", {"KEY": kind})
    lowering.launch_flat(text, "take_along_axis", [keys, order, taken, np.int32(length)], rows * length)
    return taken


def kept_flags(lowering: Lowering, boxes: Boxes, scores: Scores, kept: Buffer, count: int) -> Buffer:
    """Return a flag for each index that is not padding."""
    flags = lowering.scratch(count)
    lowering.launch_flat(suppression_source(boxes, scores), "mark_kept", [kept, flags], count)
    return flags


def lanes_per_row(lowering: Lowering) -> int:
    return 1 if lowering.device.is_cpu else _GROUP
