"""Pictures as input arrays: whole ones, and the parts of a picture that contain text."""

from __future__ import annotations

import math
import struct
import warnings
from typing import TYPE_CHECKING

import numpy as np

from hetero.run.media.array_files import Check
from hetero.run.media.text_regions import find_regions
from hetero.run.yaml_runs.config_inputs import CropsInput, ImageInput, PictureOptions

if TYPE_CHECKING:
    from PIL.Image import Image


def read_image(spec: ImageInput, check: Check) -> np.ndarray:
    """Read a picture as an array. Raises ValueError."""
    from PIL import Image

    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            file = Image.open(spec.image)
    except (OSError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(f"{spec.image} is not a picture that can be read: {error}") from error
    with file:
        picture = _decode(file, spec)
        _check(picture.size, spec, check)
        return _to_array(picture, spec)


def read_crops(spec: CropsInput, whole: ImageInput, probabilities: np.ndarray) -> list[np.ndarray]:
    """Return the parts of a picture that contain text as arrays, in reading order. Raises ValueError.

    ``probabilities``: of text, for each pixel of the array that ``whole`` describes, or of that array at another scale.
    """
    from PIL import Image

    surface = probabilities.squeeze().astype(np.float32)
    if surface.ndim != 2 or not surface.size:
        shape = list(probabilities.shape)
        raise ValueError(f"crops need one probability per pixel, but {spec.crops.source} has the shape {shape}")
    with Image.open(whole.image) as file:
        picture = _decode(file, spec)
    width, _ = _scaled_size(whole, *picture.size)
    # The array may be padded on the right.
    scale_x = picture.width * max(width, whole.min_width) / (width * surface.shape[1])
    arrays = []
    for corners in find_regions(surface, spec.crops, (scale_x, picture.height / surface.shape[0])):
        left_top, right_top, right_bottom, left_bottom = corners.clip(0, picture.size)
        size = (max(1, round(math.dist(left_top, right_top))), max(1, round(math.dist(left_top, left_bottom))))
        quadrilateral = np.concatenate([left_top, left_bottom, right_bottom, right_top])
        part = picture.transform(size, Image.Transform.QUAD, tuple(quadrilateral), Image.Resampling.BILINEAR)
        _check(size, spec, lambda shape, item_size: None)
        arrays.append(_to_array(part, spec))
    return arrays


def _decode(file: Image, spec: PictureOptions) -> Image:
    """Return the picture, turned as its EXIF data say: of 8 bits per channel, or one channel of floating-point numbers.

    Shades of 16 bits become numbers from 0 to 255 with fractions; larger numbers stay as they are.
    """
    from PIL import Image, ImageOps

    try:
        picture = ImageOps.exif_transpose(file)
        if picture.mode.startswith("I;16"):
            return Image.fromarray(np.asarray(picture).astype(np.float32) * np.float32(255 / 65535))
        if picture.mode in ("I", "F"):
            return picture.convert("F")
        return picture.convert("L" if spec.color == "GRAY" else "RGB")
    except (OSError, SyntaxError, ValueError, TypeError, struct.error) as error:
        raise ValueError(f"{file.filename} is a damaged picture: {error}") from error  # type: ignore[attr-defined]


def _check(size: tuple[int, int], spec: PictureOptions, check: Check) -> None:
    """Raise ValueError if the array for a picture of this size would be too large, or ``check`` rejects its shape."""
    from PIL import Image

    channels = 1 if spec.color == "GRAY" else 3
    for key, numbers in (("mean", spec.mean), ("std", spec.std)):
        if len(numbers) not in (1, channels):
            raise ValueError(f"{key} has {len(numbers)} numbers, but the picture has {channels} color channels")
    width, height = _scaled_size(spec, *size)
    if width * height > (Image.MAX_IMAGE_PIXELS or math.inf):
        raise ValueError(f"the picture would have {width} x {height} pixels after scaling, which is too large")
    check(_arrange(np.broadcast_to(np.float32(), (height, max(width, spec.min_width), channels)), spec).shape, 4)


def _to_array(picture: Image, spec: PictureOptions) -> np.ndarray:
    """Return (pixel / scale - mean) / std per color channel, in ``spec.layout``."""
    from PIL.Image import Resampling

    width, height = _scaled_size(spec, *picture.size)
    if picture.size != (width, height):
        picture = picture.resize((width, height), Resampling.BILINEAR)
    pixels = np.asarray(picture, np.float32).reshape(height, width, -1)
    if picture.mode == "F" and spec.color != "GRAY":
        pixels = pixels.repeat(3, axis=2)
    if spec.color == "BGR":
        pixels = pixels[:, :, ::-1]
    values = (pixels / np.float32(spec.scale) - np.array(spec.mean, np.float32)) / np.array(spec.std, np.float32)
    padding = max(0, spec.min_width - width)
    return np.ascontiguousarray(_arrange(np.pad(values, ((0, 0), (0, padding), (0, 0))), spec))


def _scaled_size(spec: PictureOptions, width: int, height: int) -> tuple[int, int]:
    """Return width and height to which a picture of this size is scaled."""
    new_height = spec.height or (max(1, round(height * spec.width / width)) if spec.width else height)
    new_width = spec.width or math.ceil(width * new_height / height)
    return spec.width or _rounded(new_width, spec.multiple), spec.height or _rounded(new_height, spec.multiple)


def _rounded(length: int, multiple: int) -> int:
    return max(1, round(length / multiple)) * multiple


def _arrange(values: np.ndarray, spec: PictureOptions) -> np.ndarray:
    """Transpose values [height, width, channels] to ``spec.layout``."""
    if spec.layout in ("NCHW", "CHW"):
        values = values.transpose(2, 0, 1)
    return values[None] if spec.layout.startswith("N") else values
