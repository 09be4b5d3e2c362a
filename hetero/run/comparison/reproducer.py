"""A reproducer: operations that show a difference between devices, as an IR file with their inputs."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hetero.errors import ConfigError
from hetero.files import atomic_write
from hetero.frontend.ir.writer import serialize
from hetero.graph import port_name
from hetero.run.comparison.search import Found
from hetero.run.sources import writable_file


def reproducer_files(text: str) -> list[Path]:
    """Return the .xml file to write, and the .bin and .npz files beside it. Raises ConfigError."""
    xml = writable_file(text, Path())
    if xml.suffix != ".xml":
        raise ConfigError(f"the name of a reproducer must end in .xml, but is {xml}")
    return [xml, *(writable_file(str(xml.with_suffix(suffix)), Path()) for suffix in (".bin", ".npz"))]


def write_reproducer(found: Found, files: list[Path]) -> None:
    """Write the model to the first two files, and the arrays of its inputs to the last one.

    Raises FrontendError if IR cannot hold the operations, and OSError.
    """
    xml, weights, arrays = files
    serialize(found.piece.model, xml, weights)
    _save_arrays(arrays, {port_name(port): array for port, array in zip(found.piece.model.inputs, found.inputs)})


def _save_arrays(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an npz file. Unlike np.savez, it takes any name, and types of ml_dtypes are stored as f32."""
    with atomic_write(file) as (stream,), zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            stored = array.astype(np.float32) if array.dtype.kind == "V" else array
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, stored, allow_pickle=False)
