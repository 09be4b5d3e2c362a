"""What a YAML run makes of the outputs of a model: plain data for the report, and files."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hetero.errors import ConfigError
from hetero.files import atomic_write
from hetero.graph import Model, Output, port_name
from hetero.run.config import CtcAlphabet, CtcOutput, ImageOutput, NpyOutput, NpzOutput, TopKOutput, writes

if TYPE_CHECKING:
    from PIL.Image import Image

Presenter = Callable[[Mapping[str, np.ndarray]], list[dict[str, Any]]]


def make_presenters(wanted: Sequence[Any], model: Model) -> list[Presenter]:
    """A function for each entry that makes plain data of the outputs by name, or writes them.

    Labels and characters are read here, so that what is wrong with them is said before the model runs: ConfigError.
    Files come last, so that nothing is written when another output does not fit.
    """
    presenters = []
    for index, spec in sorted(enumerate(wanted), key=lambda entry: writes(entry[1])):
        with _place_in_errors(index):
            presenters.append(_at_its_place(index, _make_presenter(spec, model)))
    return presenters


def _at_its_place(index: int, presenter: Presenter) -> Presenter:
    def present(arrays: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
        with _place_in_errors(index):
            return presenter(arrays)

    return present


@contextmanager
def _place_in_errors(index: int) -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise ConfigError(f"outputs.{index}: {error}") from error


def _make_presenter(spec: Any, model: Model) -> Presenter:
    if spec == "summary":
        return lambda arrays: [summarize(name, array) for name, array in arrays.items()]
    if isinstance(spec, NpzOutput):
        return lambda arrays: [save(spec.npz, lambda file: np.savez(file, **arrays))]
    name = _find_output(model.outputs, spec.output)
    if isinstance(spec, NpyOutput):
        return lambda arrays: [save(spec.npy, lambda file: np.save(file, arrays[name], allow_pickle=False))]
    if isinstance(spec, ImageOutput):
        kind = image_format(spec.image)
        return lambda arrays: [save(spec.image, lambda file: make_image(arrays[name], spec).save(file, kind))]
    if isinstance(spec, TopKOutput):
        labels = read_labels(spec.labels, spec.key) if spec.labels else None
        return lambda arrays: [{"kind": "top_k", "output": name, "rows": top_k(arrays[name], spec.top_k, labels)}]
    if isinstance(spec, CtcOutput):
        characters = read_characters(spec.ctc, model)
        return lambda arrays: [{"kind": "ctc", "output": name, **line} for line in read_text(arrays[name], characters)]
    raise ValueError(f"{spec!r} is no kind of output")


def _find_output(ports: Sequence[Output], name: str | None) -> str:
    names = [port_name(port) for port in ports]
    if name is None:
        return names[0]
    for port in ports:
        if name in port.names or name == port.node.friendly_name:
            return port_name(port)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(names)}"
    raise ValueError(f"the model has no output {name}; {hint}")


def summarize(name: str, array: np.ndarray) -> dict[str, Any]:
    """Type, shape, and the least, mean and greatest value."""
    summary = {"kind": "summary", "output": name, "type": str(array.dtype), "shape": list(array.shape)}
    if array.size and array.dtype.kind not in "SUO":
        values = array.astype(np.float64)
        summary |= {"min": float(values.min()), "mean": float(values.mean()), "max": float(values.max())}
    return summary


def top_k(array: np.ndarray, k: int, labels: Sequence[str] | None) -> list[dict[str, Any]]:
    """The k largest values along the last axis, the largest first; an entry's ``item`` counts along the others."""
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
    """Labels from the lines of a file, or from the list in a JSON file at a path of keys. Raises ValueError."""
    text = _read(path)
    if key is None:
        return text.splitlines()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a JSON file: {error}") from None
    for part in key.split("."):
        if not isinstance(found, dict) or part not in found:
            raise ValueError(f"{path} has no key {key}")
        found = found[part]
    if not isinstance(found, list):
        raise ValueError(f"{key} in {path} is no list of labels")
    return [str(label) for label in found]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file") from None


def read_characters(alphabet: CtcAlphabet, model: Model) -> list[str]:
    """The character of each class: the blank, then those of the list, then a space. Raises ValueError."""
    if isinstance(alphabet.characters, Path):
        characters = _read(alphabet.characters).split("\n")
    else:
        key = alphabet.characters.removeprefix("metadata:")
        metadata = model.rt_info.get("metadata", {})
        if key not in metadata:
            raise ValueError(f"the model has no metadata {key}; it has {', '.join(metadata) or 'none'}")
        characters = metadata[key].split("\n")
    if characters and not characters[-1]:
        characters.pop()  # the end of the last line
    if alphabet.space:
        characters.append(" ")
    characters.insert(alphabet.blank, "")
    return characters


def read_text(array: np.ndarray, characters: Sequence[str]) -> list[dict[str, Any]]:
    """The text of each item of probabilities [items, steps, classes], by the best class of each step.

    Of a run of one class the first counts, blanks (whose character is empty) are left out; the confidence is the
    mean probability of what is left. Graves et al., Connectionist Temporal Classification, 2006, section 3.2.
    """
    if array.ndim != 3 or array.shape[2] != len(characters):
        raise ValueError(
            f"CTC text needs an output of the shape [items, steps, {len(characters)}], "
            f"as there are so many characters with the blank, but this is {list(array.shape)}"
        )
    lines = []
    for steps in array:
        best = steps.argmax(axis=-1)
        starts = np.append(True, best[1:] != best[:-1]) if len(best) else best.astype(bool)
        kept = [step for step in np.flatnonzero(starts) if characters[best[step]]]
        confidence = float(np.mean([steps[step, best[step]] for step in kept])) if kept else 0.0
        lines.append({"text": "".join(characters[best[step]] for step in kept), "confidence": confidence})
    return lines


def image_format(path: Path) -> str:
    """The format of a picture by the ending of its name. Raises ValueError."""
    from PIL import Image

    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise ValueError(f"{path} is none of a picture that can be written, such as {path.stem}.png")
    return kind


def make_image(array: np.ndarray, spec: ImageOutput) -> Image:
    """The picture of an array that holds one, in 8 bits a color channel. Raises ValueError."""
    from PIL import Image

    if array.ndim != len(spec.layout) or (spec.layout.startswith("N") and array.shape[0] != 1) or not array.size:
        raise ValueError(f"a picture of the layout {spec.layout} is asked for, but the output is {list(array.shape)}")
    values = array[0] if spec.layout.startswith("N") else array
    if spec.layout.endswith("CHW"):
        values = values.transpose(1, 2, 0)
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if values.ndim == 3 and values.shape[2] != 3:
        raise ValueError(f"a picture has 1 color channel or 3, but the output {values.shape[2]}")
    shades = (values.astype(np.float64) - spec.low) / (spec.high - spec.low)
    return Image.fromarray(np.rint(255 * np.nan_to_num(shades).clip(0, 1)).astype(np.uint8))


def save(path: Path, write: Callable[[BinaryIO], None]) -> dict[str, Any]:
    """Write a file whole or not at all: beside its place first, then moved there. Raises ValueError."""
    try:
        with atomic_write(path) as (file,):
            write(file)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}") from error
    return {"kind": "file", "file": str(path)}
