"""Compilation of a model to a blob, for ``hetero run`` and ``hetero benchmark``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hetero.graph import Model
from hetero.run.model_files import Progress, compile_model
from hetero.run.yaml_runs.runner import PlacementInfo, placement_of
from hetero.runtime import Core
from hetero.system.files import atomic_write


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
