"""XLA's dot product, convolution and padding over any axes: in StableHLO, and in TensorFlow's operators named Xla…"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetero import ops
from hetero.frontend.translation.values import int64, rank_of, reshape, scalar_like, transpose
from hetero.graph import Output
from hetero.system.errors import FrontendError


@dataclass(frozen=True)
class DotDimensions:
    """The axes of both operands of a dot product that are batches, and those that it sums over, in pairs."""

    lhs_batching_dimensions: Sequence[int]
    rhs_batching_dimensions: Sequence[int]
    lhs_contracting_dimensions: Sequence[int]
    rhs_contracting_dimensions: Sequence[int]


def dot_general(left: Output, right: Output, dimensions: DotDimensions) -> Output:
    """Batched gemm over any axes. The result is ``[batch axes…, rows of the left…, columns of the right…]``."""
    names = ("batching_dimensions", "contracting_dimensions")
    batch, contracted = (_axes(dimensions, f"lhs_{name}", left) for name in names)
    right_batch, right_contracted = (_axes(dimensions, f"rhs_{name}", right) for name in names)
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


def _axes(dimensions: DotDimensions, name: str, value: Output) -> list[int]:
    """Return the axes of a value in a field of the dimensions. Raises FrontendError if they are invalid."""
    axes, rank = list(getattr(dimensions, name)), rank_of(value)
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


@dataclass(frozen=True)
class ConvolutionSpec:
    """The axes and the window of a convolution. An empty list of numbers per spatial axis means the default.

    ``padding``: two numbers per spatial axis.
    """

    input_batch_dimension: int
    input_feature_dimension: int
    input_spatial_dimensions: Sequence[int]
    kernel_input_feature_dimension: int
    kernel_output_feature_dimension: int
    kernel_spatial_dimensions: Sequence[int]
    output_batch_dimension: int
    output_feature_dimension: int
    output_spatial_dimensions: Sequence[int]
    window_strides: Sequence[int] = ()
    padding: Sequence[int] = ()
    lhs_dilation: Sequence[int] = ()
    rhs_dilation: Sequence[int] = ()
    window_reversal: Sequence[bool] = ()
    feature_group_count: int = 1
    batch_group_count: int = 1

    def per_spatial_axis(self, name: str, default: int | None = None) -> Sequence[int]:
        """Return a field with one element per spatial axis. Raises FrontendError if it has another number."""
        elements, count = getattr(self, name), self.spatial_rank
        if default is not None and not elements:
            return [default] * count
        if len(elements) != count:
            raise FrontendError(f"{name} {list(elements)} must have {count} elements, one per spatial dimension")
        return elements

    @property
    def spatial_rank(self) -> int:
        return len(self.input_spatial_dimensions)


def convolution(data: Output, filters: Output, spec: ConvolutionSpec) -> Output:
    count = rank_of(data) - 2
    if spec.spatial_rank != count:
        axes = list(spec.input_spatial_dimensions)
        raise FrontendError(f"input_spatial_dimensions {axes} must have {count} elements, one per spatial dimension")
    kernel, output = (spec.per_spatial_axis(f"{name}_spatial_dimensions") for name in ("kernel", "output"))
    inputs = ("input_batch_dimension", "input_feature_dimension")
    data = _order_axes(data, spec, inputs, spec.input_spatial_dimensions)
    filters = _order_axes(filters, spec, ("kernel_output_feature_dimension", "kernel_input_feature_dimension"), kernel)
    reversals = spec.per_spatial_axis("window_reversal", 0)
    reversed_axes = [2 + axis for axis, is_reversed in enumerate(reversals) if is_reversed]
    if reversed_axes:
        filters = ops.Reverse(filters, int64(reversed_axes), "index").output(0)
    result = _convolve(spec, *_with_spatial_axis(data, filters, count))
    if not count:
        result = ops.Squeeze(result, int64([2])).output(0)
    order = [spec.output_batch_dimension, spec.output_feature_dimension, *output]
    return permute(result, np.argsort(order).tolist())


def _order_axes(value: Output, spec: ConvolutionSpec, names: Sequence[str], spatial: Sequence[int]) -> Output:
    """Transpose a value to the two axes named by fields, followed by the spatial axes."""
    order = [*(getattr(spec, name) for name in names), *spatial]
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


def _convolve(spec: ConvolutionSpec, data: Output, filters: Output) -> Output:
    """Convolve data ``[N, C, …]`` by filters ``[O, C / groups, …]``."""
    count = rank_of(data) - 2
    strides, data_dilations, dilations = (
        spec.per_spatial_axis(name, 1) or [1] for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    pads = list(spec.padding) or [0] * (2 * count)
    if len(pads) != 2 * count:
        raise FrontendError(f"padding {list(pads)} must have {2 * count} elements, two per spatial dimension")
    # Convolution has neither negative pads nor a dilation of the data: Pad does these.
    begin, end = pads[::2], pads[1::2]
    crop_begin, crop_end = ([0, 0, *(min(pad, 0) for pad in side)] for side in (begin, end))
    if any(pad < 0 for pad in pads) or any(dilation != 1 for dilation in data_dilations):
        interior = [0, 0, *(dilation - 1 for dilation in data_dilations)]
        data = pad_with_interior(data, scalar_like(data, 0).output(0), crop_begin, crop_end, interior)
    begin, end = ([max(pad, 0) for pad in side] for side in (begin, end))
    groups, batches = spec.feature_group_count, spec.batch_group_count
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


def pad_with_interior(
    value: Output, filler: Output, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> Output:
    """Pad by a scalar, on each axis before (``low``), after (``high``) and between elements (``interior``).

    Negative low and high pads crop. Raises FrontendError if the pads do not match the rank.
    """
    rank = rank_of(value)
    if not rank == len(low) == len(high) == len(interior):
        raise FrontendError(f"pads {list(low)}, {list(high)} and {list(interior)} must have {rank} elements each")
    if any(count < 0 for count in interior):
        raise FrontendError(f"interior padding must not be negative, but is {list(interior)}")
    # An empty axis has no interior.
    interior = [0 if length == 0 else count for length, count in zip(value.partial_shape, interior)]
    if any(interior):
        value = _pad_after_each(value, filler, interior)
        high = [count - added for count, added in zip(high, interior)]
    if not any(low) and not any(high):
        return value
    return ops.Pad(value, int64(low), int64(high), "constant", filler).output(0)


def _pad_after_each(value: Output, filler: Output, counts: Sequence[int]) -> Output:
    """Add fillers after each element of each axis: pad a new axis after it, then merge the two axes."""
    axes = [axis for axis, count in enumerate(counts) if count]
    pads = [pad for count in counts for pad in ((0, count) if count else (0,))]
    wide = ops.Unsqueeze(value, int64([axis + 1 + position for position, axis in enumerate(axes)]))
    padded = ops.Pad(wide, int64([0] * len(pads)), int64(pads), "constant", filler).output(0)
    shape = value.partial_shape
    if shape.is_static:
        lengths = [length * (count + 1) for length, count in zip(shape.to_shape(), counts)]
        return ops.Reshape(padded, int64(lengths), False).output(0)
    scaled = ops.Multiply(ops.ShapeOf(value), int64([count + 1 for count in counts]))
    return ops.Reshape(padded, scaled, False).output(0)


def permute(value: Output, order: Sequence[int]) -> Output:
    """Transpose a value unless the order of its axes stays the same."""
    return value if list(order) == sorted(order) else transpose(value, order)
