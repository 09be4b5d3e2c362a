"""The layouts of images: channels-last, TensorFlow's default, and channels-first, which operations compute in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.translation.values import channels_last, channels_second
from hetero.graph import Node, Output, as_output
from hetero.system.errors import FrontendError


class ImageLayout(NamedTuple):
    """The layout of a node's images."""

    is_channels_last: bool

    @classmethod
    def of(cls, node: TensorflowNodeContext) -> ImageLayout:
        """Return the layout in ``data_format``. Raises FrontendError for one that is not supported."""
        name = node.get_attribute("data_format", "NHWC")
        if name not in ("NHWC", "NDHWC", "NCHW", "NCDHW", "NWC", "NCW"):
            raise FrontendError(f"the data format {name} is not supported")
        return cls(name.endswith("C"))

    def to_channels_second(self, value: Output) -> Output:
        return channels_second(value) if self.is_channels_last else value

    def from_channels_second(self, value: Output | Node) -> Output:
        return channels_last(value) if self.is_channels_last else as_output(value)

    def spatial(self, numbers: Sequence[int]) -> list[int]:
        """Return the numbers of the spatial axes out of one for each axis, such as strides. Raises FrontendError."""
        numbers = list(numbers)
        others = [numbers[0], numbers[-1 if self.is_channels_last else 1]] if len(numbers) > 2 else []
        if others != [1, 1]:
            raise FrontendError(f"strides, dilations and windows {numbers} must be 1 along the batch and the channels")
        return numbers[1:-1] if self.is_channels_last else numbers[2:]


class Padding(NamedTuple):
    """The padding of the spatial axes, in the terms of convolutions and pooling."""

    auto_pad: str
    begin: list[int]
    end: list[int]

    @classmethod
    def of(cls, node: TensorflowNodeContext, layout: ImageLayout, count: int) -> Padding:
        """Return the padding of a node with ``count`` spatial axes. Raises FrontendError if it is invalid."""
        kind = node.get_attribute("padding")
        if kind == "EXPLICIT":
            pads = node.get_attribute("explicit_paddings")
            if len(pads) != 2 * count + 4:
                raise FrontendError(f"explicit_paddings has {len(pads)} numbers for {count} spatial axes")
            first = 2 if layout.is_channels_last else 4
            spatial = pads[first : first + 2 * count]
            return cls("explicit", spatial[0::2], spatial[1::2])
        if kind not in ("SAME", "VALID"):
            raise FrontendError(f"the padding {kind} is not supported")
        return cls("same_upper" if kind == "SAME" else "valid", [0] * count, [0] * count)
