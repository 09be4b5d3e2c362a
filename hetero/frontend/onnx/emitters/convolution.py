"""Convolution, transposed convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.emitters.integer_range import exact_filters
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, NotInOnnx, emit, emitter
from hetero.ops.windows import resolve_pads


def _windows(node: NodeWriter) -> dict[str, Any]:
    """Return the attributes of sliding windows, without those at their defaults."""
    op = node.op
    pads = [*op.pads_begin, *op.pads_end] if op.auto_pad == "explicit" else []
    auto_pad = op.auto_pad.upper() if op.auto_pad in ("same_upper", "same_lower") else None
    is_dilated = any(dilation != 1 for dilation in op.dilations or ())
    if auto_pad and (is_dilated or isinstance(op, ops.DeformableConvolution)):
        # These have no auto_pad in ONNX Runtime.
        filters = op.input_index("filters") if "filters" in op.input_names else None
        kernel = op.kernel_shape if filters is None else node.static_shape(filters, getattr(op, "filter_axes", 2))
        pads = [pad for side in resolve_pads(op, node.static_shape(0, 2), kernel) for pad in side]
        auto_pad = None
    if min(pads, default=0) < 0:
        raise NotInOnnx("negative pads")
    return {
        "strides": op.strides if any(stride != 1 for stride in op.strides) else None,
        "dilations": op.dilations if is_dilated else None,
        "pads": pads if any(pads) else None,
        "auto_pad": auto_pad,
    }


def _grouped(node: NodeWriter) -> tuple[Argument, int]:
    """Return filters ``[G, A, B, …]`` as ``[G·A, B, …]``, and the number of groups."""
    groups, *others = node.shape(1)
    if groups is None or None in others[1:]:
        raise NotInOnnx("filters of dynamic shape")
    channels = -1 if others[0] is None else groups * others[0]
    return node.reshaped(1, [channels, *(length for length in others[1:] if length is not None)]), groups


emit(
    {
        ops.Convolution: lambda node: _convolution(node, node.input(1), None),
        ops.GroupConvolution: lambda node: _convolution(node, *_grouped(node)),
        ops.ConvolutionBackpropData: lambda node: _transposed(node, node.input(1), None),
        ops.GroupConvolutionBackpropData: lambda node: _transposed(node, *_grouped(node)),
    }
)


def _convolution(node: NodeWriter, filters: Argument, groups: int | None) -> str:
    windows = _windows(node)
    if node.kind(0).is_real():
        return node.add("Conv", node.input(0), filters, group=groups, **windows)
    data, total = node.cast(node.input(0), Type.f32), ""
    for factor, array in exact_filters(node.op):
        part = filters if array is None else array if groups is None else array.reshape(-1, *array.shape[2:])
        result = node.add("Conv", data, node.cast(part, Type.f32), group=groups, **windows)
        scaled = node.add("Mul", node.cast(result, node.kind(0)), node.number(factor)) if factor > 1 else ""
        result = scaled or node.cast(result, node.kind(0))
        total = node.add("Add", total, result) if total else result
    return total


@emitter(ops.FusedConvolution)
def fused_convolution(node: NodeWriter) -> str:
    filters, groups = _grouped(node) if node.op.grouped else (node.input(1), None)
    result = node.add("Conv", node.input(0), filters, node.optional("bias"), group=groups, **_windows(node))
    return node.add("Clip", result, node.number(node.op.minimum), node.number(node.op.maximum))


def _transposed(node: NodeWriter, filters: Argument, groups: int | None) -> str:
    node.check_real()
    op = node.op
    begin, end = op.pads_begin, op.pads_end
    if op.has_input("output_shape"):
        lengths, kernel = node.static_shape(0, 2), node.static_shape(1, op.filter_axes)
        begin, end = op.resolve_pads(lengths, kernel, node.numbers(2))
    elif op.auto_pad != "explicit":
        begin = end = (0,) * len(op.strides)
    crops = [*begin, *(pad - padding for pad, padding in zip(end, op.output_padding))]
    cropped = [max(0, crop) for crop in crops]
    result = node.add(
        "ConvTranspose", node.input(0), filters, strides=op.strides, dilations=op.dilations, group=groups,
        pads=cropped if any(cropped) else None,
    )  # fmt: skip
    if cropped == crops:
        return result
    # Negative numbers, which output padding is too, add zeros; ONNX limits output padding.
    zeros = [max(0, -crop) for crop in crops]
    return node.add("Pad", result, [0, 0, *zeros[: len(begin)], 0, 0, *zeros[len(begin) :]])


@emitter(ops.DeformableConvolution)
def deformable_convolution(node: NodeWriter) -> str:
    op = node.op
    if not op.bilinear_interpolation_pad:
        raise NotInOnnx("bilinear_interpolation_pad false")
    data, offsets, filters = node.inputs[:3]
    return node.add(
        "DeformConv", data, filters, offsets, None, node.optional("mask"), group=op.group,
        offset_group=op.deformable_group, **_windows(node),
    )  # fmt: skip


@emitter(ops.MaxPoolV1)
def max_pool_without_indices(node: NodeWriter) -> Sequence[str]:
    return [node.add("MaxPool", node.input(0), kernel_shape=node.op.kernel_shape, **_max_pooling(node))]


@emitter(ops.MaxPool, ops.MaxPoolV8)
def max_pool(node: NodeWriter) -> Sequence[str]:
    if not node.op.output(1).get_target_inputs():
        return max_pool_without_indices(node)
    largest, indices = node.add_outputs(
        2, "MaxPool", node.input(0), kernel_shape=node.op.kernel_shape, **_max_pooling(node)
    )
    axis = node.op.axis % node.rank(0)
    if axis:  # ONNX counts from the beginning of the data
        part = node.add("ReduceProd", node.lengths(node.input(0), range(axis, node.rank(0))), keepdims=0)
        indices = node.add("Mod", indices, part)
    return [largest, node.cast(indices, node.op.index_element_type, Type.i64)]


def _max_pooling(node: NodeWriter) -> dict[str, Any]:
    if node.kind(0) not in (Type.i8, Type.u8):
        node.check_real()
    return _windows(node) | {"ceil_mode": _ceil_mode(node.op)}


@emitter(ops.AvgPool, ops.AvgPoolV1, ops.AvgPoolV14)
def average_pool(node: NodeWriter) -> str:
    node.check_real()
    op = node.op
    windows, ceil, value = _windows(node), _ceil_mode(op), node.input(0)
    include = not op.exclude_pad and (windows["pads"] is not None or windows["auto_pad"] is not None)
    if include and ceil:
        # ONNX does not count the elements beyond the padding, so that these are added to the padding.
        ends = [pad + stride - 1 for pad, stride in zip(op.pads_end, op.strides)]
        value, ceil = node.add("Pad", value, [0, 0, *op.pads_begin, 0, 0, *ends]), None
        windows["pads"] = None
    return node.add(
        "AveragePool", value, kernel_shape=op.kernel_shape, count_include_pad=1 if include else None,
        ceil_mode=ceil, **windows,
    )  # fmt: skip


def _ceil_mode(op: Any) -> int | None:
    """Return 1 if the number of windows is rounded up. Raises NotInOnnx if a window may begin after the data."""
    if op.rounding_type == "floor" or op.auto_pad in ("same_upper", "same_lower"):
        return None
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(op.kernel_shape, op.dilations)]
    ends = op.pads_end if op.auto_pad == "explicit" else [0] * len(extents)
    may_begin_after = any(pad + stride > extent for pad, stride, extent in zip(ends, op.strides, extents))
    if may_begin_after and (op.rounding_type == "ceil" or not getattr(op, "exclude_pad", True)):
        raise NotInOnnx(f"rounding_type {op.rounding_type} and windows after the data")
    return 1


@emitter(ops.AdaptiveAvgPool, ops.AdaptiveMaxPool)
def adaptive_pool(node: NodeWriter) -> Sequence[str]:
    sizes, name = node.numbers(1), "Average" if isinstance(node.op, ops.AdaptiveAvgPool) else "Max"
    if all(size == 1 for size in sizes):
        return [node.add(f"Global{name}Pool", node.input(0))]
    lengths = node.static_shape(0, 2)
    if not any(length % size for length, size in zip(lengths, sizes)):
        window = [length // size for length, size in zip(lengths, sizes)]
        return [node.add(f"{name}Pool", node.input(0), kernel_shape=window, strides=window)]
    if name == "Max":
        raise NotInOnnx("an output_shape that does not divide the shape of the data")
    # Means of parts of different lengths: each spatial axis is moved to the end and multiplied with a matrix.
    value = node.input(0)
    for length, size in zip(lengths, sizes):
        value = node.transpose(value, [0, 1, *range(3, 2 + len(sizes)), 2])
        weights = np.zeros((length, size))
        for index in range(size):
            part = slice(index * length // size, -(-(index + 1) * length // size))
            weights[part, index] = 1 / (part.stop - part.start)
        value = node.add("MatMul", value, node.number(weights))
    return [value]
