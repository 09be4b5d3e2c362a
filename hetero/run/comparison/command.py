"""The command ``hetero compare``: inputs, the comparison itself, and the files that it writes."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hetero.graph import Model, port_name
from hetero.run.comparison.recorded import compare_with_file
from hetero.run.comparison.search import Comparer, DeviceComparison, Found
from hetero.run.input_shapes import parse_shapes
from hetero.run.media.samples import load_samples
from hetero.run.model_files import Progress
from hetero.run.model_writing import converted_files, write_model
from hetero.run.settings import parse_properties
from hetero.run.yaml_runs.sources import existing_file, refuse_overwriting, writable_file
from hetero.runtime import Core
from hetero.system.errors import ConfigError, FrontendError
from hetero.system.files import atomic_write


def reproducer_files(text: str) -> list[Path]:
    """Return the files of the model to write, and the .npz file beside it. Raises ConfigError."""
    files = converted_files(text)
    return [*files, writable_file(str(files[0].with_suffix(".npz")), Path())]


def write_reproducer(found: Found, files: list[Path]) -> None:
    """Write the operations that show the difference: their inputs to the last file, the model to the others.

    Raises FrontendError if the format cannot hold the operations, and OSError.
    """
    *model, arrays = files
    write_model(found.piece.model, model)
    _save_arrays(arrays, {port_name(port): array for port, array in zip(found.piece.model.inputs, found.inputs)})


def _save_arrays(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an npz file. Unlike np.savez, it takes any name, and types of ml_dtypes are stored as f32."""
    with atomic_write(file) as (stream,), zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            stored = array.astype(np.float32) if array.dtype.kind == "V" else array
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, stored, allow_pickle=False)


@dataclass(frozen=True)
class Request:
    """The arguments of the command."""

    model: str
    device: str
    reference: str
    inputs: str
    shapes: Sequence[str]
    seed: int | None
    tolerance: float
    per_operation: bool
    settings: Sequence[str]
    reproducer: str
    extensions: Sequence[str]


def run_comparison(core: Core, model: Model, request: Request, progress: Progress) -> DeviceComparison:
    """Compare as the command line says, and write a reproducer of what differs. Raises HeteroError and OSError."""
    properties = parse_properties(request.settings)
    samples = load_samples(model, request.inputs, parse_shapes(request.shapes, model), request.seed)
    if request.reference.endswith(".npz"):
        file = existing_file(request.reference, Path())
        if model.inputs and (not request.inputs or len(samples) != 1):
            raise ConfigError(f"give the inputs that {file} was computed from as one file: --inputs FILE")
        if request.per_operation or request.reproducer:
            raise ConfigError("--per-operation and --reproducer need a device: --to DEVICE")
        return compare_with_file(core, model, request.device, file, samples[0], request.tolerance, properties, progress)
    files = reproducer_files(request.reproducer or f"{Path(request.model).stem}-differs.xml")
    read = [Path(request.model), *(sample.file for sample in samples if sample.file)]
    refuse_overwriting(files, read)
    comparer = Comparer(core, model, request.device, request.reference, request.tolerance, properties, progress)
    report = comparer.compare(samples, request.per_operation)
    report.model = Path(request.model).name
    # A model that consists of the found operations alone is its own reproducer.
    if comparer.found and len(comparer.found.piece.nodes) < report.operations:
        _write(report, comparer.found, files, request)
    return report


def _write(report: DeviceComparison, found: Found, files: list[Path], request: Request) -> None:
    try:
        write_reproducer(found, files)
    except (FrontendError, ValueError) as error:
        report.conclusion += f"; no reproducer is written: {error}"
        return
    report.reproducer = [str(file) for file in files]
    words = ["hetero", "compare", str(files[0]), "-d", request.device, "--to", request.reference]
    words += ["--inputs", str(files[-1])] if found.inputs else []
    words += ["--tolerance", f"{request.tolerance:g}"]
    words += [word for text in request.settings for word in ("--property", text)]
    words += [word for text in request.extensions for word in ("--extension", text)]
    report.command = shlex.join(words)
