"""Pooling over one to three spatial dimensions, with a given window size or adaptively to a given output size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero.core.shape import PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, integers
from hetero.ops.checks import check_type, is_index, normalize_axis, shape_of_rank, shape_of_value
from hetero.ops.windows import (
    WindowOp,
    auto_pad_choice,
    complete_window_attributes,
    resolve_pads,
    rounding_choice,
    torch_rounding_choice,
    window_positions,
)


class WindowPooling(WindowOp):
    """Base of poolings with a window: data ``[N, C, spatial…]`` to ``[N, C, positions…]``.

    - ``kernel_shape``: the number of elements of the window on each spatial axis.
    - ``rounding_type``: whether the number of positions is rounded down (floor) or up.
    - ``index_element_type``: i32 or i64, the element type of the indices.
    - ``data_batch``: ``[N, C, spatial…]``.
    """

    kernel_shape: Any
    rounding_type: Any

    @property
    def dilations(self) -> tuple[int, ...]:
        """The spacing of the elements of a window; newer versions have it as an attribute."""
        return (1,) * len(self.kernel_shape)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.pooled_shape())

    def pooled_shape(self) -> PartialShape:
        count = len(self.kernel_shape)
        if count < 1:
            self.fail("kernel_shape must have a value for each spatial dimension, but is empty")
        complete_window_attributes(self, count, "strides", "pads_begin", "pads_end", "dilations")
        self.auto_pad = self.auto_pad or "explicit"
        data = shape_of_rank(self, 0, count + 2)
        return concatenate(data[:2], self.positions(data[2:]))

    def positions(self, lengths: PartialShape) -> PartialShape:
        """Return the number of window positions on each spatial axis, for data of these lengths."""
        return PartialShape(window_positions(self, lengths, self.kernel_shape, self.dilations, self.rounding_type))

    def resolve_pads(self, lengths: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the padding before and after the data on each spatial axis, for data of these lengths."""
        return resolve_pads(self, lengths, self.kernel_shape)


class MaxPoolV1(WindowPooling, type_name="MaxPool", opset=1):
    """Maximum of each window."""

    input_names = ("data",)
    strides = Attribute(integers)
    pads_begin = Attribute(integers)
    pads_end = Attribute(integers)
    kernel_shape = Attribute(integers, ir="kernel")
    rounding_type = Attribute(rounding_choice, "floor")
    auto_pad = Attribute(auto_pad_choice, None)


class MaxPoolV8(WindowPooling, type_name="MaxPool", opset=8):
    """Maximum of each window, and its index in the data flattened from ``axis`` on, as ``index_element_type``.

    - ``axis``: the first axis of the data that the indices count, which may be negative.
    """

    input_names = ("data",)
    output_size = 2
    strides = Attribute(integers)
    dilations = Attribute(integers)
    pads_begin = Attribute(integers)
    pads_end = Attribute(integers)
    kernel_shape = Attribute(integers, ir="kernel")
    rounding_type = Attribute(rounding_choice, "floor")
    auto_pad = Attribute(auto_pad_choice, None)
    index_element_type = Attribute(Type, "i64")
    axis = Attribute(int, 0)

    def validate_and_infer_types(self) -> None:
        data = self.get_input_partial_shape(0)
        if data.has_rank:
            normalize_axis(self, self.axis, len(data))
        shape = self.pooled_shape()
        self.set_output_type(0, self.get_input_element_type(0), shape)
        self.set_output_type(1, self.index_element_type, shape)


class MaxPool(MaxPoolV8, opset=14):
    """MaxPool-8 with the rounding type ceil_torch, of PyTorch and ONNX: no window starts after the end of the data."""

    rounding_type = Attribute(torch_rounding_choice, "floor")


class AvgPoolV1(WindowPooling, type_name="AvgPool", opset=1):
    """Mean of each window. Padding counts as zeros, or is left out of the mean if ``exclude_pad`` is set."""

    input_names = ("data_batch",)
    strides = Attribute(integers)
    pads_begin = Attribute(integers)
    pads_end = Attribute(integers)
    kernel_shape = Attribute(integers, ir="kernel")
    exclude_pad = Attribute(bool, ir="exclude-pad")
    rounding_type = Attribute(rounding_choice, "floor")
    auto_pad = Attribute(auto_pad_choice, None)


class AvgPoolV14(AvgPoolV1, type_name="AvgPool", opset=14):
    """AvgPool-1 with the rounding type ceil_torch, of PyTorch and ONNX: no window starts after the end of the data."""

    rounding_type = Attribute(torch_rounding_choice, "floor")


class AvgPool(AvgPoolV14, opset=16):
    """AvgPool-14 with dilations."""

    dilations = Attribute(integers, None)


class _AdaptivePooling(Op):
    """Base of adaptive poolings: data ``[N, C, spatial…]`` to ``[N, C, *output_shape]``.

    Each spatial axis is divided into ``output_shape`` (i32 or i64) parts, which may overlap by one element.

    - ``output_shape``: an integer vector, the length of each spatial axis of the output.
    """

    input_names = ("data", "output_shape")
    shape_inputs = (1,)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.pooled_shape())

    def pooled_shape(self) -> PartialShape:
        check_type(self, (1,), is_index, "i32 or i64")
        data, spatial = self.get_input_partial_shape(0), shape_of_value(self.input_value(1))
        if data.has_rank and len(data) not in (3, 4, 5):
            self.fail(f"data must have one to three spatial dimensions, but is {data}")
        if data.has_rank and spatial.has_rank and len(spatial) != len(data) - 2:
            self.fail(f"output_shape has {len(spatial)} values for {len(data) - 2} spatial dimensions")
        if not data.has_rank:
            return concatenate(PartialShape.dynamic(2), spatial) if spatial.has_rank else PartialShape.dynamic()
        return concatenate(data[:2], spatial if spatial.has_rank else PartialShape.dynamic(len(data) - 2))


class AdaptiveAvgPool(_AdaptivePooling, opset=8):
    """Mean of each part."""


class AdaptiveMaxPool(_AdaptivePooling, opset=8):
    """Maximum of each part, and its index among the spatial elements of its channel.

    - ``index_element_type``: i32 or i64, the element type of the indices.
    """

    output_size = 2
    index_element_type = Attribute(Type, "i64")

    def validate_and_infer_types(self) -> None:
        shape = self.pooled_shape()
        self.set_output_type(0, self.get_input_element_type(0), shape)
        self.set_output_type(1, self.index_element_type, shape)
