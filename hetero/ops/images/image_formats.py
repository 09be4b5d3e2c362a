"""Conversion of the video formats NV12 and I420 to RGB and BGR, and decoding of image files."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import check_type, common_type, merge_dimensions, shape_of_rank


class _ColorConversion(Op):
    """Base of color conversions to ``[N, H, W, 3]`` of the same element type, u8 or floating-point.

    The video formats have a full-resolution plane of luminance Y and chrominance U and V at half the resolution: NV12
    has interleaved U and V in one plane, I420 has one plane for each. The input is ``[N, 1.5·H, W, 1]``, or Y
    ``[N, H, W, 1]`` and chrominance planes ``[N, H/2, W/2, channels]``.

    - ``arg``: the luminance, or if it is the only input, all planes.
    - ``arg_u``, ``arg_v``: the chrominance planes of I420, with one channel each.
    - ``arg_uv``: the chrominance plane of NV12, with two channels.
    """

    # The number of channels of each chrominance plane.
    color_channels: tuple[int, ...] = ()

    def validate_and_infer_types(self) -> None:
        count = self.get_input_size()
        if count not in (1, 1 + len(self.color_channels)):
            self.fail(f"it takes one input or {1 + len(self.color_channels)}, but has {count}")
        element_type = common_type(self, range(count))
        if element_type.is_static() and not element_type.is_real() and element_type is not Type.u8:
            self.fail(f"images must be of u8 or floating-point numbers, but are of {element_type}")
        planes = [self._plane(index) for index in range(count)]
        batch, height, width = self._merged(planes) if count > 1 else self._luminance_part(planes[0])
        for name, length in (("height", height), ("width", width)):
            if length.is_static and length.get_length() % 2:
                self.fail(f"the {name} of an image must be even, but is {length}")
        self.set_output_type(0, element_type, [batch, height, width, 3])

    def _plane(self, index: int) -> PartialShape:
        shape = self.get_input_partial_shape(index)
        channels = self.color_channels[index - 1] if index else 1
        if not shape.compatible([-1, -1, -1, channels]):
            self.fail(f"input {index} must be [N, H, W, {channels}], but is {shape}")
        return shape if shape.has_rank else PartialShape.dynamic(4)

    def _luminance_part(self, plane: PartialShape) -> Sequence[Dimension]:
        height = plane[1]
        if height.is_static and height.get_length() % 3:
            self.fail(f"the height of a plane with colors must be divisible by 3, but is {height}")
        low, high = -(-height.min_length // 3) * 2, height.max_length
        return plane[0], Dimension.interval(low, None if high == -1 else high // 3 * 2), plane[2]

    def _merged(self, planes: Sequence[PartialShape]) -> Sequence[Dimension]:
        what = f"the planes {', '.join(map(str, planes))}, those of colors doubled,"
        luminance, *colors = planes
        rows = [luminance[1], *(plane[1] * 2 for plane in colors)]
        columns = [luminance[2], *(plane[2] * 2 for plane in colors)]
        return [merge_dimensions(self, each, what) for each in ([plane[0] for plane in planes], rows, columns)]


class _FromNV12(_ColorConversion):
    input_names = ("arg", "arg_uv?")
    color_channels = (2,)


class _FromI420(_ColorConversion):
    input_names = ("arg", "arg_u?", "arg_v?")
    color_channels = (1, 1)


class NV12toBGR(_FromNV12, opset=8):
    """Conversion from NV12 to BGR."""


class NV12toRGB(_FromNV12, opset=8):
    """Conversion from NV12 to RGB."""


class I420toBGR(_FromI420, opset=8):
    """Conversion from I420 to BGR."""


class I420toRGB(_FromI420, opset=8):
    """Conversion from I420 to RGB."""


class ImageDecoder(Op):
    """The pixels ``[height, width, channels]`` (u8) of an image file's bytes; empty if they are not an image.

    - ``encoded_stream``: u8, the bytes of the file.
    - ``pixel_format``: the channels of the output.
    """

    input_names = ("encoded_stream",)
    pixel_format = Attribute(choice("rgb", "bgr", "grayscale"), "rgb")

    @property
    def channels(self) -> int:
        return 1 if self.pixel_format == "grayscale" else 3

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], lambda t: t is Type.u8, "u8")
        shape_of_rank(self, 0, 1)
        self.set_output_type(0, Type.u8, [Dimension(), Dimension(), self.channels])
