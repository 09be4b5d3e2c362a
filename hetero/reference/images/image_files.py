"""ImageDecoder, using Pillow."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


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
