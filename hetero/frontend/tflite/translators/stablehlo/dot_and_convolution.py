"""StableHLO DOT_GENERAL and CONVOLUTION."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.movement import pad_with_interior, permute
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, reshape, scalar_like, transpose
from hetero.graph import Output


@translator("STABLEHLO_DOT_GENERAL")
@computes_in_float
def dot_general(node: TfliteNodeContext) -> Translation:
    """Batched gemm over any axes. The result is ``[batch axes…, rows of the left…, columns of the right…]``."""
    left, right = _operands(node)
    names = ("batching_dimensions", "contracting_dimensions")
    batch, contracted = (_axes(node, f"lhs_{name}", left) for name in names)
    right_batch, right_contracted = (_axes(node, f"rhs_{name}", right) for name in names)
    if len(batch) != len(right_batch) or len(contracted) != len(right_contracted):
        raise FrontendError(f"its operands have different numbers of {names[0]} or {names[1]}")
    rows = [axis for axis in range(rank_of(left)) if axis not in (*batch, *contracted)]
    columns = [axis for axis in range(rank_of(right)) if axis not in (*right_batch, *right_contracted)]
    a, transpose_a = _as_matrices(left, batch, rows, contracted)
    b, transpose_b = _as_matrices(right, right_batch, right_contracted, columns)
    product = ops.MatMul(a, b, transpose_a, transpose_b).output(0)
    if len(rows) == len(columns) == 1:
        return product
    return _reshape(product, [(left, [axis]) for axis in (*batch, *rows)] + [(right, [axis]) for axis in columns])


def _operands(node: TfliteNodeContext) -> tuple[Output, Output]:
    """Return both operands; integers are converted to the result's type, which may be wider."""
    left, right = node.get_input(0), node.get_input(1)
    kind = node.output_tensor(0).element_type
    if not left.element_type.is_integer() or kind.is_dynamic():
        return left, right
    return convert_to(left, kind), convert_to(right, kind)


def _axes(node: TfliteNodeContext, name: str, value: Output) -> list[int]:
    """Return an attribute that is a list of axes of a value. Raises FrontendError if it is not."""
    axes, rank = list(node.get_attribute(name)), rank_of(value)
    if len(set(axes)) != len(axes) or any(not 0 <= axis < rank for axis in axes):
        raise FrontendError(f"{name} {axes} must be different axes of {value.partial_shape}")
    return axes


