"""Presentation of a run's outputs: plain data for the report, and files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from hetero.graph import Model, port_name
from hetero.graph.rt_info import METADATA
from hetero.run.media.decoding import find_notes, find_segments, read_text
from hetero.run.yaml_runs.config_outputs import (
    CtcAlphabet,
    CtcOutput,
    ImageOutput,
    Notes,
    NotesOutput,
    NpyOutput,
    NpzOutput,
    SegmentsOutput,
    TopKOutput,
    writes,
)
from hetero.run.yaml_runs.config_section import EntryError
from hetero.run.yaml_runs.inputs import find_output
from hetero.runtime import CompiledModel
from hetero.system.files import atomic_write

if TYPE_CHECKING:
    from PIL.Image import Image


# The arrays of all inferences by the name of the output.
Arrays = Mapping[str, Sequence[np.ndarray]]
Present = Callable[[Arrays], list[dict[str, Any]]]


class Presenter(NamedTuple):
    """A function that converts arrays to plain data, or writes a file."""

    present: Present
    writes: bool


def make_presenters(specs: Sequence[Any], model: Model | CompiledModel) -> list[Presenter]:
    """Return a presenter for each entry of ``outputs``.

    Labels and characters are read here, so that errors in them are raised before the model runs. Presenters that write
    files are to be called last, so that nothing is written if another one fails. Raises EntryError, as they do.
    """
    presenters = []
    for index, spec in enumerate(specs):
        with _entry_errors(index):
            # The context manager is also a decorator.
            presenters.append(Presenter(_entry_errors(index)(_make_presenter(spec, model)), writes(spec)))
    return presenters


@contextmanager
def _entry_errors(index: int) -> Iterator[None]:
    """Convert errors to EntryError with the index of the entry."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise EntryError(("outputs", index), error) from error


def _make_presenter(spec: Any, model: Model | CompiledModel) -> Present:
    if spec == "summary":
        return lambda arrays: [summarize(name, joined(items)) for name, items in arrays.items()]
    if isinstance(spec, NpzOutput):
        return lambda arrays: [
            save(spec.npz, lambda file: np.savez(file, **{name: joined(items) for name, items in arrays.items()}))  # type: ignore[arg-type]  # for allow_pickle
        ]
    if isinstance(spec, NotesOutput):
        return _make_notes_presenter(spec.notes, model)
    port = find_output(model.outputs, spec.output)
    name = port_name(port)
    if isinstance(spec, NpyOutput):
        return lambda arrays: [save(spec.npy, lambda file: np.save(file, joined(arrays[name]), allow_pickle=False))]
    if isinstance(spec, ImageOutput):
        kind = image_format(spec.image)
        return lambda arrays: [save(spec.image, lambda file: make_image(joined(arrays[name]), spec).save(file, kind))]
    if isinstance(spec, TopKOutput):
        labels = read_labels(spec.labels, spec.key) if isinstance(spec.labels, Path) else spec.labels
        return lambda arrays: [
            {"kind": "top_k", "output": name, "rows": top_k(joined(arrays[name]), spec.top_k, labels)}
        ]
    if isinstance(spec, CtcOutput):
        characters = read_characters(spec.ctc, model)
        return lambda arrays: [
            {"kind": "ctc", "output": name, **line} for array in arrays[name] for line in read_text(array, characters)
        ]
    if isinstance(spec, SegmentsOutput):
        return lambda arrays: [
            {"kind": "segments", "output": name, "rows": find_segments(joined(arrays[name]), spec.segments)}
        ]
    raise ValueError(f"{spec!r} is not a kind of output")


def _make_notes_presenter(spec: Notes, model: Model | CompiledModel) -> Present:
    names = [port_name(find_output(model.outputs, name)) for name in (spec.onsets, spec.activity)]

    def present(arrays: Arrays) -> list[dict[str, Any]]:
        onsets, activity = (without_margin(arrays[name], spec.margin) for name in names)
        return [{"kind": "notes", "rows": find_notes(onsets, activity, spec)}]

    return present


