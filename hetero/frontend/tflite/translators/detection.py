"""Non-maximum suppression of boxes."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import constant_array, int64, reshape, scalar_like
from hetero.graph import Constant, Output
from hetero.types import Type


@translator("NON_MAX_SUPPRESSION_V4")
def non_max_suppression(node: TfliteNodeContext) -> Translation:
    places, _, count = _suppressed(node, None)
    return [places, count]


@translator("NON_MAX_SUPPRESSION_V5")
def soft_non_max_suppression(node: TfliteNodeContext) -> Translation:
    return _suppressed(node, node.get_input(5))


def _suppressed(node: TfliteNodeContext, sigma: Output | None) -> list[Output]:
    """Places and scores of the boxes kept, filled up with zeros to as many as may be kept, and their number.

    Boxes are ``[N, 4]`` and scores ``[N]``.
    """
    boxes, scores, most, overlap, least = (node.get_input(index) for index in range(5))
    # Boxes that overlap by just the threshold go, too, as if it were the next smaller number.
    overlap = ops.Subtract(ops.Multiply(overlap, scalar_like(overlap, 1 - 2**-24)), scalar_like(overlap, 1e-30))
    zero = int64([0])
    numbers = (most, overlap, least, *((sigma,) if sigma else ()))
    # As in the older version of the operation, boxes that overlap by more go also where scores are made smaller.
    kept = ops.NonMaxSuppressionV5(
        ops.Unsqueeze(boxes, zero), ops.Unsqueeze(scores, int64([0, 1])), *numbers, output_type=Type.i32
    )
    columns = (ops.Gather(kept.output(index), int64(2), int64(1)).output(0) for index in (0, 1))
    count = reshape(kept.output(2), ())
    return [*(_filled_up(column, most, count) for column in columns), count]


def _filled_up(column: Output, most: Output, count: Output) -> Output:
    missing = ops.Unsqueeze(ops.Subtract(most, count), int64([0]))
    filled = ops.Pad(column, Constant(np.zeros(1, np.int32)), missing, "constant", scalar_like(column, 0)).output(0)
    length = constant_array(most)
    return filled if length is None else reshape(filled, (int(length.reshape(-1)[0]),))
