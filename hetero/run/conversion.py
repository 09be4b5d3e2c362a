"""Conversion of a model of any format to OpenVINO IR or ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hetero.frontend.ir.writer import save_model
from hetero.graph import Model, is_terminal
from hetero.run.calibrate import parse_shapes
from hetero.run.yaml_runs.sources import writable_file
from hetero.system.errors import ConfigError


@dataclass(frozen=True)
class Conversion:
    """The result: the files, and the number of operations."""

    files: list[str]
    operations: int


def converted_files(text: str) -> list[Path]:
    """Return the files to write: an .onnx file, or an .xml file and the .bin file beside it. Raises ConfigError."""
    file = writable_file(text, Path())
    if file.suffix not in (".onnx", ".xml"):
        raise ConfigError(f"the name of the file must end in .xml or .onnx, but is {file}")
    return [file] if file.suffix == ".onnx" else [file, writable_file(str(file.with_suffix(".bin")), Path())]


def convert_model(model: Model, files: Sequence[Path], shapes: Sequence[str], compress_to_fp16: bool) -> Conversion:
    """Reshape the model to shapes such as ``x=1,3``, and write it. Raises HeteroError."""
    if lengths := parse_shapes(shapes):
        model.reshape({name: list(shape) for name, shape in lengths.items()})
    write_model(model, files, compress_to_fp16)
    return Conversion([str(file) for file in files], sum(not is_terminal(node) for node in model.get_ordered_ops()))


def write_model(model: Model, files: Sequence[Path], compress_to_fp16: bool = False) -> None:
    """Write a model to the files that ``converted_files`` names. Raises FrontendError."""
    if files[0].suffix == ".onnx":
        from hetero.frontend.onnx.writer import save_onnx

        save_onnx(model, files[0], compress_to_fp16)
    else:
        save_model(model, files[0], compress_to_fp16)
