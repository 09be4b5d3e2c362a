"""ImageDecoder: ONNX's operation that decodes image files; not in OpenVINO."""

from __future__ import annotations

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import check_type, shape_of_rank


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