def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the arrays of all inferences as one, joined along the first axis. Raises ValueError."""
    if len(arrays) == 1:
        return arrays[0]
    if not arrays:
        raise ValueError("there is nothing to show, because there were no inputs to run the model with")
    shapes = [array.shape for array in arrays]
    if not shapes[0] or len({shape[1:] for shape in shapes}) > 1:
        examples = f"{list(shapes[0])} and {list(next((shape for shape in shapes if shape != shapes[0]), shapes[0]))}"
        raise ValueError(f"the results of {len(arrays)} inferences cannot be joined: they have the shapes {examples}")
    return np.concatenate(arrays)


def without_margin(arrays: Sequence[np.ndarray], margin: int) -> np.ndarray:
    """Return [1, steps, …] of overlapping inferences as one array [steps, …], without ``margin`` steps at both ends."""
    return joined([array[0, margin : array.shape[1] - margin] for array in arrays if array.ndim > 1])


def summarize(name: str, array: np.ndarray) -> dict[str, Any]:
    """Return type, shape, minimum, mean and maximum of an output."""
    summary: dict[str, Any] = {"kind": "summary", "output": name, "type": str(array.dtype), "shape": list(array.shape)}
    if array.size and array.dtype.kind not in "SUO":
        values = array.astype(np.float64)
        summary |= {"min": float(values.min()), "mean": float(values.mean()), "max": float(values.max())}
    return summary


def top_k(array: np.ndarray, k: int, labels: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the k largest values along the last axis, in descending order, for each ``item`` along the other axes."""
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    if labels is not None and len(labels) != rows.shape[1]:
        raise ValueError(f"there are {len(labels)} labels, but the output has {rows.shape[1]} classes")
    entries = []
    for item, row in enumerate(rows):
        for index in np.argsort(-row.astype(np.float64), kind="stable")[:k]:
            label = labels[index] if labels is not None else None
            entries.append({"item": item, "index": int(index), "label": label, "value": float(row[index])})
    return entries


def read_labels(path: Path, key: str | None) -> list[str]:
    """Read labels: the lines of a file, or with ``key`` the list at a dotted path of a JSON file. Raises ValueError."""
    text = _read(path)
    if key is None:
        return text.splitlines()
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a JSON file: {error}") from None
    for part in key.split("."):
        if not isinstance(data, dict) or part not in data:
            raise ValueError(f"{path} has no key {key}")
        data = data[part]
    if not isinstance(data, list):
        raise ValueError(f"{key} in {path} is not a list of labels")
    return [str(label) for label in data]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file") from None


def read_characters(alphabet: CtcAlphabet, model: Model | CompiledModel) -> list[str]:
    """Return the character of each class: the alphabet and a space, with "" at the blank's index. Raises ValueError."""
    if isinstance(alphabet.characters, Path):
        characters = _read(alphabet.characters).split("\n")
    else:
        key = alphabet.characters.removeprefix("metadata:")
        metadata = model.rt_info.get(METADATA, {}) if isinstance(model, Model) else {}
        if key not in metadata:
            raise ValueError(f"the model has no metadata {key}; it has {', '.join(metadata) or 'none'}")
        characters = metadata[key].split("\n")
    if characters and not characters[-1]:
        characters.pop()  # the last line ends with a newline
    if alphabet.space:
        characters.append(" ")
    characters.insert(alphabet.blank, "")
    return characters


def image_format(path: Path) -> str:
    """Return Pillow's format for the suffix of a path. Raises ValueError if it cannot be written."""
    from PIL import Image

    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise ValueError(f"{path} has no suffix of a picture format, such as {path.stem}.png")
    return kind


def make_image(array: np.ndarray, spec: ImageOutput) -> Image:
    """Convert an array to a picture with 8 bits per color channel. Raises ValueError."""
    from PIL import Image

    if array.ndim != len(spec.layout) or (spec.layout.startswith("N") and array.shape[0] != 1) or not array.size:
        raise ValueError(f"the layout {spec.layout} does not fit the output of shape {list(array.shape)}")
    values = array[0] if spec.layout.startswith("N") else array
    if spec.layout.endswith("CHW"):
        values = values.transpose(1, 2, 0)
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if values.ndim == 3 and values.shape[2] != 3:
        raise ValueError(f"a picture has 1 or 3 color channels, but the output has {values.shape[2]}")
    shades = (values.astype(np.float64) - spec.low) / (spec.high - spec.low)
    return Image.fromarray(np.rint(255 * np.nan_to_num(shades).clip(0, 1)).astype(np.uint8))


def save(path: Path, write: Callable[[BinaryIO], None]) -> dict[str, Any]:
    """Write a file atomically. Raises ValueError."""
    try:
        with atomic_write(path) as (file,):
            write(file)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}") from error
    return {"kind": "file", "file": str(path)}
