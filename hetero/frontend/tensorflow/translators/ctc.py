"""Connectionist temporal classification. Scores are ``[time, batch, classes]``."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, int64, reshape, scalar_like


@translator("CTCGreedyDecoder")
def greedy_decoder(node: TensorflowNodeContext) -> Translation:
    """Return the decoded classes as a sparse tensor, its shape, and the negated sum of the best scores."""
    scores, lengths = node.get_inputs()
    scores = ops.Transpose(scores, int64([1, 0, 2])).output(0)
    blank = node.get_attribute("blank_index", -1, int)
    last = axis_length(scores, 2)
    blank_index = int64(blank).output(0) if blank >= 0 else ops.Add(last, int64(blank)).output(0)
    merges = node.get_attribute("merge_repeated", False, bool)
    decoded = ops.CTCGreedyDecoderSeqLen(scores, convert_to(lengths, Type.i64), blank_index, merges, Type.i64, Type.i64)
    indices = ops.Transpose(ops.NonZero(ops.GreaterEqual(decoded.output(0), int64(0))), int64([1, 0])).output(0)
    longest = ops.ReduceMax(decoded.output(1), int64([0]), True)
    shape = ops.Concat([reshape(axis_length(scores, 0), (1,)), longest], 0)
    best = ops.ReduceMax(scores, int64([2]), False)
    steps = ops.Unsqueeze(arange(axis_length(scores, 1)), int64([0]))
    is_step = ops.Less(steps, ops.Unsqueeze(convert_to(lengths, Type.i64), int64([1])))
    total = ops.ReduceSum(ops.Select(is_step, best, scalar_like(scores, 0)), int64([1]), True)
    return [indices, ops.GatherND(decoded.output(0), indices), shape, ops.Negative(total)]


@translator("CTCLoss")
def ctc_loss(node: TensorflowNodeContext) -> Translation:
    """The loss ``[batch]`` without its gradient. Labels are a sparse matrix; the blank is the last class."""
    scores, indices, labels, lengths = node.get_inputs()
    scores = ops.Transpose(scores, int64([1, 0, 2])).output(0)
    batch, time = (reshape(axis_length(scores, axis), (1,)) for axis in (0, 1))
    labels = convert_to(labels, Type.i32)
    dense = ops.ScatterNDUpdate(ops.Broadcast(np.int32(0), ops.Concat([batch, time], 0)), indices, labels, "none")
    ones = ops.Broadcast(np.int32(1), ops.ShapeOf(labels))
    rows = ops.Gather(indices, int64([0]), int64(1))
    counts = ops.ScatterNDUpdate(ops.Broadcast(np.int32(0), batch), rows, ones, "sum")
    last = ops.Convert(ops.Subtract(axis_length(scores, 2), int64(1)), Type.i32).output(0)
    settings = (("preprocess_collapse_repeated", False), ("ctc_merge_repeated", True))
    return [
        ops.CTCLoss(
            scores,
            convert_to(lengths, Type.i32),
            dense,
            counts,
            last,
            *(node.get_attribute(*pair, bool) for pair in settings),
        )
    ]
