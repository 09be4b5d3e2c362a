"""Reductions, softmax and normalizations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.graph import Node, Output, constant_array, is_constant
from hetero_onednn.library.api import (
    FORWARD_INFERENCE,
    USE_SCALE,
    USE_SHIFT,
    Algorithm,
    Argument,
    Binary,
    DataType,
    Eltwise,
)
from hetero_onednn.library.primitive import ELEMENT_SIZES, Attributes, BinaryOp, PostOp, describe, extended, plain
from hetero_onednn.lowering import Lowering, PrimitiveOperation, padded_shape
from hetero_onednn.primitives.elementwise import run_post_ops
from hetero_onednn.primitives.movement import reshaped
from hetero_onednn.primitives.post_ops import chain_of, post_ops_of
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason, unsupported_unless
from hetero_onednn.program import Value

# The algorithms, with the exponents of norms.
_ALGORITHMS = {
    ops.ReduceMean: (Algorithm.reduction_mean, 0.0),
    ops.ReduceSum: (Algorithm.reduction_sum, 0.0),
    ops.ReduceProd: (Algorithm.reduction_mul, 0.0),
    ops.ReduceMax: (Algorithm.reduction_max, 0.0),
    ops.ReduceMin: (Algorithm.reduction_min, 0.0),
    ops.ReduceL1: (Algorithm.reduction_norm_lp_power_p_sum, 1.0),
    ops.ReduceL2: (Algorithm.reduction_norm_lp_sum, 2.0),
}
_NORMS = (ops.ReduceL1, ops.ReduceL2)
_PAIRWISE = {
    ops.ReduceSum: Binary.add, ops.ReduceProd: Binary.mul, ops.ReduceMax: Binary.max, ops.ReduceMin: Binary.min,
}  # fmt: skip
# The number of elements up to which those are combined one by one, as reductions of a few elements are slow.
_MAX_PARTS = 4
_POOLINGS = {
    ops.ReduceMean: Algorithm.pooling_avg_include_padding,
    ops.ReduceMax: Algorithm.pooling_max,
}


def _unsupported_reason(node: ops.ReduceMean) -> str | None:
    if not is_constant(node.input_value(1)):
        return "its axes are not constants"
    return type_reason(node, inputs=1) or rank_reason(node)


@lowers(*_ALGORITHMS, unless=_unsupported_reason)
def reduction(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, data = operation.main, operation.inputs[0]
    rank = len(data.shape)
    axes = node.axes(rank) if rank else ()
    if all(data.shape[axis] == 1 for axis in axes):
        value = _magnitudes(lowering, operation) if type(node) in _NORMS else lowering.value(data, reader=node)
    elif axes == tuple(range(2, rank)) and 3 <= rank <= 5 and type(node) in _POOLINGS:
        value = _pooled(lowering, operation)
    else:
        value = _reduced(lowering, operation, axes)
    lowering.define(operation.result, reshaped(lowering, value, extended(operation.result.shape), node))


def _magnitudes(lowering: Lowering, operation: PrimitiveOperation) -> Value:
    """Return the norms of single elements."""
    source = lowering.dense(operation.inputs[0], operation.main)
    layout = source.descriptor
    descriptor = describe("eltwise_forward", FORWARD_INFERENCE, Eltwise.abs, layout, layout, 0.0, 0.0, Attributes())
    return lowering.execute(operation.main, descriptor, {Argument.src: source})


def _pooled(lowering: Lowering, operation: PrimitiveOperation) -> Value:
    """Return the reduction over all spatial axes, as one window: unlike reductions, pooling takes all layouts."""
    node, data = operation.main, operation.inputs[0]
    source = lowering.dense(data, node)
    kernel, zeros = [*data.shape[2:]], [0] * (len(data.shape) - 2)
    descriptor = describe(
        "pooling_forward",
        FORWARD_INFERENCE,
        _POOLINGS[type(node)],
        source.descriptor,
        lowering.any_layout(data, (*data.shape[:2], *[1] * len(kernel))),
        kernel,
        kernel,
        zeros,
        zeros,
        zeros,
        Attributes(),
    )
    return lowering.execute(node, descriptor, {Argument.src: source})


def _reduced(lowering: Lowering, operation: PrimitiveOperation, axes: tuple[int, ...]) -> Value:
    node, data = operation.main, operation.inputs[0]
    algorithm, exponent = _ALGORITHMS[type(node)]
    # Only the last axes are reduced fast: the others are moved before them.
    kept = [axis for axis in range(len(data.shape)) if axis not in axes]
    if type(node) in _PAIRWISE and math.prod(data.shape[axis] for axis in axes) <= _MAX_PARTS:
        return _combined(lowering, operation, axes, kept)
    order = [*kept, *axes]
    if order == sorted(order):
        source = lowering.plain(data, node)
    else:
        value = lowering.value(data, reader=node)
        moved = Value(value.buffer, value.descriptor.transposed(order), value.offset)
        layout = plain(moved.descriptor.dims, moved.descriptor.data_type)
        source = lowering.reordered(moved, layout, node)
        axes = tuple(range(len(order) - len(axes), len(order)))
    layout = source.descriptor
    shape = [1 if axis in axes else length for axis, length in enumerate(layout.dims)]
    target = plain(shape, layout.data_type)
    descriptor = describe("reduction", algorithm, layout, target, exponent, 0.0, Attributes())
    return lowering.execute(node, descriptor, {Argument.src: source})


def _combined(lowering: Lowering, operation: PrimitiveOperation, axes: Sequence[int], kept: Sequence[int]) -> Value:
    """Return the reduction over a few elements, which are combined one by one."""
    node, data = operation.main, operation.inputs[0]
    value = lowering.value(data, reader=node)
    moved = Value(value.buffer, value.descriptor.transposed([*axes, *kept]), value.offset)
    dense = plain(moved.descriptor.dims, moved.descriptor.data_type)
    source = moved if moved.descriptor.same_places(dense) else lowering.reordered(moved, dense, node)
    count = math.prod(data.shape[axis] for axis in axes)
    layout = plain([dense.byte_size // ELEMENT_SIZES[dense.data_type] // count], dense.data_type)
    parts = [Value(source.buffer, layout, source.offset + index * layout.byte_size) for index in range(count)]
    result = parts[0]
    descriptor = describe("binary", _PAIRWISE[type(node)], layout, layout, layout, Attributes())
    for part in parts[1:]:
        result = lowering.execute(node, descriptor, {Argument.src: result, Argument.src_1: part}, layout)
    return Value(result.buffer, plain([data.shape[axis] for axis in kept], layout.data_type), result.offset)


@lowers(ops.Softmax, ops.LogSoftmax, unless=unsupported_unless(least=1))
def softmax(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, result = operation.main, operation.result
    source = lowering.dense(operation.inputs[0], node)
    algorithm = Algorithm.softmax_log if isinstance(node, ops.LogSoftmax) else Algorithm.softmax_accurate
    axis = node.axis % len(result.shape)
    layout = source.descriptor
    descriptor = describe("softmax_forward", FORWARD_INFERENCE, algorithm, layout, layout, axis, Attributes())
    lowering.define(result, lowering.execute(node, descriptor, {Argument.src: source}))


def _unsupported_mvn(node: ops.MVN) -> str | None:
    if not node.normalize_variance or node.eps_mode != "inside_sqrt":
        return "oneDNN divides by the square root of the variance plus epsilon only"
    if reason := type_reason(node, inputs=1) or rank_reason(node, 1):
        return reason
    rank = len(node.get_input_partial_shape(0))
    axes = _mvn_axes(node, rank)
    if axes is None or sorted(axes) != list(range(rank - len(axes), rank)) or not axes:
        return "oneDNN normalizes over the last axes only"
    return None


def _mvn_axes(node: ops.MVN | ops.MVNV2, rank: int) -> list[int] | None:
    if isinstance(node, ops.MVNV2):
        axes: Sequence[int] | None = node.reduction_axes
    else:
        array = constant_array(node.input_value(1))
        axes = None if array is None else array.reshape(-1).tolist()
    return None if axes is None else sorted({axis % rank for axis in axes})


@lowers(ops.MVN, ops.MVNV2, unless=_unsupported_mvn)
def mvn(lowering: Lowering, operation: PrimitiveOperation) -> None:
    data = operation.inputs[0]
    axes = _mvn_axes(operation.main, len(data.shape))
    assert axes is not None
    rows = math.prod(data.shape[: axes[0]])
    chain = chain_of(operation)
    affine = _scale_and_shift(operation.main, chain)
    value = _normalized(lowering, operation, rows, operation.main.eps, affine)
    value = run_post_ops(lowering, operation, value, chain[len(affine) :])
    lowering.define(operation.result, lowering.in_type(value, operation))


def scales_rows(node: ops.MVN | ops.MVNV2, reader: Node) -> bool:
    """Return whether the primitive of a normalization can run an element-wise node that reads its result."""
    position = reader.input_values().index(node.output(0))
    return bool(_scale_and_shift(node, post_ops_of(reader, position) or ()))


def _scale_and_shift(node: ops.MVN | ops.MVNV2, chain: Sequence[PostOp]) -> list[BinaryOp]:
    """Return the first post-ops that layer normalization has: a constant factor for each element of a row, a term."""
    shape = node.output(0).shape
    axes = _mvn_axes(node, len(shape))
    assert axes is not None
    row = (*[1] * axes[0], *shape[axes[0] :])
    found: list[BinaryOp] = []
    for algorithm in (Binary.mul, Binary.add):
        op = chain[len(found)] if len(chain) > len(found) else None
        if not isinstance(op, BinaryOp) or op.algorithm is not algorithm or not is_constant(op.operand):
            continue
        if padded_shape(op.operand.shape, len(shape)) == row:
            found.append(op)
    return found


def _normalized(
    lowering: Lowering, operation: PrimitiveOperation, rows: int, epsilon: float, affine: Sequence[BinaryOp] = ()
) -> Value:
    """Return the data with each of ``rows`` rows normalized, and multiplied and added to by vectors."""
    node, data = operation.main, operation.inputs[0]
    source = lowering.plain(data, node)
    layout = plain([rows, math.prod(data.shape) // rows], source.descriptor.data_type)
    arguments: dict[int, Value] = {Argument.src: Value(source.buffer, layout, source.offset)}
    flags = 0
    for op in affine:
        flag, argument = _AFFINE[op.algorithm]
        flags |= flag
        vector = plain(layout.dims[1:], DataType.f32)
        arguments[argument] = lowering.as_seen(op.operand, vector, vector, node)
    # The statistics are computed by the primitive.
    descriptor = describe(
        "layer_normalization_forward", FORWARD_INFERENCE, layout, layout, None, epsilon, flags, Attributes()
    )
    return Value(lowering.execute(node, descriptor, arguments).buffer, source.descriptor)


_AFFINE = {Binary.mul: (USE_SCALE, Argument.scale), Binary.add: (USE_SHIFT, Argument.shift)}


@lowers(ops.GroupNormalization, unless=unsupported_unless(least=2))
def group_normalization(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, (data, scale, bias) = operation.main, operation.inputs
    value = _normalized(lowering, operation, data.shape[0] * node.num_groups, node.epsilon)
    for algorithm, operand in ((Binary.mul, scale), (Binary.add, bias)):
        value = _per_channel(lowering, operation, value, algorithm, operand)
    lowering.define(operation.result, value)


def _per_channel(
    lowering: Lowering, operation: PrimitiveOperation, value: Value, algorithm: Binary, operand: Output
) -> Value:
    layout = value.descriptor
    channels = plain([1, layout.dims[1], *[1] * (layout.rank - 2)], lowering.stored_type(operand))
    other = lowering.as_seen(operand, channels, channels, operation.node)
    descriptor = describe("binary", algorithm, layout, channels, layout, Attributes())
    return lowering.execute(operation.node, descriptor, {Argument.src: value, Argument.src_1: other}, layout)


def _unsupported_lrn(node: ops.LRN) -> str | None:
    axes = constant_array(node.input_value(1))
    if axes is None or axes.reshape(-1).tolist() != [1]:
        return "oneDNN normalizes across channels only"
    if not node.size % 2:
        return "its window is not centered"
    return type_reason(node, inputs=1) or rank_reason(node, 3, 5)


@lowers(ops.LRN, unless=_unsupported_lrn)
def local_response_normalization(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node = operation.main
    source = lowering.dense(operation.inputs[0], node)
    numbers = node.size, node.alpha, node.beta, node.bias
    kind, layout = Algorithm.lrn_across_channels, source.descriptor
    descriptor = describe("lrn_forward", FORWARD_INFERENCE, kind, layout, layout, *numbers, Attributes())
    lowering.define(operation.result, lowering.execute(node, descriptor, {Argument.src: source}))
