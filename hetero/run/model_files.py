"""Models in files: models to compile, and compiled models (blobs of ``hetero compile``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hetero.dispatch.report import log as placement_log
from hetero.frontend import ProgressReporterExtension
from hetero.graph import Model
from hetero.plugin.blobs.blob import MAGIC
from hetero.runtime import CompiledModel, Core

Progress = Callable[[str, int, int], None]


def is_blob(path: Path) -> bool:
    """Return whether a file is a compiled model. Raises OSError if it cannot be read."""
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_model(core: Core, path: Path, extensions: Sequence[Path | str], progress: Progress) -> Model:
    """Read a model file. ``progress(text, done, total)`` is called for each percent. Raises HeteroError."""

    def report(fraction: float, total: int, completed: int) -> None:
        if completed * 100 // total > (completed - 1) * 100 // total:
            progress("Reading the model", completed, total)

    progress("Reading the model", 0, 1)
    core.add_extension([*extensions, ProgressReporterExtension(report)])
    return core.read_model(path)


def compile_model(core: Core, model: Model | Path, device: str, properties: Mapping[str, Any]) -> CompiledModel:
    """Compile a model, or import the blob of a path. The placement is not logged, because reports contain it."""
    with placement_log_muted():
        if isinstance(model, Path):
            return core.import_model(model, device, properties)
        return core.compile_model(model, device, properties)


@contextmanager
def placement_log_muted() -> Iterator[None]:
    """Suppress the dispatcher's log line about the placement, because the report contains it."""
    was_disabled, placement_log.disabled = placement_log.disabled, True
    try:
        yield
    finally:
        placement_log.disabled = was_disabled
