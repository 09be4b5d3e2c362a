"""Input arrays of a YAML run: pictures, sounds, files, random numbers, saved arrays and outputs of other models."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.core.types import Type
from hetero.graph import Output, port_name
from hetero.run.media import array_files
from hetero.run.media.pictures import read_crops, read_image
from hetero.run.media.sounds import read_chunks
from hetero.run.yaml_runs.config_inputs import (
    BytesInput,
    ImageInput,
    InlineInput,
    ModelInput,
    NpyInput,
    NpzInput,
    PreviousInput,
    RandomInput,
    RandomValues,
    SoundInput,
    source_of,
)
from hetero.run.yaml_runs.config_section import EntryError
from hetero.system.allocation import as_text
from hetero.system.messages import suggest

# Maximum size of one input. More is a mistake, or a small file with a forged header.
MAX_BYTES = 4 << 30


@dataclass(frozen=True)
class ModelResults:
    """The outputs of a model: its ports, and the arrays of each inference by the name of the port.

    ``picture`` is the picture that the model was given, if there was one.
    """

    ports: Sequence[Output]
    arrays: Mapping[str, Sequence[np.ndarray]]
    picture: ImageInput | None = None

    def find(self, name: str | None) -> Sequence[np.ndarray]:
        """Return the arrays of an output, the first one for None. Raises ValueError."""
        return self.arrays[port_name(find_output(self.ports, name))]


@dataclass(frozen=True)
class Inputs:
    """The arrays for each of ``count`` inferences, by the name of the input in the model's order.

    An input with one array has it for all inferences. ``previous``: inputs that become outputs of the inference before.
    """

    arrays: dict[str, Sequence[np.ndarray]]
    count: int
    previous: dict[str, str] = field(default_factory=dict)

    def for_inference(self, index: int, outputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Return the arrays in the order of the inputs. ``outputs`` are those of the inference before."""
        return [
            outputs[self.previous[name]] if index and name in self.previous else arrays[index if len(arrays) > 1 else 0]
            for name, arrays in self.arrays.items()
        ]


def make_inputs(
    ports: Sequence[Output],
    specs: Mapping[str, Any],
    outputs: Sequence[Output] = (),
    earlier: Mapping[str, ModelResults] | None = None,
) -> Inputs:
    """Return the arrays for a model's inputs ``ports``, in their element types.

    ``outputs`` are the model's outputs, and ``earlier`` the results of other models by name. Raises EntryError if an
    input is missing or does not fit.
    """
    by_name = {port_name(port): port for port in ports}
    arrays: dict[str, Sequence[np.ndarray]] = {}
    previous = {}
    for name, spec in specs.items():
        try:
            port = find_by_name(ports, name, "input")
            arrays[port_name(port)] = _fitting(_read(spec, port, earlier or {}), port)
            if isinstance(spec, PreviousInput):
                previous[port_name(port)] = port_name(find_by_name(outputs, spec.previous, "output"))
        except (ValueError, OSError, MemoryError, OverflowError) as error:
            raise EntryError(("inputs", name), str(error) or "there is not enough memory") from error
    missing = [name for name in by_name if name not in arrays]
    if missing:
        raise EntryError(("inputs",), f"missing the model's input {', '.join(missing)}")
    return Inputs({name: arrays[name] for name in by_name}, _count(arrays), previous)


def _count(arrays: Mapping[str, Sequence[np.ndarray]]) -> int:
    """Return the number of inferences, which all inputs with other than one array have to agree on."""
    counts = {name: len(items) for name, items in arrays.items() if len(items) != 1}
    if len(set(counts.values())) > 1:
        counted = " and ".join(f"{name} for {count}" for name, count in counts.items())
        raise EntryError(("inputs",), f"all inputs must be for the same number of inferences, but there are {counted}")
    return next(iter(counts.values()), 1)