def _as_matrices(
    value: Output, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> tuple[Output, bool]:  # fmt: skip
    """Return the value as ``[batch…, rows, columns]``, and whether the two are swapped, which saves a Transpose."""
    swapped = [*batch, *columns, *rows] == list(range(rank_of(value))) != [*batch, *rows, *columns]
    groups = [columns, rows] if swapped else [rows, columns]
    matrices = permute(value, [*batch, *groups[0], *groups[1]])
    if len(rows) != 1 or len(columns) != 1:
        matrices = _reshape(matrices, [(value, [axis]) for axis in batch] + [(value, group) for group in groups])
    return matrices, swapped


def _reshape(value: Output, dimensions: Sequence[tuple[Output, Sequence[int]]]) -> Output:
    """Reshape a value. Each dimension, (source, axes), is the product of the lengths of these axes of the source."""
    known = [_known_product(source, axes) for source, axes in dimensions]
    if known.count(None) <= 1 and 0 not in known:
        return reshape(value, [-1 if length is None else length for length in known])
    lengths = [
        ops.ReduceProd(ops.Gather(ops.ShapeOf(source), int64(axes), int64(0)), int64([0]), True)
        for source, axes in dimensions
    ]
    return ops.Reshape(value, ops.Concat(lengths, 0), False).output(0)


def _known_product(source: Output, axes: Sequence[int]) -> int | None:
    """Return the product of the lengths of axes, None if one is dynamic."""
    lengths = [source.partial_shape[axis] for axis in axes]
    return int(np.prod([d.get_length() for d in lengths], dtype=object)) if all(d.is_static for d in lengths) else None


@translator("STABLEHLO_CONVOLUTION")
@computes_in_float
def stablehlo_convolution(node: TfliteNodeContext) -> Translation:
    data, filters = _operands(node)
    count = rank_of(data) - 2
    spatial = ("input_spatial_dimensions", "kernel_spatial_dimensions", "output_spatial_dimensions")
    axes = [_per_spatial_axis(node, name, count) for name in spatial]
    data = _order_axes(data, node, ("input_batch_dimension", "input_feature_dimension"), axes[0])
    filters = _order_axes(filters, node, ("kernel_output_feature_dimension", "kernel_input_feature_dimension"), axes[1])
    reversals = _per_spatial_axis(node, "window_reversal", count, False)
    reversed_axes = [2 + axis for axis, is_reversed in enumerate(reversals) if is_reversed]
    if reversed_axes:
        filters = ops.Reverse(filters, int64(reversed_axes), "index").output(0)
    result = _convolve(node, *_with_spatial_axis(data, filters, count), max(count, 1))
    if not count:
        result = ops.Squeeze(result, int64([2])).output(0)
    order = [node.get_attribute(f"output_{name}_dimension") for name in ("batch", "feature")] + list(axes[2])
    return permute(result, np.argsort(order).tolist())


def _per_spatial_axis(node: TfliteNodeContext, name: str, count: int, default: int | None = None) -> Sequence[int]:
    """Return an attribute with one element per spatial axis; the default replaces an empty attribute."""
    elements = node.get_attribute(name) or ([default] * count if default is not None else [])
    if len(elements) != count:
        raise FrontendError(f"{name} {list(elements)} must have {count} elements, one per spatial dimension")
    return elements


def _order_axes(value: Output, node: TfliteNodeContext, names: Sequence[str], spatial: Sequence[int]) -> Output:
    """Transpose a value to the two axes named by attributes, followed by the spatial axes."""
    order = [*(node.get_attribute(name) for name in names), *spatial]
    if sorted(order) != list(range(rank_of(value))):
        raise FrontendError(
            f"{' and '.join(names)} with the spatial dimensions, {order}, must be the axes of {value.partial_shape}"
        )
    return permute(value, order)


def _with_spatial_axis(data: Output, filters: Output, count: int) -> tuple[Output, Output]:
    """Add a spatial axis of length 1 if there is none."""
    if count:
        return data, filters
    return ops.Unsqueeze(data, int64([2])).output(0), ops.Unsqueeze(filters, int64([2])).output(0)


def _convolve(node: TfliteNodeContext, data: Output, filters: Output, count: int) -> Output:
    """Convolve data ``[N, C, …]`` by filters ``[O, C / groups, …]`` over ``count`` spatial axes."""
    spatial = rank_of(node.get_input(0)) - 2
    strides, data_dilations, dilations = (
        _per_spatial_axis(node, name, spatial, 1) or [1] for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    pads = node.get_attribute("padding") or [0] * (2 * count)
    if len(pads) != 2 * count:
        raise FrontendError(f"padding {list(pads)} must have {2 * count} elements, two per spatial dimension")
    # Convolution has neither negative pads nor a dilation of the data: Pad does these.
    begin, end = pads[::2], pads[1::2]
    crop_begin, crop_end = ([0, 0, *(min(pad, 0) for pad in side)] for side in (begin, end))
    if any(pad < 0 for pad in pads) or any(dilation != 1 for dilation in data_dilations):
        interior = [0, 0, *(dilation - 1 for dilation in data_dilations)]
        data = pad_with_interior(data, scalar_like(data, 0).output(0), crop_begin, crop_end, interior)
    begin, end = ([max(pad, 0) for pad in side] for side in (begin, end))
    groups, batches = node.get_attribute("feature_group_count", 1), node.get_attribute("batch_group_count", 1)
    if batches > 1:
        data = _batches_as_channels(data, batches)
    groups = max(groups, batches, 1)
    if groups == 1:
        return ops.Convolution(data, filters, strides, begin, end, dilations).output(0)
    outputs, *others = filters.partial_shape.to_shape()
    if outputs % groups:
        raise FrontendError(f"{outputs} filters cannot be divided into {groups} groups")
    filters = reshape(filters, (groups, outputs // groups, *others))
    return ops.GroupConvolution(data, filters, strides, begin, end, dilations).output(0)


def _batches_as_channels(data: Output, groups: int) -> Output:
    """Convert ``[groups · N, C, …]`` to ``[N, groups · C, …]``."""
    count, channels, *lengths = data.partial_shape.to_shape()
    if count % groups:
        raise FrontendError(f"a batch of {count} cannot be divided into {groups} groups")
    grouped = reshape(data, (groups, count // groups, channels, *lengths))
    grouped = transpose(grouped, (1, 0, *range(2, rank_of(grouped))))
    return reshape(grouped, (count // groups, groups * channels, *lengths))
