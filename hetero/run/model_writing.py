"""Files that are written from a model: OpenVINO IR, ONNX, and blobs for ``hetero run`` and ``hetero benchmark``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hetero.frontend.ir.writer import save_model
from hetero.frontend.onnx.package_import import importing_onnx
from hetero.graph import Model, is_terminal
from hetero.passes.compression.weight_compression import CompressedLayer, compress_layers
from hetero.run.input_shapes import parse_shapes, reshape
from hetero.run.model_files import Progress, compile_model
from hetero.run.yaml_runs.runner import PlacementInfo, placement_of
from hetero.run.yaml_runs.sources import writable_file
from hetero.runtime import Core
from hetero.system.errors import ConfigError
from hetero.system.files import atomic_write


@dataclass(frozen=True)
class Conversion:
    """The result: the files, the number of operations, and the weights that were compressed to integers."""

    files: list[str]
    operations: int
    weights: list[CompressedLayer]


def converted_files(text: str) -> list[Path]:
    """Return the files to write: an .onnx file, or an .xml file and the .bin file beside it. Raises ConfigError."""
    file = writable_file(text, Path())
    if file.suffix not in (".onnx", ".xml"):
        raise ConfigError(f"the name of the file must end in .xml or .onnx, but is {file}")
    return [file] if file.suffix == ".onnx" else [file, writable_file(str(file.with_suffix(".bin")), Path())]


def convert_model(
    model: Model,
    files: Sequence[Path],
    shapes: Sequence[str],
    weights: str | None = None,
    group_size: int = 128,
    ratio: float = 1.0,
    kept: Sequence[str] = (),
) -> Conversion:
    """Reshape the model to shapes such as ``x=1,3``, compress its weights, and write it. Raises HeteroError.

    ``weights`` is "fp16", "int8", "int4" or None. ``group_size``, ``ratio`` and ``kept``, the patterns of names to
    leave alone, are those of ``compress_layers``.
    """
    reshape(model, parse_shapes(shapes, model))
    operations = sum(not is_terminal(node) for node in model.get_ordered_ops())
    layers: list[CompressedLayer] = []
    if weights in ("int8", "int4"):
        layers = compress_layers(model, f"{weights}_asym", ratio, group_size, kept)
    write_model(model, files, weights == "fp16")
    return Conversion([str(file) for file in files], operations, layers)


def write_model(model: Model, files: Sequence[Path], compress_to_fp16: bool = False) -> None:
    """Write a model to the files that ``converted_files`` names. Raises FrontendError."""
    if files[0].suffix == ".onnx":
        with importing_onnx():
            from hetero.frontend.onnx.writer import save_onnx

        save_onnx(model, files[0], compress_to_fp16)
    else:
        save_model(model, files[0], compress_to_fp16)


@dataclass(frozen=True)
class Compilation:
    """The result: the file, its size in bytes, and the placement on several devices."""

    file: str
    byte_size: int
    device: str
    compile_seconds: float
    placement: PlacementInfo | None


def compile_to_blob(
    core: Core, model: Model, device: str, properties: Mapping[str, Any], file: Path, progress: Progress
) -> Compilation:
    """Compile a model and write it to a blob. Raises HeteroError, and OSError if the file cannot be written."""
    progress(f"Compiling for {device}", 0, 1)
    started = time.perf_counter()
    compiled = compile_model(core, model, device, properties)
    seconds = time.perf_counter() - started
    with atomic_write(file) as (stream,):
        compiled.export_model(stream)
    return Compilation(str(file), file.stat().st_size, device, seconds, placement_of(compiled, []))
