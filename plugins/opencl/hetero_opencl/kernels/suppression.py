"""Suppression of boxes by better ones that they overlap: what operations that find objects have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero.types import Type
from hetero_opencl.kernels.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.sources import element_macros, source, template
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# Work-items that look together for what one box suppresses; on a CPU a barrier costs more than they save.
_LANES = 64
# The texts of how boxes overlap that are corners, or pixels that belong to them.
CORNERS, PIXELS = (f"#define OVERLAP {border}\n" + template("iou") for border in (0, 1))


class Boxes(NamedTuple):
    """Boxes of rows of candidates, one row for each class of each batch: steps between them are counted in boxes."""

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
    """The scores of candidates ``[rows, length]``."""

    buffer: Buffer
    element_type: Type
    rows: int
    length: int

    @property
    def value_type(self) -> Type:
        return Type.f64 if self.element_type is Type.f64 else Type.f32


def suppression_source(boxes: Boxes, scores: Scores) -> str:
    types = element_macros({"BOX": boxes.element_type, "SCORE": scores.element_type})
    return types + boxes.overlap + template("suppression")


def constant_limits(lowering: Lowering, scores_type: Type, overlap: float, score: float) -> Buffer:
    """The limits of overlap and score, numbers of 32 bits, in the type that scores are computed in."""
    return lowering.constant(np.array([overlap, score, 0], np.float32).astype(scores_type.to_dtype()))


def sort_by_score(lowering: Lowering, scores: Scores) -> Buffer:
    """The numbers of the scores of each row, by falling score."""
    return argsort(
        lowering, SortKeys(scores.buffer, scores.element_type, scores.rows, scores.length, 1), descending=True
    )


def mark_non_candidates(
    lowering: Lowering, boxes: Boxes, scores: Scores, order: Buffer, limits: Buffer, most: int, at_least: bool = False
) -> Buffer:
    """A flag for each number of an order that is no candidate: below the first ``most``, or not above ``limits[1]``."""
    gone = lowering.scratch(scores.rows * scores.length)
    sizes = map(np.int32, (scores.length, most, at_least))
    arguments = [scores.buffer, order, limits, gone, *sizes]
    lowering.launch_flat(suppression_source(boxes, scores), "mark_others", arguments, scores.rows * scores.length)
    return gone


def suppress(
    lowering: Lowering,
    boxes: Boxes,
    scores: Scores,
    order: Buffer,
    gone: Buffer,
    limits: Buffer,
    most: int,
    eta: float = 1.0,
) -> Buffer:
    """The numbers kept of each row ``[rows, most]``, by falling score, -1 where there are no more."""
    kept = lowering.scratch(scores.rows * most)
    arguments = [boxes.buffer, order, gone, limits, kept, np.int32(scores.length), *boxes.steps()]
    lanes = lanes_per_row(lowering)
    arguments += [np.int32(most), np.float32(eta)]
    lowering.launch(suppression_source(boxes, scores), "suppress", arguments, [scores.rows * lanes], [lanes])
    return kept


def suppress_softly(
    lowering: Lowering, boxes: Boxes, scores: Scores, limits: Buffer, most: int, limited: bool
) -> tuple[Buffer, Buffer]:
    """The same where scores are made smaller first, and the scores of what is kept, f32."""
    kept, values = (lowering.scratch(scores.rows * most) for _ in range(2))
    waiting, lanes = lowering.scratch(scores.rows * scores.length), lanes_per_row(lowering)
    arguments = [boxes.buffer, scores.buffer, limits, waiting, kept, values, np.int32(scores.length), *boxes.steps()]
    arguments += [np.int32(most), np.int32(limited)]
    lowering.launch(suppression_source(boxes, scores), "suppress_softly", arguments, [scores.rows * lanes], [lanes])
    return kept, values


def gather_scores(lowering: Lowering, boxes: Boxes, scores: Scores, kept: Buffer, most: int) -> Buffer:
    """The scores of numbers kept, of ``scores.value_type``; below all others where there is none."""
    count = scores.rows * most
    values = lowering.scratch(count, scores.value_type.size)
    arguments = [scores.buffer, kept, values, np.int32(scores.length), np.int32(most)]
    lowering.launch_flat(suppression_source(boxes, scores), "take_scores", arguments, count)
    return values


def take_along_axis(lowering: Lowering, keys: Buffer, kind: Type, order: Buffer, rows: int, length: int) -> Buffer:
    """The keys ``[rows, length]`` in an order of each row: i32 or floating-point numbers."""
    taken = lowering.scratch(rows * length, kind.size)
    text = source("take_along_axis", {"KEY": kind})
    lowering.launch_flat(text, "take_along_axis", [keys, order, taken, np.int32(length)], rows * length)
    return taken


def kept_flags(lowering: Lowering, boxes: Boxes, scores: Scores, kept: Buffer, count: int) -> Buffer:
    """A flag for each number that is kept."""
    flags = lowering.scratch(count)
    lowering.launch_flat(suppression_source(boxes, scores), "mark_kept", [kept, flags], count)
    return flags


def lanes_per_row(lowering: Lowering) -> int:
    return 1 if lowering.device.is_cpu else _LANES
