"""StableHLO's DOT_GENERAL and CONVOLUTION."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import converted
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.movement import pad_with_interior
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, reshape, scalar_like, transpose
from hetero.graph import Output


@translator("STABLEHLO_DOT_GENERAL")
@computes_in_float
def dot_general(node: TfliteNodeContext) -> Translation:
    """``[batch…, rows of the left…, columns of the right…]``: the other dimensions are summed over."""
    left, right = _operands(node)
    names = ("batching_dimensions", "contracting_dimensions")
    batch, summed = (_places(node, f"lhs_{name}", left) for name in names)
    right_batch, right_summed = (_places(node, f"rhs_{name}", right) for name in names)
    if len(batch) != len(right_batch) or len(summed) != len(right_summed):
        raise FrontendError(f"its operands have other numbers of dimensions {names[0]} or {names[1]}")
    rows = [axis for axis in range(rank_of(left)) if axis not in (*batch, *summed)]
    columns = [axis for axis in range(rank_of(right)) if axis not in (*right_batch, *right_summed)]
    first, first_swapped = _as_matrices(left, batch, rows, summed)
    second, second_swapped = _as_matrices(right, right_batch, right_summed, columns)
    product = ops.MatMul(first, second, first_swapped, second_swapped).output(0)
    if len(rows) == len(columns) == 1:
        return product
    return _reshaped(product, [(left, [axis]) for axis in (*batch, *rows)] + [(right, [axis]) for axis in columns])


def _operands(node: TfliteNodeContext) -> tuple[Output, Output]:
    """Both operands, of integers in the type of the result, which may be wider."""
    left, right = node.get_input(0), node.get_input(1)
    kind = node.output_tensor(0).element_type
    if not left.element_type.is_integral() or kind is None:
        return left, right
    return converted(left, kind), converted(right, kind)


def _places(node: TfliteNodeContext, name: str, value: Output) -> list[int]:
    places, rank = list(node.get_attribute(name)), rank_of(value)
    if len(set(places)) != len(places) or any(not 0 <= place < rank for place in places):
        raise FrontendError(f"{name} {places} are not dimensions of {value.partial_shape}")
    return places


def _as_matrices(
    value: Output, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> tuple[Output, bool]:  # fmt: skip
    """``[batch…, rows, columns]``, and whether these two are swapped, which spares a Transpose."""
    swapped = [*batch, *columns, *rows] == list(range(rank_of(value))) != [*batch, *rows, *columns]
    groups = [columns, rows] if swapped else [rows, columns]
    order = [*batch, *groups[0], *groups[1]]
    moved = value if order == sorted(order) else transpose(value, order)
    if len(rows) != 1 or len(columns) != 1:
        moved = _reshaped(
            moved, [(value, group) for group in ([axis] for axis in batch)] + [(value, g) for g in groups]
        )
    return moved, swapped


def _reshaped(value: Output, lengths: Sequence[tuple[Output, Sequence[int]]]) -> Output:
    """The value in a shape, of which each length is the product of those of axes of some value."""
    known = [_known_product(source, axes) for source, axes in lengths]
    if known.count(None) <= 1 and 0 not in known:
        return reshape(value, [-1 if length is None else length for length in known])
    parts = [
        ops.ReduceProd(ops.Gather(ops.ShapeOf(source), int64(axes), int64(0)), int64([0]), True)
        for source, axes in lengths
    ]
    return ops.Reshape(value, ops.Concat(parts, 0), False).output(0)


def _known_product(source: Output, axes: Sequence[int]) -> int | None:
    lengths = [source.partial_shape[axis] for axis in axes]
    return int(np.prod([d.get_length() for d in lengths], dtype=object)) if all(d.is_static for d in lengths) else None


@translator("STABLEHLO_CONVOLUTION")
@computes_in_float
def stablehlo_convolution(node: TfliteNodeContext) -> Translation:
    data, filters = _operands(node)
    count = rank_of(data) - 2
    spatial = ("input_spatial_dimensions", "kernel_spatial_dimensions", "output_spatial_dimensions")
    axes = [_for_spatial(node, name, count) for name in spatial]
    data = _ordered(data, node, ("input_batch_dimension", "input_feature_dimension"), axes[0])
    filters = _ordered(filters, node, ("kernel_output_feature_dimension", "kernel_input_feature_dimension"), axes[1])
    turned = [2 + axis for axis, turn in enumerate(_for_spatial(node, "window_reversal", count, False)) if turn]
    if turned:
        filters = ops.Reverse(filters, int64(turned), "index").output(0)
    made = _convolved(node, *_with_spatial_axis(data, filters, count), max(count, 1))
    if not count:
        made = ops.Squeeze(made, int64([2])).output(0)
    order = [node.get_attribute(f"output_{name}_dimension") for name in ("batch", "feature")] + list(axes[2])
    return transpose(made, np.argsort(order).tolist()) if order != sorted(order) else made


def _for_spatial(node: TfliteNodeContext, name: str, count: int, default: int | None = None) -> Sequence[int]:
    """A number for each spatial axis; the default stands for none at all."""
    numbers = node.get_attribute(name) or ([default] * count if default is not None else [])
    if len(numbers) != count:
        raise FrontendError(f"{name} {list(numbers)} are not of {count} spatial dimensions")
    return numbers


def _ordered(value: Output, node: TfliteNodeContext, names: Sequence[str], spatial: Sequence[int]) -> Output:
    """The value with two named axes first and the spatial ones behind."""
    order = [*(node.get_attribute(name) for name in names), *spatial]
    if sorted(order) != list(range(rank_of(value))):
        raise FrontendError(
            f"{' and '.join(names)} and spatial ones, {order}, are not the axes of {value.partial_shape}"
        )
    return value if order == sorted(order) else transpose(value, order)


def _with_spatial_axis(data: Output, filters: Output, count: int) -> tuple[Output, Output]:
    if count:
        return data, filters
    return ops.Unsqueeze(data, int64([2])).output(0), ops.Unsqueeze(filters, int64([2])).output(0)


def _convolved(node: TfliteNodeContext, data: Output, filters: Output, count: int) -> Output:
    """Data ``[N, C, …]`` and filters ``[O, C / groups, …]``."""
    spatial = rank_of(node.get_input(0)) - 2
    steps, spread, dilations = (
        _for_spatial(node, name, spatial, 1) or [1] for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    pads = node.get_attribute("padding") or [0] * (2 * count)
    if len(pads) != 2 * count:
        raise FrontendError(f"padding {list(pads)} is not of {count} spatial dimensions")
    # Convolutions add zeros around the data, but neither cut off nor add between elements.
    begin, end = pads[::2], pads[1::2]
    cut = [[0, 0, *(min(pad, 0) for pad in side)] for side in (begin, end)]
    if any(pad < 0 for pad in pads) or any(step != 1 for step in spread):
        data = pad_with_interior(data, scalar_like(data, 0).output(0), *cut, [0, 0, *(step - 1 for step in spread)])
    begin, end = ([max(pad, 0) for pad in side] for side in (begin, end))
    groups, batches = node.get_attribute("feature_group_count", 1), node.get_attribute("batch_group_count", 1)
    if batches > 1:
        data = _batches_as_channels(data, batches)
    groups = max(groups, batches, 1)
    if groups == 1:
        return ops.Convolution(data, filters, steps, begin, end, dilations).output(0)
    outputs, *others = filters.partial_shape.to_shape()
    if outputs % groups:
        raise FrontendError(f"{outputs} filters cannot be those of {groups} groups")
    filters = reshape(filters, (groups, outputs // groups, *others))
    return ops.GroupConvolution(data, filters, steps, begin, end, dilations).output(0)


def _batches_as_channels(data: Output, groups: int) -> Output:
    """``[groups · N, C, …]`` as ``[N, groups · C, …]``."""
    count, channels, *lengths = data.partial_shape.to_shape()
    if count % groups:
        raise FrontendError(f"a batch of {count} cannot be divided into {groups} groups")
    apart = reshape(data, (groups, count // groups, channels, *lengths))
    apart = transpose(apart, (1, 0, *range(2, rank_of(apart))))
    return reshape(apart, (count // groups, groups * channels, *lengths))
