"""Input arrays of a YAML run: pictures, files, random numbers and saved arrays."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hetero.errors import ConfigError
from hetero.graph import Output, port_name
from hetero.messages import suggest
from hetero.run import array_files
from hetero.run.config import BytesInput, ImageInput, InlineInput, NpyInput, NpzInput, RandomInput, RandomValues
from hetero.types import Type

# Maximum size of one input. More is a mistake, or a small file with a forged header.
MAX_BYTES = 4 << 30


def make_inputs(ports: list[Output], specs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return an array for each input of a model, in order, in its element type.

    Raises ConfigError if one is missing or does not fit.
    """
    by_name = {port_name(port): port for port in ports}
    arrays = {}
    for name, spec in specs.items():
        try:
            port = find_by_name(ports, name, "input")
            array = _READERS[type(spec)](spec, port)
            check_size(port, array.shape, array.itemsize)
            arrays[port_name(port)] = _as_type(array, port.element_type)
        except (ValueError, OSError, MemoryError, OverflowError) as error:
            raise ConfigError(f"inputs.{name}: {str(error) or 'there is not enough memory'}") from error
    missing = [name for name in by_name if name not in arrays]
    if missing:
        raise ConfigError(f"inputs: missing the model's input {', '.join(missing)}")
    return {name: arrays[name] for name in by_name}


def find_by_name(ports: Sequence[Output], name: str, kind: str) -> Output:
    """Return the port with this tensor name or friendly name. Raises ValueError if there is none."""
    for port in ports:
        if name in port.names or name == port.node.friendly_name:
            return port
    raise ValueError(f"the model has no {kind} {name}; {suggest(name, map(port_name, ports))}")


def check_size(port: Output, shape: Sequence[int], item_size: int) -> None:
    """Raise ValueError if an array of this shape does not fit the port, or is too large for any input.

    Readers call this before they allocate the array.
    """
    if not port.partial_shape.compatible(shape):
        raise ValueError(f"the model takes the shape {port.partial_shape}, but this is {list(shape)}")
    if math.prod(shape) * item_size > MAX_BYTES:
        raise ValueError(f"the shape {list(shape)} needs more than {MAX_BYTES >> 30} GiB, the limit for an input")


def _as_type(array: np.ndarray, target: Type) -> np.ndarray:
    """Convert numbers to another element type. Raises ValueError if an integer type cannot hold them exactly."""
    if target.is_dynamic() or array.dtype == target.to_dtype():
        return array
    if array.dtype.kind not in "biufV" or target is Type.string:
        raise ValueError(f"the model takes {target} elements, but these are {array.dtype}")
    with np.errstate(invalid="ignore", over="ignore"):
        converted = array.astype(target.to_dtype())
    if not target.is_real() and not np.array_equal(converted, array):
        raise ValueError(f"the model takes {target} elements, which cannot hold all of these {array.dtype} values")
    return converted


