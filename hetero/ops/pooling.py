"""Pooling over one to three spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph import Attribute, Op, choice, integers
from hetero.ops.checks import normalize_axis
from hetero.ops.windows import auto_pad_choice, complete_window_attributes, resolve_pads, window_positions
from hetero.shape import PartialShape, concatenate
from hetero.types import Type

rounding_choice = choice("floor", "ceil")


class _Pooling(Op):
    """What poolings share: data ``[N, C, spatial…]`` keeps N and C."""

    def pooled_shape(self) -> PartialShape:
        count = len(self.kernel_shape)
        if count < 1:
            self.fail("kernel_shape must have a value for each spatial dimension, but is empty")
        complete_window_attributes(self, count, "strides", "pads_begin", "pads_end", "dilations")
        self.auto_pad = self.auto_pad or "explicit"
        data = self.get_input_partial_shape(0)
        if not data.has_rank:
            data = PartialShape.dynamic(count + 2)
        if len(data) != count + 2:
            self.fail(f"data {data} must have two dimensions more than kernel_shape {list(self.kernel_shape)}")
        ceil = self.rounding_type == "ceil"
        return concatenate(data[:2], window_positions(self, data[2:], self.kernel_shape, self.dilations, ceil))

    def resolve_pads(self, lengths: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The padding in front and behind on each spatial axis, for data of these lengths."""
        return resolve_pads(self, lengths, self.kernel_shape, self.dilations)


class MaxPool(_Pooling, opset=8):
    """The largest value in each window, and its index in the data flattened from ``axis`` on."""

    inputs = ("data",)
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


class AvgPool(_Pooling, opset=1):
    """The mean of each window; padding counts as zeros, or not at all with ``exclude_pad``."""

    inputs = ("data_batch",)
    strides = Attribute(integers)
    pads_begin = Attribute(integers)
    pads_end = Attribute(integers)
    kernel_shape = Attribute(integers, ir="kernel")
    exclude_pad = Attribute(bool, ir="exclude-pad")
    rounding_type = Attribute(rounding_choice, "floor")
    auto_pad = Attribute(auto_pad_choice, None)

    @property
    def dilations(self) -> tuple[int, ...]:
        return (1,) * len(self.kernel_shape)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.pooled_shape())
