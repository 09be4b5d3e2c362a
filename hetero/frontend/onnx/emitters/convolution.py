"""Convolution, transposed convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero import ops
from hetero.frontend.onnx.emitters.registry import emitter
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, NotInOnnx
from hetero.types import Type


def _windows(op: Any) -> dict[str, Any]:
    """Return the attributes of sliding windows, without those at their defaults."""
    explicit = op.auto_pad == "explicit"
    pads = [*op.pads_begin, *op.pads_end]
    if explicit and min(pads, default=0) < 0:
        raise NotInOnnx("negative pads")
    return {
        "strides": op.strides if any(stride != 1 for stride in op.strides) else None,
        "dilations": op.dilations if any(dilation != 1 for dilation in op.dilations or ()) else None,
        "pads": pads if explicit and any(pads) else None,
        "auto_pad": None if explicit else op.auto_pad.upper(),
    }


def _grouped(node: NodeWriter) -> tuple[Argument, int]:
    """Return filters ``[G, A, B, …]`` as ``[G·A, B, …]``, and the number of groups."""
    groups, *others = node.shape(1)
    if groups is None or None in others[1:]:
        raise NotInOnnx("filters of dynamic shape")
    each = -1 if others[0] is None else groups * others[0]
    return node.reshaped(1, [each, *(length for length in others[1:] if length is not None)]), groups


def _check_type(node: NodeWriter) -> None:
    if not node.kind(0).is_real():
        raise NotInOnnx(f"element type {node.kind(0)}")


@emitter(ops.Convolution)
def convolution(node: NodeWriter) -> str:
    _check_type(node)
    return node.add("Conv", *node.inputs, **_windows(node.op))


@emitter(ops.GroupConvolution)
def group_convolution(node: NodeWriter) -> str:
    _check_type(node)
    filters, groups = _grouped(node)
    return node.add("Conv", node.input(0), filters, group=groups, **_windows(node.op))


@emitter(ops.FusedConvolution)
def fused_convolution(node: NodeWriter) -> str:
    filters, groups = _grouped(node) if node.op.grouped else (node.input(1), None)
    result = node.add("Conv", node.input(0), filters, node.optional("bias"), group=groups, **_windows(node.op))
    return node.add("Clip", result, node.number(node.op.minimum), node.number(node.op.maximum))


@emitter(ops.ConvolutionBackpropData)
def transposed_convolution(node: NodeWriter) -> str:
    return _transposed(node, node.input(1), None)


@emitter(ops.GroupConvolutionBackpropData)
def transposed_group_convolution(node: NodeWriter) -> str:
    return _transposed(node, *_grouped(node))


def _transposed(node: NodeWriter, filters: Argument, groups: int | None) -> str:
    _check_type(node)
    op = node.op
    begin, end = op.pads_begin, op.pads_end
    if op.has_input("output_shape"):
        kernel = node.static_shape(1)[op.filter_axes :]
        begin, end = op.resolve_pads(node.static_shape(0)[2:], kernel, node.numbers(2))
    elif op.auto_pad != "explicit":
        begin = end = (0,) * len(op.strides)
    if min(begin, default=0) < 0:
        raise NotInOnnx("negative pads")
    # A negative pad at the end adds zeros, which ONNX calls output padding.
    padding = [padding + max(0, -pad) for padding, pad in zip(op.output_padding, end)]
    return node.add(
        "ConvTranspose", node.input(0), filters, strides=op.strides, dilations=op.dilations, group=groups,
        pads=[*begin, *(max(0, pad) for pad in end)], output_padding=padding if any(padding) else None,
    )  # fmt: skip


@emitter(ops.DeformableConvolution)
def deformable_convolution(node: NodeWriter) -> str:
    op = node.op
    if not op.bilinear_interpolation_pad:
        raise NotInOnnx("bilinear_interpolation_pad false")
    data, offsets, filters = node.inputs[:3]
    return node.add(
        "DeformConv", data, filters, offsets, None, node.optional("mask"), group=op.group,
        offset_group=op.deformable_group, **_windows(op),
    )  # fmt: skip


@emitter(ops.MaxPoolV1)
def max_pool_without_indices(node: NodeWriter) -> Sequence[str]:
    return [node.add("MaxPool", node.input(0), kernel_shape=node.op.kernel_shape, **_pooling(node))]


@emitter(ops.MaxPool, ops.MaxPoolV8)
def max_pool(node: NodeWriter) -> Sequence[str]:
    if not node.op.output(1).get_target_inputs():
        return max_pool_without_indices(node)
    largest, indices = node.add(
        "MaxPool", node.input(0), outputs=2, kernel_shape=node.op.kernel_shape, **_pooling(node)
    )
    axis = node.op.axis % node.rank(0)
    if axis:  # ONNX counts from the beginning of the data
        part = node.add("ReduceProd", node.lengths(node.input(0), range(axis, node.rank(0))), keepdims=0)
        indices = node.add("Mod", indices, part)
    return [largest, node.cast(indices, node.op.index_element_type, Type.i64)]


@emitter(ops.AvgPool, ops.AvgPoolV1, ops.AvgPoolV14)
def average_pool(node: NodeWriter) -> str:
    windows = _pooling(node)
    has_pads = windows["pads"] is not None or windows["auto_pad"] in ("SAME_UPPER", "SAME_LOWER")
    include = has_pads and not node.op.exclude_pad
    if include and windows["ceil_mode"]:
        raise NotInOnnx(f"padding that counts and rounding_type {node.op.rounding_type}")
    return node.add(
        "AveragePool", node.input(0), kernel_shape=node.op.kernel_shape, count_include_pad=int(include), **windows
    )


def _pooling(node: NodeWriter) -> dict[str, Any]:
    op = node.op
    windows = _windows(op) | {"ceil_mode": int(op.rounding_type != "floor" and op.auto_pad == "explicit")}
    if windows["ceil_mode"] and op.rounding_type == "ceil":
        # ONNX omits a last window that begins after the data, which is possible only with such a stride.
        extents = [(size - 1) * dilation + 1 for size, dilation in zip(op.kernel_shape, op.dilations or op.strides)]
        if any(pad + stride > extent for pad, stride, extent in zip(op.pads_end, op.strides, extents)):
            raise NotInOnnx("rounding_type ceil")
    return windows


@emitter(ops.AdaptiveAvgPool, ops.AdaptiveMaxPool)
def adaptive_pool(node: NodeWriter) -> Sequence[str]:
    """A pooling with a fixed window, if the output shape divides the input shape."""
    sizes, name = node.numbers(1), "Average" if isinstance(node.op, ops.AdaptiveAvgPool) else "Max"
    if all(size == 1 for size in sizes):
        return [node.add(f"Global{name}Pool", node.input(0))]
    lengths = node.static_shape(0)[2:]
    if any(length % size for length, size in zip(lengths, sizes)):
        raise NotInOnnx("an output_shape that does not divide the shape of the data")
    window = [length // size for length, size in zip(lengths, sizes)]
    return [node.add(f"{name}Pool", node.input(0), kernel_shape=window, strides=window)]
