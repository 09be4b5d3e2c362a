"""Random numbers, by Philox 4x32-10 from two seeds; not reproducible if both seeds are 0."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, reshape, scalar_like
from hetero.graph import Node, Output


def _uniform(node: TfliteNodeContext, shape: Node | Output, kind: Type) -> Output:
    """Return random numbers uniform in [0, 1)."""
    limits = (np.array(limit, kind.to_dtype()) for limit in (0, 1))
    return ops.RandomUniform(
        shape, *limits, kind, node.get_attribute("seed", 0), node.get_attribute("seed2", 0)
    ).output(0)


rows({"RANDOM_UNIFORM": lambda node: _uniform(node, node.get_input(0), Type.f32)})


@translator("RANDOM_STANDARD_NORMAL")
def random_normal(node: TfliteNodeContext) -> Translation:
    """Box-Muller transform: Box & Muller, "A Note on the Generation of Random Normal Deviates", 1958."""
    shape = node.get_input(0)
    count = ops.ReduceProd(ops.Convert(shape, Type.i64), int64([0]), True)
    pairs = ops.Divide(ops.Add(count, int64(1)), int64(2))
    uniform = _uniform(node, ops.Concat([pairs, int64([2])], 0), Type.f32)
    first, second = ops.Split(uniform, int64(1), 2).outputs()
    # The maximum avoids log(0).
    radius = ops.Sqrt(ops.Multiply(ops.Log(ops.Maximum(first, np.float32(1e-7))), np.float32(-2)))
    angle = ops.Multiply(second, np.float32(2 * math.pi))
    both = reshape(ops.Multiply(ops.Concat([ops.Sin(angle), ops.Cos(angle)], 1), radius).output(0), (-1,))
    return ops.Reshape(ops.Slice(both, int64([0]), count, int64([1]), int64([0])), shape, False)


@translator("MULTINOMIAL")
def multinomial(node: TfliteNodeContext) -> Translation:
    """Sample column indices for each row of logits ``[N, C]``; input 1 is the number of samples per row.

    Samples by inverting the cumulative distribution. Columns with non-finite logits have probability 0. The samples of
    the first inference are those of LiteRT.
    """
    logits, count = node.get_input(0), reshape(node.get_input(1), (1,))
    is_finite = ops.IsFinite(logits)
    lowest = scalar_like(logits, np.finfo(np.float32).min)
    largest = ops.ReduceMax(ops.Select(is_finite, logits, lowest), int64([1]), True)
    wide = [ops.Convert(value, Type.f64) for value in (ops.Select(is_finite, logits, lowest), largest)]
    exponentials = ops.Exp(ops.Subtract(*wide)).output(0)
    weights = ops.Select(is_finite, exponentials, scalar_like(exponentials, 0))
    cumulative = ops.CumSum(weights, int64(1))
    shape = ops.Concat([reshape(axis_length(logits, 0), (1,)), ops.Convert(count, Type.i64)], 0)
    total = ops.Gather(cumulative, int64([-1]), int64(1))
    samples = ops.Multiply(_uniform(node, shape, Type.f64), total)
    return ops.SearchSorted(cumulative, samples, True, node.output_type(0))
