"""Pooling and interpolation: resampling if oneDNN's coordinates are those of the operation, else matrix products."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import constant_array
from hetero.reference.images.interpolation import Taps, resampled_axes, taps_along
from hetero_onednn.library.api import FORWARD_INFERENCE, Algorithm, Argument, DataType
from hetero_onednn.library.primitive import Attributes, describe, plain
from hetero_onednn.lowering import Lowering, PrimitiveOperation, unsupported
from hetero_onednn.primitives.registry import REALS, lowers, rank_reason, type_reason
from hetero_onednn.program import Value

#: Differences between weights that are due to rounding.
_TOLERANCE = 1e-5


def _unsupported_interpolation(node: Any) -> str | None:
    if any((*(node.pads_begin or ()), *(node.pads_end or ()))):
        return "oneDNN does not pad before it resamples"
    return type_reason(node, inputs=1) or rank_reason(node, 1)


@lowers(ops.Interpolate, ops.InterpolateV4, ops.InterpolateV1, unless=_unsupported_interpolation)
def interpolation(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, data, result = operation.main, operation.inputs[0], operation.result
    rank = len(data.shape)
    settings = node.to_interpolate_11(rank) if isinstance(node, ops.InterpolateV1) else node
    axes = np.array(node.axes) if isinstance(node, ops.InterpolateV1) else _optional(operation, settings)
    target = constant_array(operation.inputs[settings.target_index])
    assert target is not None  # after specialization
    if 0 in data.shape:
        raise unsupported(operation, "there is nothing to resample")
    weights = {
        along.axis: _matrix(along.length, taps_along(settings, along))
        for along in resampled_axes(settings, data.shape, target, axes)
    }
    algorithm = _algorithm(weights, rank)
    if algorithm is None:
        return lowering.define(result, _product(lowering, operation, weights))
    source = lowering.dense(data, node)
    layout = lowering.any_layout(result)
    descriptor = describe(
        "resampling_forward", FORWARD_INFERENCE, algorithm, None, source.descriptor, layout, Attributes()
    )
    lowering.define(result, lowering.execute(node, descriptor, {Argument.src: source}))


def _optional(operation: PrimitiveOperation, node: Any) -> np.ndarray | None:
    return constant_array(operation.inputs[node.input_index("axes")]) if node.has_input("axes") else None


def _matrix(length: int, taps: Taps) -> np.ndarray:
    """Return the weight of each element of the input, [length], in each element of the output."""
    indices, weights = taps
    matrix = np.zeros((len(indices), length), np.float32)
    rows = np.broadcast_to(np.arange(len(indices))[:, None], indices.shape)
    np.add.at(matrix, (rows, np.clip(indices, 0, length - 1)), np.float32(1) if weights is None else weights)
    return matrix


def _algorithm(weights: dict[int, np.ndarray], rank: int) -> Algorithm | None:
    """Return the algorithm of oneDNN that has these weights along each axis, None if there is none."""
    if not 3 <= rank <= 5 or min(weights, default=2) < 2:
        return None
    for algorithm in (Algorithm.resampling_nearest, Algorithm.resampling_linear):
        if all(np.allclose(w, _weights_of(algorithm, *w.shape), atol=_TOLERANCE) for w in weights.values()):
            return algorithm
    return None


def _weights_of(algorithm: Algorithm, size: int, length: int) -> np.ndarray:
    """Return oneDNN's weights: the centers of elements correspond."""
    matrix = np.zeros((size, length), np.float32)
    rows = np.arange(size)
    position = (rows + 0.5) * length / size - 0.5
    if algorithm is Algorithm.resampling_nearest:
        # Halves are rounded away from zero.
        matrix[rows, np.clip(np.floor(position + 0.5), 0, length - 1).astype(int)] = 1
        return matrix
    position = np.clip(position, 0, length - 1)
    low = np.floor(position).astype(int)
    matrix[rows, low] += 1 - (position - low)
    matrix[rows, np.minimum(low + 1, length - 1)] += position - low
    return matrix


def _product(lowering: Lowering, operation: PrimitiveOperation, weights: dict[int, np.ndarray]) -> Value:
    """Return the data multiplied by the weights along one axis after the other."""
    node, data = operation.node, operation.inputs[0]
    value, shape = lowering.plain(data, node), list(data.shape)
    for axis, matrix in weights.items():
        outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
        kind = value.descriptor.data_type
        left = lowering.constant(matrix[None], plain([1, *matrix.shape], DataType.f32))
        left = lowering.reordered(left, plain([1, *matrix.shape], kind), node) if kind is not DataType.f32 else left
        right = plain([outer, shape[axis], inner], kind)
        shape[axis] = len(matrix)
        target = plain([outer, len(matrix), inner], kind)
        descriptor = describe("matmul", left.descriptor, right, None, target, Attributes())
        arguments: dict[int, Value] = {Argument.src: left, Argument.weights: Value(value.buffer, right, value.offset)}
        result = lowering.execute(node, descriptor, arguments, target)
        value = Value(result.buffer, plain(shape, kind))
    return value


def _unsupported_max(node: ops.MaxPool) -> str | None:
    if node.get_output_size() > 1 and node.output(1).get_target_inputs():
        return "oneDNN does not return the indices of maxima"
    return _unsupported_pooling(node, (*REALS, Type.i8, Type.u8))


def _unsupported_pooling(node: ops.MaxPool | ops.AvgPool, types: Collection[object] = REALS) -> str | None:
    if any(pad >= size for pad, size in zip((*node.pads_begin, *node.pads_end), node.kernel_shape * 2)):
        return "a window could lie in the padding"
    if isinstance(node, ops.AvgPoolV1) and not node.exclude_pad and node.rounding_type != "floor":
        return "oneDNN counts padding that only the rounding adds"
    return type_reason(node, types, inputs=1) or rank_reason(node, 3, 5)


@lowers(ops.MaxPool, ops.MaxPoolV8, ops.MaxPoolV1, unless=_unsupported_max)
def max_pool(lowering: Lowering, operation: PrimitiveOperation) -> None:
    _lower(lowering, operation, Algorithm.pooling_max)


@lowers(ops.AvgPool, ops.AvgPoolV14, ops.AvgPoolV1, unless=_unsupported_pooling)
def avg_pool(lowering: Lowering, operation: PrimitiveOperation) -> None:
    is_excluded = operation.main.exclude_pad
    kinds = Algorithm.pooling_avg_include_padding, Algorithm.pooling_avg_exclude_padding
    _lower(lowering, operation, kinds[is_excluded])


def _lower(lowering: Lowering, operation: PrimitiveOperation, algorithm: Algorithm) -> None:
    node, result = operation.main, operation.result
    lengths, kernel = operation.inputs[0].shape[2:], node.kernel_shape
    begin, _ = node.resolve_pads(lengths)
    # The padding at the end follows from the number of windows, which the rounding decides.
    end = [
        (count - 1) * stride + (size - 1) * dilation + 1 - length - before
        for count, stride, size, dilation, length, before in zip(
            result.shape[2:], node.strides, kernel, node.dilations, lengths, begin
        )
    ]
    source = lowering.dense(operation.inputs[0], node)
    descriptor = describe(
        "pooling_forward",
        FORWARD_INFERENCE,
        algorithm,
        source.descriptor,
        lowering.any_layout(result),
        [*node.strides],
        [*kernel],
        [dilation - 1 for dilation in node.dilations],
        [*begin],
        end,
        Attributes(),
    )
    lowering.define(result, lowering.execute(node, descriptor, {Argument.src: source}))
