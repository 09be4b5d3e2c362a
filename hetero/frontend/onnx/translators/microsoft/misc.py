"""Other operators of the domain com.microsoft, several of which ONNX has too."""

from __future__ import annotations

import math
from functools import reduce
from operator import itemgetter

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.onnx.translators.convolution import max_pool_of
from hetero.frontend.onnx.translators.images import GRID_SAMPLE
from hetero.frontend.onnx.translators.linear import trilu
from hetero.frontend.onnx.translators.microsoft.fused import DOMAIN
from hetero.frontend.onnx.translators.movement import pad
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    arange,
    channels_last,
    channels_second,
    int64,
    known_length,
    rank_of,
    scalar_like,
)
from hetero.graph import Op
from hetero.system.errors import FrontendError

translator("Pad", domain=DOMAIN)(pad)
translator("Trilu", domain=DOMAIN)(trilu)

rows({
    "ExpandDims": Row(ops.Unsqueeze, domain=DOMAIN),
    "GatedAdd": Row(lambda a, b, c: ops.Add(a, ops.Multiply(b, c)), domain=DOMAIN),
    "GatherND": Row(ops.GatherND, batch_dims=Attr("batch_dims", 0), domain=DOMAIN),
    "GridSample": Row(ops.GridSample, **GRID_SAMPLE, domain=DOMAIN),
    "Inverse": Row(ops.Inverse, domain=DOMAIN),
    "TorchEmbedding": Row(lambda table, ids: ops.Gather(table, ids, int64(0)), 0, 1, domain=DOMAIN),
    # In order of appearance: the unique elements, the index of each element among them, and their counts.
    "Unique": Row(lambda value: itemgetter(0, 2, 3)(ops.Unique(value, None, False).outputs()), domain=DOMAIN),
})  # fmt: skip


@translator("Range", domain=DOMAIN)
def value_range(node: OnnxNodeContext) -> Translation:
    """The step is optional, and each input may be a vector of one element."""
    start, stop = (ops.Squeeze(node.get_input(index)) for index in (0, 1))
    step = ops.Squeeze(node.get_input(2)) if node.has_input(2) else scalar_like(node.get_input(0), 1)
    return ops.Range(start, stop, step, node.get_input(0).element_type)


@translator("IsAllFinite", domain=DOMAIN)
def is_all_finite(node: OnnxNodeContext) -> Translation:
    """Return whether no input contains infinity or NaN, or only one of these, by the attributes."""
    only_nan, only_infinity = (bool(node.get_attribute(name, 0)) for name in ("isnan_only", "isinf_only"))
    results: list[Op] = []
    for value in node.get_inputs():
        finite: Op = ops.IsFinite(value)
        if only_nan or only_infinity:
            finite = ops.LogicalNot(ops.IsNaN(value) if only_nan else ops.IsInf(value))
        results.append(ops.ReduceLogicalAnd(finite, int64(range(rank_of(value))), False))
    return reduce(ops.LogicalAnd, results)


@translator("ScaledSiLU", domain=DOMAIN)
def scaled_silu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    factor = node.get_input(1) if node.has_input(1) else scalar_like(value, node.get_attribute("alpha", 1.0))
    return ops.Swish(ops.Multiply(value, ops.ConvertLike(factor, value)))


@translator("CDist", domain=DOMAIN)
def distances(node: OnnxNodeContext) -> Translation:
    """Return the distances ``[M, K]`` of each row of A ``[M, N]`` to each row of B ``[K, N]``."""
    metric = node.get_attribute("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise FrontendError(f"the metric {metric} is not supported")
    a, b = node.get_input(0), node.get_input(1)
    # |a - b|² = |a|² + |b|² - 2·a·b, clamped because rounding may make it negative.
    squares_a = ops.ReduceSum(ops.Multiply(a, a), int64([1]), True)
    squares_b = ops.ReduceSum(ops.Multiply(b, b), int64([1]), False)
    products = ops.Multiply(ops.MatMul(a, b, False, True), scalar_like(a, -2))
    squares = ops.Maximum(ops.Add(ops.Add(squares_a, squares_b), products), scalar_like(a, 0))
    return ops.Sqrt(squares) if metric == "euclidean" else squares


@translator("Rfft", "Irfft", domain=DOMAIN)
def real_fourier(node: OnnxNodeContext) -> Translation:
    """Transform the last signal_ndim axes. Complex numbers are pairs along an additional last axis."""
    node.check_only_supported(normalized=0, onesided=1)
    inverse, value = node.get_op_type() == "Irfft", node.get_input(0)
    rank = rank_of(value) - 1 if inverse else rank_of(value)
    axes = int64(range(rank - node.get_attribute("signal_ndim", 1), rank))
    return (ops.IRDFT if inverse else ops.RDFT)(value, axes)


@translator("NhwcMaxPool", domain=DOMAIN)
def max_pool_channels_last(node: OnnxNodeContext) -> Translation:
    return channels_last(max_pool_of(node, channels_second(node.get_input(0))).output(0))


@translator("RelativePositionBias", domain=DOMAIN)
def relative_position_bias(node: OnnxNodeContext) -> Translation:
    """Return the bias ``[1, N, S, T]`` for the distance of key and query, from a table ``[buckets, N]``, as in T5.

    Each short distance has its own bucket; the other buckets cover ranges of distances that grow exponentially.
    """
    table, (queries, keys) = node.get_input(0), (arange(ops.Squeeze(node.get_input(index))) for index in (1, 2))
    buckets = known_length(table, 0, "the number of buckets")
    distance: Op = ops.Subtract(keys, ops.Unsqueeze(queries, int64([1])))
    offset: Op | None = None
    if node.get_attribute("is_bidirectional", 0):
        buckets //= 2  # the second half is for keys after the query
        offset = ops.Multiply(ops.Convert(ops.Greater(distance, int64(0)), Type.i64), int64(buckets))
        distance = ops.Abs(distance)
    else:
        distance = ops.Maximum(ops.Negative(distance), int64(0))
    exact = buckets // 2
    # The maximum avoids log(0); distance 0 has a bucket of its own.
    ratio = ops.Divide(ops.Convert(ops.Maximum(distance, int64(1)), Type.f32), np.float32(exact))
    scale = (buckets - exact) / math.log(node.get_attribute("max_distance") / exact)
    far = ops.Add(ops.Convert(ops.Multiply(ops.Log(ratio), np.float32(scale)), Type.i64), int64(exact))
    bucket: Op = ops.Select(ops.Less(distance, int64(exact)), distance, ops.Minimum(far, int64(buckets - 1)))
    bucket = bucket if offset is None else ops.Add(bucket, offset)
    biases = ops.Transpose(ops.Gather(table, bucket, int64(0)), int64([2, 0, 1]))
    return ops.Unsqueeze(biases, int64([0]))
