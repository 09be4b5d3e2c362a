"""Conversions from NV12 and I420, with OpenVINO's coefficients for BT.601, and ImageDecoder, using Pillow."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.registry import Array, evaluates


@evaluates(ops.NV12toBGR, ops.NV12toRGB, in_f32=True)
def from_nv12(node: ops.NV12toBGR | ops.NV12toRGB, image: Array, colors: Array | None = None) -> Array:
    if colors is None:
        batch, rows, width, _ = image.shape
        height = rows * 2 // 3
        image, colors = image[:, :height], image[:, height:].reshape(batch, height // 2, width // 2, 2)
    return _converted(node, image, colors[..., :1], colors[..., 1:])


@evaluates(ops.I420toBGR, ops.I420toRGB, in_f32=True)
def from_i420(
    node: ops.I420toBGR | ops.I420toRGB, image: Array, u: Array | None = None, v: Array | None = None
) -> Array:
    if u is None or v is None:
        batch, rows, width, _ = image.shape
        height = rows * 2 // 3
        colors = image[:, height:].reshape(batch, 2, height // 2, width // 2, 1)
        image, u, v = image[:, :height], colors[:, 0], colors[:, 1]
    return _converted(node, image, u, v)


def _converted(node: Node, y: Array, u: Array, v: Array) -> Array:
    luminance = np.float32(1.164) * (y.astype(np.float32) - 16)
    u, v = (color.astype(np.float32) - 128 for color in (u, v))
    red, green, blue = 1.596 * v, -0.391 * u - 0.813 * v, 2.018 * u
    is_bgr = isinstance(node, (ops.NV12toBGR, ops.I420toBGR))
    colors = np.concatenate([blue, green, red] if is_bgr else [red, green, blue], -1)
    colors = luminance + colors.repeat(2, 1).repeat(2, 2)
    if y.dtype.kind == "u":
        colors = np.floor(colors + np.float32(0.5))
    return np.clip(colors, 0, 255)


@evaluates(ops.ImageDecoder)
def image_decoder(node: ops.ImageDecoder, encoded: Array) -> Array:
    from PIL import Image  # slow to import, and rarely needed

    try:
        with Image.open(BytesIO(encoded.tobytes())) as image:
            pixels = np.asarray(image.convert("L" if node.pixel_format == "grayscale" else "RGB"))
    except Image.DecompressionBombError as error:
        raise ValueError(f"the image is too large: {error}") from None
    except (OSError, SyntaxError, ValueError):  # raised by Pillow for damaged files
        return np.zeros((0, 0, node.channels), np.uint8)
    pixels = pixels.reshape(*pixels.shape[:2], node.channels)
    return pixels[..., ::-1] if node.pixel_format == "bgr" else pixels
