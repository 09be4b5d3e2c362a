"""A reproducer: operations that show a difference between devices, as an IR or ONNX file with their inputs."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hetero.graph import port_name
from hetero.run.comparison.search import Found
from hetero.run.conversion import converted_files, write_model
from hetero.run.yaml_runs.sources import writable_file
from hetero.system.files import atomic_write


def reproducer_files(text: str) -> list[Path]:
    """Return the files of the model to write, and the .npz file beside it. Raises ConfigError."""
    files = converted_files(text)
    return [*files, writable_file(str(files[0].with_suffix(".npz")), Path())]


def write_reproducer(found: Found, files: list[Path]) -> None:
    """Write the arrays of the inputs to the last file, and the model to the others.

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