def _read(spec: Any, port: Output, earlier: Mapping[str, ModelResults]) -> Sequence[np.ndarray]:
    """Return the arrays of an input, one for each inference. Raises ValueError, OSError and MemoryError."""
    if source := source_of(spec):
        model, output = source
        arrays = earlier[model].find(output)
        if isinstance(spec, ModelInput):
            return arrays
        if len(arrays) != 1:
            raise ValueError(f"crops need a model that runs once, but {model} ran {len(arrays)} times")
        picture = earlier[model].picture
        assert picture  # checked when the run was read
        return read_crops(spec, picture, arrays[0])
    if isinstance(spec, SoundInput):
        return read_chunks(spec)
    return [_READERS[type(spec)](spec, port)]


def _fitting(arrays: Sequence[np.ndarray], port: Output) -> list[np.ndarray]:
    for array in arrays:
        check_size(port, array.shape, array.itemsize)
    return [_as_type(array, port.element_type) for array in arrays]


def find_output(ports: Sequence[Output], name: str | None) -> Output:
    """Return the output with this name, or the first one for None. Raises ValueError if there is none."""
    if not ports:
        raise ValueError("the model has no outputs")
    return ports[0] if name is None else find_by_name(ports, name, "output")


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
        raise ValueError(f"the model takes the shape {port.partial_shape.described()}, but this is {list(shape)}")
    if math.prod(shape) * item_size > MAX_BYTES:
        raise ValueError(f"the shape {list(shape)} needs more than {MAX_BYTES >> 30} GiB, the limit for an input")


def _as_type(array: np.ndarray, target: Type) -> np.ndarray:
    """Convert numbers to another element type, and bytes to text. Raises ValueError if the type cannot hold them."""
    if target.is_dynamic() or array.dtype == target.to_dtype():
        return array
    if target is Type.string and array.dtype.kind in "US":
        return as_text(array)
    if array.dtype.kind not in "biufV" or target is Type.string:
        raise ValueError(f"the model takes {target} elements, but these are {array.dtype}")
    with np.errstate(invalid="ignore", over="ignore"):
        converted = array.astype(target.to_dtype())
    if not target.is_real() and not np.array_equal(converted, array):
        raise ValueError(f"the model takes {target} elements, which cannot hold all of these {array.dtype} values")
    return converted


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
    shape = _shape(options.shape, port, "random")
    generator = np.random.default_rng(options.seed)
    is_real = port.element_type.is_real() or port.element_type.is_dynamic()
    if options.low is not None and options.high is not None:
        if is_real:
            return generator.uniform(options.low, options.high, shape)
        return generator.integers(int(options.low), int(options.high), shape)
    if is_real:
        return generator.standard_normal(shape, np.float32)
    return generator.integers(0, 2 if port.element_type is Type.boolean else 100, shape)


def zeros(spec: PreviousInput, port: Output) -> np.ndarray:
    """Return the first value of an input that later becomes an output of the inference before."""
    return np.zeros(_shape(spec.shape, port, "previous"), port.element_type.to_dtype())


def _shape(lengths: Sequence[int] | None, port: Output, key: str) -> Sequence[int]:
    """Return the given shape, or the port's if it is static. Raises ValueError."""
    if lengths is None and port.partial_shape.is_dynamic:
        raise ValueError(f"{key} needs a shape, because the model takes {port.partial_shape.described()}")
    shape = port.partial_shape.to_shape() if lengths is None else lengths
    check_size(port, shape, 8)
    return shape


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
    ImageInput: lambda spec, port: read_image(spec, functools.partial(check_size, port)),
    BytesInput: read_bytes,
    RandomInput: random_array,
    PreviousInput: zeros,
    NpyInput: lambda spec, port: array_files.read_npy(spec.npy, functools.partial(check_size, port)),
    NpzInput: lambda spec, port: array_files.read_npz(spec.npz, spec.key, functools.partial(check_size, port)),
    InlineInput: read_inline,
}
