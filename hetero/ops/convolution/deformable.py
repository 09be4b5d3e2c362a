"""Deformable convolution: sampling positions are shifted by an input."""

from __future__ import annotations

import math

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.graph import Attribute, integers
from hetero.ops.checks import common_type, merge_dimensions, shape_of_rank
from hetero.ops.windows import WindowOp, auto_pad_choice, complete_window_attributes, resolve_pads, window_positions


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
