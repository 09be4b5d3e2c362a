"""The arrays that a YAML run feeds to the inputs of a model."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hetero.errors import ConfigError
from hetero.graph import Output, port_name
from hetero.run.config import BytesInput, ImageInput, InlineInput, NpyInput, NpzInput, RandomInput, RandomValues
from hetero.types import Type


def make_inputs(ports: list[Output], wanted: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """An array for every input of a model, in its element type. Raises ConfigError where one is missing or unfit."""
    by_name = {port_name(port): port for port in ports}
    arrays = {}
    for name, spec in wanted.items():
        port = next((p for p in ports if name in p.names or name == p.node.friendly_name), None)
        if port is None:
            near = difflib.get_close_matches(name, by_name, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(by_name)}"
            raise ConfigError(f"inputs: the model has no input {name}; {hint}")
        try:
            arrays[port_name(port)] = make_array(spec, port)
        except (ValueError, OSError, MemoryError) as error:
            raise ConfigError(f"inputs.{name}: {error}") from error
    missing = [name for name in by_name if name not in arrays]
    if missing:
        raise ConfigError(f"inputs: nothing is given for the model's input {', '.join(missing)}")
    return arrays


def make_array(spec: Any, port: Output) -> np.ndarray:
    """The array that one entry describes, for a port. Raises ValueError where it does not fit, and OSError."""
    array = _as_type(_MAKERS[type(spec)](spec, port), port.element_type)
    if not port.partial_shape.compatible(array.shape):
        raise ValueError(f"the model takes the shape {port.partial_shape}, but this is {list(array.shape)}")
    return array


def _as_type(array: np.ndarray, wanted: Type) -> np.ndarray:
    """Numbers in another type, where that loses no more than precision."""
    if wanted.is_dynamic() or array.dtype == wanted.to_dtype():
        return array
    if array.dtype.kind not in "biufV" or wanted is Type.string:
        raise ValueError(f"the model takes {wanted} elements, but these are {array.dtype}")
    with np.errstate(invalid="ignore", over="ignore"):
        converted = array.astype(wanted.to_dtype())
    if not wanted.is_real() and not np.array_equal(converted, array):
        raise ValueError(f"the model takes {wanted} elements, which cannot hold all of these {array.dtype} values")
    return converted


def read_image(spec: ImageInput, port: Output) -> np.ndarray:
    """(pixel / scale - mean) / std by color channel, in the layout asked for; zeros to the right of the picture."""
    from PIL import Image

    try:
        with Image.open(spec.image) as file:
            picture = file.convert("L" if spec.color == "GRAY" else "RGB")
    except (OSError, Image.DecompressionBombError) as error:
        raise ValueError(f"{spec.image} is not a picture that can be read: {error}") from error
    height = spec.height or (round(picture.height * spec.width / picture.width) if spec.width else picture.height)
    width = spec.width or math.ceil(picture.width * height / picture.height)
    if picture.size != (width, height):
        picture = picture.resize((width, max(height, 1)), Image.Resampling.BILINEAR)
    pixels = np.asarray(picture, np.float32).reshape(picture.height, width, -1)
    if spec.color == "BGR":
        pixels = pixels[:, :, ::-1]
    channels = pixels.shape[2]
    for key, numbers in (("mean", spec.mean), ("std", spec.std)):
        if len(numbers) not in (1, channels):
            raise ValueError(f"{key} has {len(numbers)} numbers, but the picture has {channels} color channels")
    values = (pixels / np.float32(spec.scale) - np.float32(spec.mean)) / np.float32(spec.std)
    values = np.pad(values, ((0, 0), (0, max(0, spec.min_width - width)), (0, 0)))
    if spec.layout in ("NCHW", "CHW"):
        values = values.transpose(2, 0, 1)
    return np.ascontiguousarray(values[None] if spec.layout.startswith("N") else values)


def read_bytes(spec: BytesInput, port: Output) -> np.ndarray:
    """Bytes of a file as [1, n]: all, or the first and last ones with padding behind the first, before the last."""
    if spec.beginning is None and spec.end is None:
        data = spec.file.read_bytes()
        return np.frombuffer(data.strip() if spec.strip else data, np.uint8)[None]
    size = spec.file.stat().st_size
    with open(spec.file, "rb") as file:
        first = file.read(spec.block)
        file.seek(max(0, size - spec.block))
        last = file.read(spec.block)
    if spec.strip:
        first, last = first.lstrip(), last.rstrip()
    beginning, end = spec.beginning or 0, spec.end or 0
    values = np.full(beginning + end, spec.pad, np.int64)
    first, last = first[:beginning], last[len(last) - min(end, len(last)) :]
    values[: len(first)] = list(first)
    values[len(values) - len(last) :] = list(last)
    return values[None]


def draw(spec: RandomInput, port: Output) -> np.ndarray:
    """Random numbers from a seed, the same on every machine."""
    wanted: RandomValues = spec.random
    if wanted.shape is None and port.partial_shape.is_dynamic:
        raise ValueError(f"random needs a shape, as the model takes {port.partial_shape}")
    shape = port.partial_shape.to_shape() if wanted.shape is None else tuple(wanted.shape)
    generator = np.random.default_rng(wanted.seed)
    is_real = port.element_type.is_real() or port.element_type.is_dynamic()
    if is_real and wanted.low is None:
        return generator.standard_normal(shape, np.float32)
    if is_real:
        return generator.uniform(wanted.low, wanted.high, shape)
    low, high = (
        (0, 2 if port.element_type is Type.boolean else 100) if wanted.low is None else (wanted.low, wanted.high)
    )
    return generator.integers(int(low), int(high), shape)


def read_npy(spec: NpyInput, port: Output) -> np.ndarray:
    """The array of an npy file."""
    array = _load(spec.npy)
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{spec.npy} holds several arrays: name it as npz, with a key")
    return array


def read_npz(spec: NpzInput, port: Output) -> np.ndarray:
    """One array of an npz file."""
    file = _load(spec.npz)
    if isinstance(file, np.ndarray):
        raise ValueError(f"{spec.npz} is not an npz file: name it as npy")
    with file:
        keys = list(file)
        key = keys[0] if spec.key is None and len(keys) == 1 else spec.key
        if key not in keys:
            problem = "needs a key" if key is None else f"has no array {key}"
            raise ValueError(f"{spec.npz} {problem}; there are {', '.join(keys)}")
        return file[key]


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} holds no numpy array of plain numbers ({error})") from error


def read_inline(spec: InlineInput, port: Output) -> np.ndarray:
    """The numbers written in the YAML file."""
    try:
        array = np.array(spec.values)
    except ValueError:
        raise ValueError("values has rows of different lengths") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"values takes numbers, not {spec.values!r}")
    return array


_MAKERS: dict[type, Callable[[Any, Output], np.ndarray]] = {
    ImageInput: read_image,
    BytesInput: read_bytes,
    RandomInput: draw,
    NpyInput: read_npy,
    NpzInput: read_npz,
    InlineInput: read_inline,
}
