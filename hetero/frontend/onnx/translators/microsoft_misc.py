"""Operators of the domain com.microsoft that are neither fused, attention nor quantized; several ONNX has as well."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.matrices import trilu
from hetero.frontend.onnx.translators.microsoft_fused import DOMAIN
from hetero.frontend.onnx.translators.movement import pad
from hetero.frontend.onnx.translators.pooling import max_pool_of
from hetero.frontend.onnx.translators.sampling import grid_sample
from hetero.frontend.onnx.translators.selection import gather_nd
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, scalar_like
from hetero.graph import Op, Output
from hetero.types import Type

for _name, _translate in {"GatherND": gather_nd, "GridSample": grid_sample, "Pad": pad, "Trilu": trilu}.items():
    translator(_name, domain=DOMAIN)(_translate)


@translator("Inverse", domain=DOMAIN)
def inverse(node: OnnxNodeContext) -> Translation:
    return ops.Inverse(node.get_input(0))


@translator("ExpandDims", domain=DOMAIN)
def expand_dims(node: OnnxNodeContext) -> Translation:
    return ops.Unsqueeze(node.get_input(0), node.get_input(1))


@translator("Range", domain=DOMAIN)
def value_range(node: OnnxNodeContext) -> Translation:
    """The step may be left out, and all may be vectors of one element."""
    start, stop = (ops.Squeeze(node.get_input(index)) for index in (0, 1))
    step = ops.Squeeze(node.get_input(2)) if node.has_input(2) else scalar_like(node.get_input(0), 1)
    return ops.Range(start, stop, step, node.get_input(0).element_type)


@translator("Unique", domain=DOMAIN)
def unique(node: OnnxNodeContext) -> Translation:
    """The different elements in their order, the place of each element among them, and their counts."""
    found = ops.Unique(node.get_input(0), None, False)
    return [found.output(0), found.output(2), found.output(3)]


@translator("TorchEmbedding", domain=DOMAIN)
def torch_embedding(node: OnnxNodeContext) -> Translation:
    return ops.Gather(node.get_input(0), node.get_input(1), int64(0))


@translator("IsAllFinite", domain=DOMAIN)
def is_all_finite(node: OnnxNodeContext) -> Translation:
    """Whether no input holds an infinity or NaN, or none of the one of these that an attribute names."""
    only_nan, only_infinity = (bool(node.get_attribute(name, 0)) for name in ("isnan_only", "isinf_only"))
    found = []
    for value in node.get_inputs():
        good: Op = ops.IsFinite(value)
        if only_nan or only_infinity:
            good = ops.LogicalNot(ops.IsNaN(value) if only_nan else ops.IsInf(value))
        found.append(ops.ReduceLogicalAnd(good, int64(range(rank_of(value))), False))
    whole = found[0]
    for part in found[1:]:
        whole = ops.LogicalAnd(whole, part)
    return whole


@translator("ScaledSiLU", domain=DOMAIN)
def scaled_silu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    factor = node.get_input(1) if node.has_input(1) else scalar_like(value, node.get_attribute("alpha", 1.0))
    return ops.Swish(ops.Multiply(value, ops.ConvertLike(factor, value)))


@translator("GatedAdd", domain=DOMAIN)
def gated_add(node: OnnxNodeContext) -> Translation:
    return ops.Add(node.get_input(0), ops.Multiply(node.get_input(1), node.get_input(2)))


@translator("CDist", domain=DOMAIN)
def distances(node: OnnxNodeContext) -> Translation:
    """The distance of each row of A ``[M, N]`` to each row of B ``[K, N]``."""
    metric = node.get_attribute("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise FrontendError(f"the metric {metric} is not supported")
    a, b = node.get_input(0), node.get_input(1)
    # |a - b|² as |a|² + |b|² - 2·a·b, which rounding may make negative.
    of_a = ops.ReduceSum(ops.Multiply(a, a), int64([1]), True)
    of_b = ops.ReduceSum(ops.Multiply(b, b), int64([1]), False)
    products = ops.Multiply(ops.MatMul(a, b, False, True), scalar_like(a, -2))
    squares = ops.Maximum(ops.Add(ops.Add(of_a, of_b), products), scalar_like(a, 0))
    return ops.Sqrt(squares) if metric == "euclidean" else squares


@translator("Rfft", "Irfft", domain=DOMAIN)
def real_fourier(node: OnnxNodeContext) -> Translation:
    """Over the last signal_ndim axes; complex numbers are pairs on a last axis more."""
    if node.get_attribute("normalized", 0) or not node.get_attribute("onesided", 1):
        raise FrontendError("only onesided transforms that are not normalized are supported")
    inverse, value = node.get_op_type() == "Irfft", node.get_input(0)
    rank = rank_of(value) - 1 if inverse else rank_of(value)
    axes = int64(range(rank - node.get_attribute("signal_ndim", 1), rank))
    return (ops.IRDFT if inverse else ops.RDFT)(value, axes)


@translator("NhwcMaxPool", domain=DOMAIN)
def max_pool_of_channels_last(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    rank = rank_of(value)
    channels_first = ops.Transpose(value, int64([0, rank - 1, *range(1, rank - 1)])).output(0)
    return ops.Transpose(max_pool_of(node, channels_first).output(0), int64([0, *range(2, rank), 1]))


@translator("RelativePositionBias", domain=DOMAIN)
def relative_position_bias(node: OnnxNodeContext) -> Translation:
    """A bias ``[1, N, S, T]`` by how far a key is from a query, from a table ``[buckets, N]``.

    There is a bucket for each short distance, and behind those for distances that grow by a factor, as T5 has it.
    """
    table, (queries, keys) = node.get_input(0), (_count(node.get_input(index)) for index in (1, 2))
    if table.partial_shape[0].is_dynamic:
        raise FrontendError("the number of buckets must be known")
    buckets = table.partial_shape[0].get_length()
    distance = ops.Subtract(keys, ops.Unsqueeze(queries, int64([1])))
    ahead: Op | None = None
    if node.get_attribute("is_bidirectional", 0):
        buckets //= 2
        ahead = ops.Multiply(ops.Convert(ops.Greater(distance, int64(0)), Type.i64), int64(buckets))
        distance = ops.Abs(distance)
    else:
        distance = ops.Maximum(ops.Negative(distance), int64(0))
    exact = buckets // 2
    # The logarithm of 0 is never chosen.
    times = ops.Divide(ops.Convert(ops.Maximum(distance, int64(1)), Type.f32), np.float32(exact))
    steps = (buckets - exact) / math.log(node.get_attribute("max_distance") / exact)
    far = ops.Add(ops.Convert(ops.Multiply(ops.Log(times), np.float32(steps)), Type.i64), int64(exact))
    bucket: Op = ops.Select(ops.Less(distance, int64(exact)), distance, ops.Minimum(far, int64(buckets - 1)))
    bucket = bucket if ahead is None else ops.Add(bucket, ahead)
    biases = ops.Transpose(ops.Gather(table, bucket, int64(0)), int64([2, 0, 1]))
    return ops.Unsqueeze(biases, int64([0]))


def _count(length: Output) -> Output:
    return ops.Range(int64(0), ops.Squeeze(length), int64(1), "i64").output(0)
