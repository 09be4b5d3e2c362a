"""Formats of images, and the ways to resize and pad them."""

from __future__ import annotations

import enum

from hetero.core.layout import Layout
from hetero.core.shape import Dimension, PartialShape
from hetero.preprocess.conversion import index_of
from hetero.system.errors import GraphError


class _Choice(enum.Enum):
    """Base of enumerations whose members convert to int, as OpenVINO's do."""

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__


class ColorFormat(_Choice):
    """How an image has its colors. X is a channel without meaning; NV12 and I420 have chrominance at half the size."""

    UNDEFINED = 0
    NV12_SINGLE_PLANE = 1
    NV12_TWO_PLANES = 2
    I420_SINGLE_PLANE = 3
    I420_THREE_PLANES = 4
    RGB = 5
    BGR = 6
    GRAY = 7
    RGBX = 8
    BGRX = 9

    @property
    def description(self) -> str:
        """The name for people."""
        return _DESCRIPTIONS.get(self, self.name)

    @property
    def planes(self) -> int:
        """The number of tensors that make an image."""
        return {ColorFormat.NV12_TWO_PLANES: 2, ColorFormat.I420_THREE_PLANES: 3}.get(self, 1)

    @property
    def default_layout(self) -> Layout:
        return Layout() if self is ColorFormat.UNDEFINED else Layout("NHWC")

    def plane_shape(self, plane: int, image: PartialShape, layout: Layout) -> PartialShape:
        """Return the shape of a plane of an image of this shape. Raises GraphError if images cannot have the shape."""
        if self in (ColorFormat.UNDEFINED, ColorFormat.GRAY) or not image.has_rank:
            return image
        dimensions = list(image)
        if self in (ColorFormat.RGB, ColorFormat.BGR):
            dimensions[index_of("C", layout, image)] = Dimension(3)
            return PartialShape(dimensions)
        if len(image) != 4:
            raise GraphError(f"an image in {self.description} is [N, H, W, C], but the input is {image}")
        batch, height, width, _ = dimensions
        if self in (ColorFormat.RGBX, ColorFormat.BGRX):
            return PartialShape([batch, height, width, 4])
        if self.planes == 1:
            # The planes of colors, half as many rows, are below the luminance.
            return PartialShape([batch, height * 3 // 2 if height.is_static else Dimension(), width, 1])
        if plane == 0:
            return PartialShape([batch, height, width, 1])
        halved = [length // 2 if length.is_static else length for length in (height, width)]
        return PartialShape([batch, *halved, 2 if self is ColorFormat.NV12_TWO_PLANES else 1])


_DESCRIPTIONS = {
    ColorFormat.UNDEFINED: "Unknown",
    ColorFormat.NV12_SINGLE_PLANE: "NV12 (single plane)",
    ColorFormat.NV12_TWO_PLANES: "NV12 (multi-plane)",
    ColorFormat.I420_SINGLE_PLANE: "I420 (single plane)",
    ColorFormat.I420_THREE_PLANES: "I420 (multi-plane)",
}


class ResizeAlgorithm(_Choice):
    """The filter of a resize. Pillow's filters widen when downsampling."""

    RESIZE_LINEAR = 0
    RESIZE_CUBIC = 1
    RESIZE_NEAREST = 2
    RESIZE_BILINEAR_PILLOW = 3
    RESIZE_BICUBIC_PILLOW = 4

    @property
    def mode(self) -> str:
        """The mode of Interpolate."""
        return self.name.removeprefix("RESIZE_").lower()

    @property
    def cube_coeff(self) -> float:
        """The parameter of cubic filters: Pillow's, which OpenVINO's devices use as well, or Interpolate's default."""
        return -0.5 if self is ResizeAlgorithm.RESIZE_BICUBIC_PILLOW else -0.75


class PaddingMode(_Choice):
    """The contents of padding: a constant, or the image mirrored at its edge, without or with the edge itself."""

    CONSTANT = 0
    REFLECT = 2
    SYMMETRIC = 3