def read_image(spec: ImageInput, port: Output) -> np.ndarray:
    """Read a picture as (pixel / scale - mean) / std per color channel, in ``spec.layout``.

    It is padded with zeros on the right to ``spec.min_width``.
    """
    from PIL import Image

    channels = 1 if spec.color == "GRAY" else 3
    for key, numbers in (("mean", spec.mean), ("std", spec.std)):
        if len(numbers) not in (1, channels):
            raise ValueError(f"{key} has {len(numbers)} numbers, but the picture has {channels} color channels")
    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            file = Image.open(spec.image)
    except (OSError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(f"{spec.image} is not a picture that can be read: {error}") from error
    with file:
        width, height = _picture_size(spec, *file.size)
        if width * height > (Image.MAX_IMAGE_PIXELS or math.inf):
            raise ValueError(f"{spec.image} would have {width} x {height} pixels after scaling, which is too large")
        padded = max(width, spec.min_width)
        check_size(port, _arrange(np.broadcast_to(np.float32(), (height, padded, channels)), spec).shape, 4)
        try:
            picture = file.convert("L" if spec.color == "GRAY" else "RGB")
        except (OSError, SyntaxError) as error:
            raise ValueError(f"{spec.image} is a damaged picture: {error}") from error
    if picture.size != (width, height):
        picture = picture.resize((width, height), Image.Resampling.BILINEAR)
    pixels = np.asarray(picture, np.float32).reshape(height, width, channels)
    if spec.color == "BGR":
        pixels = pixels[:, :, ::-1]
    values = (pixels / np.float32(spec.scale) - np.array(spec.mean, np.float32)) / np.array(spec.std, np.float32)
    return np.ascontiguousarray(_arrange(np.pad(values, ((0, 0), (0, padded - width), (0, 0))), spec))


def _picture_size(spec: ImageInput, width: int, height: int) -> tuple[int, int]:
    """Return width and height to which a picture of this size is scaled."""
    new_height = spec.height or (max(1, round(height * spec.width / width)) if spec.width else height)
    return spec.width or math.ceil(width * new_height / height), new_height


def _arrange(values: np.ndarray, spec: ImageInput) -> np.ndarray:
    """Transpose values [height, width, channels] to ``spec.layout``."""
    if spec.layout in ("NCHW", "CHW"):
        values = values.transpose(2, 0, 1)
    return values[None] if spec.layout.startswith("N") else values


def read_bytes(spec: BytesInput, port: Output) -> np.ndarray:
    """Return bytes of a file as [1, n]: all of them, or the first and last bytes with padding in between."""
    size = spec.file.stat().st_size
    if spec.beginning is None and spec.end is None:
        if size > MAX_BYTES:
            raise ValueError(f"{spec.file} is larger than {MAX_BYTES >> 30} GiB: set beginning and end")
        data = spec.file.read_bytes()
        return np.frombuffer(data.strip() if spec.strip else data, np.uint8)[None]
    beginning, end = spec.beginning or 0, spec.end or 0
    check_size(port, (1, beginning + end), 8)
    with open(spec.file, "rb") as file:
        first = file.read(spec.block)
        file.seek(max(0, size - spec.block))
        last = file.read(spec.block)
    if spec.strip:
        first, last = first.lstrip(), last.rstrip()
    values = np.full(beginning + end, spec.pad, np.int64)
    first, last = first[:beginning], last[max(0, len(last) - end) :]
    values[: len(first)] = list(first)
    values[len(values) - len(last) :] = list(last)
    return values[None]


def random_array(spec: RandomInput, port: Output) -> np.ndarray:
    """Return random numbers from a seed, the same on every machine."""
    options: RandomValues = spec.random
    if options.shape is None and port.partial_shape.is_dynamic:
        raise ValueError(f"random needs a shape, because the model takes {port.partial_shape}")
    shape = port.partial_shape.to_shape() if options.shape is None else tuple(options.shape)
    check_size(port, shape, 8)
    generator = np.random.default_rng(options.seed)
    is_real = port.element_type.is_real() or port.element_type.is_dynamic()
    if options.low is not None and options.high is not None:
        if is_real:
            return generator.uniform(options.low, options.high, shape)
        return generator.integers(int(options.low), int(options.high), shape)
    if is_real:
        return generator.standard_normal(shape, np.float32)
    return generator.integers(0, 2 if port.element_type is Type.boolean else 100, shape)


def read_inline(spec: InlineInput, port: Output) -> np.ndarray:
    """Return the numbers in the YAML file as an array."""
    try:
        array = np.array(spec.values)
    except ValueError:
        raise ValueError("values has rows of different lengths") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"values must be numbers, not {spec.values!r}")
    return array


_READERS: dict[type, Callable[[Any, Output], np.ndarray]] = {
    ImageInput: read_image,
    BytesInput: read_bytes,
    RandomInput: random_array,
    NpyInput: lambda spec, port: array_files.read_npy(spec.npy, functools.partial(check_size, port)),
    NpzInput: lambda spec, port: array_files.read_npz(spec.npz, spec.key, functools.partial(check_size, port)),
    InlineInput: read_inline,
}
