"""Convolutions and transposed convolutions over one to three spatial dimensions, and deformable convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, choice, integers
from hetero.ops.checks import check_type, common_type, is_number, merge_dimensions, shape_of_rank, shape_of_value
from hetero.ops.windows import (
    WindowOp,
    auto_pad_choice,
    complete_window_attributes,
    extent,
    resolve_pads,
    window_positions,
)


class AnyConvolution(WindowOp):
    """Base of all convolutions: data ``[N, C, spatial…]``, filters with ``filter_axes`` non-spatial dimensions.

    - ``output_shape``: an integer vector, the length of each spatial axis of the output. The cropping then follows from
      it.
    """

    filter_axes = 2

    def spatial_count(self) -> int | None:
        """Return the number of spatial dimensions; None if neither attributes nor shapes determine it."""
        data, filters = self.get_input_partial_shape(0), self.get_input_partial_shape(1)
        counts = {len(self.strides)} if self.strides else set()
        counts |= {len(data) - 2} if data.has_rank else set()
        counts |= {len(filters) - self.filter_axes} if filters.has_rank else set()
        if len(counts) > 1 or min(counts, default=1) < 1:
            self.fail(
                f"data {data}, filters {filters} and strides {list(self.strides)} "
                "do not agree on one or more spatial dimensions"
            )
        return counts.pop() if counts else None

    def ranked_shapes(self, count: int) -> tuple[PartialShape, PartialShape]:
        """Return the shapes of data and filters, with unknown dimensions if the rank is unknown."""
        return shape_of_rank(self, 0, count + 2), shape_of_rank(self, 1, count + self.filter_axes)

    def groups_of(self, data: PartialShape, filters: PartialShape, channels_each: Dimension) -> Dimension:
        """Return the number of groups, from the filters or from the channels of the data."""
        groups = filters[0] if self.filter_axes == 3 else Dimension(1)
        if groups.is_dynamic and data[1].is_static and channels_each.is_static and channels_each != 0:
            groups = Dimension(data[1].get_length() // channels_each.get_length())
        merge_dimensions(self, (data[1], groups * channels_each), "channels of data and filters")
        return groups


class ForwardConvolution(AnyConvolution):
    input_names: tuple[str, ...] = ("data", "filters")
    strides = Attribute(integers)
    pads_begin = Attribute(integers)
    pads_end = Attribute(integers)
    dilations = Attribute(integers)
    auto_pad = Attribute(auto_pad_choice, "EXPLICIT")
    resolve_pads = resolve_pads

    def result_type(self) -> Type:
        return common_type(self, (0, 1))

    def validate_and_infer_types(self) -> None:
        element_type, count = self.result_type(), self.spatial_count()
        if count is None:
            return self.set_output_type(0, element_type, PartialShape.dynamic())
        complete_window_attributes(self, count, "strides", "pads_begin", "pads_end", "dilations")
        data, filters = self.ranked_shapes(count)
        outputs_each, channels_each = filters[self.filter_axes - 2 : self.filter_axes]
        groups = self.groups_of(data, filters, channels_each)
        spatial = window_positions(self, data[2:], filters[self.filter_axes :], self.dilations)
        self.set_output_type(0, element_type, concatenate([data[0], groups * outputs_each], spatial))


class Convolution(ForwardConvolution, opset=1):
    """Convolution of data ``[N, C, spatial…]`` with filters ``[O, C, kernel…]`` to ``[N, O, spatial…]``."""


class GroupConvolution(ForwardConvolution, opset=1):
    """Grouped convolution.

    Data ``[N, G·C, spatial…]`` with filters ``[G, O, C, kernel…]`` to ``[N, G·O, spatial…]``.
    """

    filter_axes = 3


class FusedConvolution(ForwardConvolution):
    """A convolution plus a bias ``[O]``, clamped to ``minimum`` … ``maximum``. Made by a fusion pass for devices.

    ``grouped``: whether the filters have the shape of GroupConvolution's.
    """

    input_names = ("data", "filters", "bias?")
    grouped = Attribute(bool, False)
    minimum = Attribute(float, -math.inf)
    maximum = Attribute(float, math.inf)

    @property
    def filter_axes(self) -> int:  # type: ignore[override]  # the base has a constant
        return 3 if self.grouped else 2


class BinaryConvolution(ForwardConvolution, opset=1):
    """Convolution of binary data ``[N, C, H, W]`` with binary filters ``[O, C, height, width]`` to ``[N, O, H', W']``.

    Each output element is the number of equal pairs of elements minus the number of unequal pairs. ``pad_value`` is
    the value of the padding.

    - ``mode``: how elements are multiplied; xnor-popcount is the only mode.
    """

    parameter_order = (
        "data", "filters", "strides", "pads_begin", "pads_end", "dilations", "mode", "pad_value", "auto_pad",
    )  # fmt: skip
    mode = Attribute(choice("xnor-popcount"))
    pad_value = Attribute(float)

    def result_type(self) -> Type:
        check_type(self, (0,), is_number, "numbers")
        return self.get_input_element_type(0)

    def spatial_count(self) -> int:
        for index in (0, 1):
            shape_of_rank(self, index, 4)
        return 2


class BackwardConvolution(AnyConvolution):
    """Base of transposed convolutions: each element of the data adds a scaled copy of the filters to the output.

    - ``pads_begin``, ``pads_end``: how many elements of the full output are cropped at the start and at the end of each
      spatial axis, if auto_pad is explicit; None for 0 everywhere.
    - ``strides``: the distance in the output between the copies of the filters, on each spatial axis.
    - ``dilations``: the spacing of the elements of the filters; None for 1 everywhere.
    - ``output_padding``: how many elements are added to the end of each spatial axis; None for 0 everywhere.
    - ``auto_pad``: None for explicit. With an ``output_shape``, same_upper and same_lower divide what is cropped
      between both ends.
    """

    input_names = ("data", "filters", "output_shape?")
    shape_inputs = (2,)
    parameter_order = (
        "data", "filters", "strides", "output_shape", "pads_begin", "pads_end", "dilations", "auto_pad",
        "output_padding",
    )  # fmt: skip
    strides = Attribute(integers)
    pads_begin = Attribute(integers, None)
    pads_end = Attribute(integers, None)
    dilations = Attribute(integers, None)
    auto_pad = Attribute(auto_pad_choice, None)
    output_padding = Attribute(integers, None)

    def validate_and_infer_types(self) -> None:
        self.auto_pad = self.auto_pad or "explicit"
        element_type, count = common_type(self, (0, 1)), self.spatial_count()
        if count is None:
            return self.set_output_type(0, element_type, PartialShape.dynamic())
        complete_window_attributes(self, count, "strides", "pads_begin", "pads_end", "dilations", "output_padding")
        data, filters = self.ranked_shapes(count)
        channels_each, outputs_each = filters[self.filter_axes - 2 : self.filter_axes]
        groups = self.groups_of(data, filters, channels_each)
        spatial = self._spatial_shape(count, data[2:], filters[self.filter_axes :])
        self.set_output_type(0, element_type, concatenate([data[0], groups * outputs_each], spatial))

    def _spatial_shape(self, count: int, lengths: PartialShape, kernel: PartialShape) -> PartialShape:
        if self.has_input("output_shape"):
            shape = shape_of_value(self.input_value(2))
            if shape.has_rank and len(shape) != count:
                self.fail(f"output_shape has {len(shape)} values for {count} spatial dimensions")
            return shape if shape.has_rank else PartialShape.dynamic(count)
        full = self._full_lengths(lengths, kernel)
        if self.auto_pad == "explicit":
            full = [f - (b + e) for f, b, e in zip(full, self.pads_begin, self.pads_end)]
        return PartialShape(full)

    def _full_lengths(self, lengths: PartialShape, kernel: PartialShape) -> list[Dimension]:
        """Return the lengths of the output before cropping: ``stride·(length - 1) + extent + output_padding``."""
        return [
            (length - 1) * stride + extent(size, dilation) + padding
            for length, size, stride, dilation, padding in zip(
                lengths, kernel, self.strides, self.dilations, self.output_padding
            )
        ]

    def resolve_pads(
        self, lengths: Sequence[int], kernel: Sequence[int], output_shape: Sequence[int] | None
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return how much to crop at the start and at the end of each spatial axis; a negative number adds zeros.

        As in OpenVINO, the difference between the full output and ``output_shape`` is divided between both ends only
        if auto_pad is same_upper or same_lower.
        """
        begin = self.pads_begin if self.auto_pad == "explicit" else (0,) * len(lengths)
        if output_shape is None:
            return begin, self.pads_end if self.auto_pad == "explicit" else begin
        full = PartialShape(self._full_lengths(PartialShape(lengths), PartialShape(kernel))).to_shape()
        totals = [f - int(length) for f, length in zip(full, output_shape)]
        if self.auto_pad == "same_upper":
            begin = tuple(max(total + 1, 0) // 2 for total in totals)
        elif self.auto_pad == "same_lower":
            begin = tuple(max(total, 0) // 2 for total in totals)
        return begin, tuple(total - b for total, b in zip(totals, begin))


class ConvolutionBackpropData(BackwardConvolution, opset=1):
    """Transposed convolution of data ``[N, C, spatial…]`` with filters ``[C, O, kernel…]`` to ``[N, O, spatial…]``."""


class GroupConvolutionBackpropData(BackwardConvolution, opset=1):
    """Grouped transposed convolution.

    Data ``[N, G·C, spatial…]`` with filters ``[G, C, O, kernel…]`` to ``[N, G·O, spatial…]``.
    """

    filter_axes = 3
    auto_pad = Attribute(auto_pad_choice, "EXPLICIT")


# All convolutions except the binary one and hetero's fused one.
CONVOLUTIONS = (Convolution, GroupConvolution, ConvolutionBackpropData, GroupConvolutionBackpropData)


class DeformableConvolutionV1(WindowOp, type_name="DeformableConvolution", opset=1):
    """Deformable convolution of data ``[N, C, H, W]`` with filters ``[O, C / group, height, width]``.

    The offsets ``[N, 2·deformable_group·height·width, positions…]`` shift each filter element along H and W, for each
    position and each of ``deformable_group`` groups of channels; the data is sampled bilinearly. The output is
    ``[N, O, positions…]``.

    - ``deformable_values``: the offsets.
    """

    input_names: tuple[str, ...] = ("data", "deformable_values", "filters")
    strides = Attribute(integers)
    pads_begin = Attribute(integers)
    pads_end = Attribute(integers)
    dilations = Attribute(integers)
    auto_pad = Attribute(auto_pad_choice, "EXPLICIT")
    group = Attribute(int, 1)
    deformable_group = Attribute(int, 1)
    bilinear_interpolation_pad = False
    resolve_pads = resolve_pads

    def validate_and_infer_types(self) -> None:
        complete_window_attributes(self, 2, "strides", "pads_begin", "pads_end", "dilations")
        if min(self.group, self.deformable_group) < 1:
            self.fail(f"group {self.group} and deformable_group {self.deformable_group} must be positive")
        element_type = common_type(self, range(self.get_input_size()))
        shapes = [shape_of_rank(self, index, 4) for index in range(self.get_input_size())]
        data, offsets, filters = shapes[:3]
        per_position = [offsets, *shapes[3:]]  # offsets and optional mask
        self._check_groups(data[1], filters)
        for shape, components in zip(per_position, (2, 1)):
            self._check_channels(shape, filters, components)
        batches = [data[0], *(shape[0] for shape in per_position)]
        batch = merge_dimensions(self, batches, "the batches of data and offsets")
        spatial = window_positions(self, data[2:], filters[2:], self.dilations)
        for axis, positions in enumerate(spatial):
            lengths = [positions, *(shape[2 + axis] for shape in per_position)]
            merge_dimensions(self, lengths, f"the positions and the offsets on spatial axis {axis}")
        self.set_output_type(0, element_type, concatenate([batch, filters[0]], spatial))

    def _check_groups(self, channels: Dimension, filters: PartialShape) -> None:
        merge_dimensions(self, (channels, filters[1] * self.group), "channels of data and filters")
        for length, groups, what in (
            (filters[0], self.group, "filters"),
            (channels, self.group, "channels of data"),
            (channels, self.deformable_group, "channels of data"),
        ):
            if length.is_static and length.get_length() % groups:
                self.fail(f"the {length} {what} cannot be divided into {groups} groups")

    def _check_channels(self, shape: PartialShape, filters: PartialShape, components: int) -> None:
        if all(length.is_static for length in filters[2:]):
            needed = components * self.deformable_group * math.prod(filters[2:].to_shape())
            if not shape[1].compatible(needed):
                self.fail(f"{'offsets' if components == 2 else 'mask'} {shape} must have {needed} channels")


class DeformableConvolution(DeformableConvolutionV1, opset=8):
    """DeformableConvolution-1 with a weight for each sample, ``mask [N, deformable_group·height·width, positions…]``.

    With ``bilinear_interpolation_pad``, samples beyond the border are interpolated with zeros around the data.
    """

    input_names = ("data", "offsets", "filters", "mask?")
    parameter_order = (
        "data", "offsets", "filters", "strides", "pads_begin", "pads_end", "dilations", "mask", "auto_pad", "group",
        "deformable_group", "bilinear_interpolation_pad",
    )  # fmt: skip
    bilinear_interpolation_pad = Attribute(bool, False)
