"""Resizing of images, and suppression of boxes in them."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import pad_to
from hetero.frontend.numerics.resize import resize_bilinear, resize_nearest
from hetero.frontend.tflite.node_context import TfliteNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import convert_to, int64, reshape, scalar_like

translator("RESIZE_NEAREST_NEIGHBOR")(resize_nearest)


@translator("RESIZE_BILINEAR")
def resize_bilinear_rounded(node: TfliteNodeContext) -> Translation:
    """Results of integers are rounded, halves away from zero.

    Interpolation weights are exact, as in LiteRT's fast kernels. Those of its reference kernels have ten bits, which
    is too coarse for large images.
    """
    kind, resized = node.get_input(0).element_type, resize_bilinear(node)
    return resized if kind.is_real() else convert_to(ops.Round(resized, "half_away_from_zero").output(0), kind)


@translator("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def non_max_suppression(node: TfliteNodeContext) -> Translation:
    """Return the indices of the selected boxes, in V5 also their scores, padded by zeros, and the count of boxes.

    Boxes are ``[N, 4]`` and scores ``[N]``. V5 has a sixth input, the sigma of soft suppression.
    """
    is_soft = node.get_op_type() == "NON_MAX_SUPPRESSION_V5"
    boxes, scores, max_count, iou, min_score, *sigma = (node.get_input(index) for index in range(5 + is_soft))
    # LiteRT also suppresses boxes whose overlap equals the threshold: use the next smaller number.
    iou = ops.Subtract(ops.Multiply(iou, scalar_like(iou, 1 - 2**-24)), scalar_like(iou, 1e-30)).output(0)
    zero, thresholds = int64([0]), (max_count, iou, min_score, *sigma)
    # V5, because newer versions of the operation do not apply the overlap threshold in soft suppression.
    selected = ops.NonMaxSuppressionV5(
        ops.Unsqueeze(boxes, zero), ops.Unsqueeze(scores, int64([0, 1])), *thresholds, output_type=Type.i32
    )
    columns = [ops.Gather(value, int64(2), int64(1)).output(0) for value in selected.outputs()[: 1 + is_soft]]
    count = reshape(selected.output(2), ())
    return [*(pad_to(column, max_count, count) for column in columns), count]
