"""Non-maximum suppression: the steps that object detection operations have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero.core.types import Type
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.algorithms import SortKeys, argsort
from hetero_opencl.kernels.common.definition import element_macros, float_type, source, template
from hetero_opencl.lowering.lowering import Argument, Lowering

# Sources of the IoU of boxes whose far corner is exclusive, and of boxes of pixels whose far corner is inclusive.
CORNERS, PIXELS = (source("iou", INCLUSIVE=border) for border in (0, 1))


class Boxes(NamedTuple):
    """Boxes of the candidates, with strides in boxes. There is one row of candidates per class and batch."""

    buffer: Buffer
    element_type: Type
    classes: int
    batch_step: int
    class_step: int
    box_step: int = 1
    overlap: str = CORNERS


class Scores(NamedTuple):
    """Scores of the candidates, ``[rows, length]``."""

    buffer: Buffer
    element_type: Type
    rows: int
    length: int

    @property
    def value_type(self) -> Type:
        return float_type(self.element_type)


class Suppression(NamedTuple):
    """Non-maximum suppression of candidates in rows, one per class and batch.

    ``limits`` is a buffer of the IoU threshold, the score threshold and sigma, of ``scores.value_type``.
    """

    lowering: Lowering
    boxes: Boxes
    scores: Scores

    def source(self) -> str:
        types = element_macros({"BOX": self.boxes.element_type, "SCORE": self.scores.element_type})
        return types + self.boxes.overlap + template("suppression")

    def select(self, limits: Buffer, max_candidates: int, at_least: bool = False) -> tuple[Buffer, Buffer]:
        """Sort each row by descending score. Return the indices, and a flag for each that is no candidate.

        Candidates are the first ``max_candidates`` with a score above ``limits[1]``, or with ``at_least`` not below it.
        """
        data, kind, rows, length = self.scores
        order = argsort(self.lowering, SortKeys(data, kind, rows, length, 1), descending=True)
        suppressed = self.lowering.scratch(rows * length)
        buffers, sizes = [data, order, limits, suppressed], (length, max_candidates, at_least)
        self.lowering.launch_flat(self.source(), "mark_non_candidates", [*buffers, *sizes], rows * length)
        return order, suppressed

    def suppress(self, order: Buffer, suppressed: Buffer, limits: Buffer, max_kept: int, eta: float = 1.0) -> Buffer:
        """Return the indices kept of each row, ``[rows, max_kept]``, in descending order of scores, padded with -1."""
        kept = self.lowering.scratch(self.scores.rows * max_kept)
        buffers = [self.boxes.buffer, order, suppressed, limits, kept]
        self._launch_rows("suppress", buffers, max_kept, np.float32(eta))
        return kept

    def suppress_softly(self, limits: Buffer, max_kept: int, limited: bool) -> tuple[Buffer, Buffer]:
        """Soft-NMS: overlapping boxes lower the scores of others. Return the kept indices and their scores, f32."""
        kept, values = (self.lowering.scratch(self.scores.rows * max_kept) for _ in range(2))
        current = self.lowering.scratch(self.scores.rows * self.scores.length)
        buffers = [self.boxes.buffer, self.scores.buffer, limits, current, kept, values]
        self._launch_rows("suppress_softly", buffers, max_kept, limited)
        return kept, values

    def kept_scores(self, kept: Buffer, max_kept: int) -> Buffer:
        """Return the scores of kept indices, of ``scores.value_type``; -inf for padding."""
        count = self.scores.rows * max_kept
        values = self.lowering.scratch(count, self.scores.value_type.size)
        buffers = [self.scores.buffer, kept, values]
        self.lowering.launch_flat(self.source(), "gather_scores", [*buffers, self.scores.length, max_kept], count)
        return values

    def _launch_rows(self, kernel: str, buffers: Sequence[Buffer], max_kept: int, last: Argument) -> None:
        """Launch a kernel with one work-group per row, whose work-items check together what one box suppresses."""
        group, boxes = self.lowering.profile.team_size, self.boxes
        sizes = self.scores.length, boxes.classes, boxes.batch_step, boxes.class_step, boxes.box_step, max_kept
        self.lowering.launch(self.source(), kernel, [*buffers, *sizes, last], [self.scores.rows * group], [group])


def constant_limits(lowering: Lowering, scores_type: Type, overlap: float, score: float) -> Buffer:
    """Return a buffer with the IoU threshold, the score threshold and 0, in the type of computed scores."""
    return lowering.constant(np.array([overlap, score, 0], np.float32).astype(scores_type.to_dtype()))


def take_along_axis(lowering: Lowering, keys: Buffer, kind: Type, order: Buffer, rows: int, length: int) -> Buffer:
    """Return ``keys[row, order[row]]`` for keys ``[rows, length]`` of i32 or floating-point numbers."""
    taken = lowering.scratch(rows * length, kind.size)
    text = source("take_along_axis", {"KEY": kind})
    lowering.launch_flat(text, "take_along_axis", [keys, order, taken, length], rows * length)
    return taken
