"""Reading the model of a run with its extensions, and reporting progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hetero.frontend import ProgressReporterExtension
from hetero.graph import Model
from hetero.runtime import Core


def read_model(
    core: Core, path: Path, extensions: Sequence[Path | str], progress: Callable[[str, int, int], None]
) -> Model:
    """Read a model file. ``progress(text, done, total)`` is called for each percent. Raises HeteroError."""

    def report(fraction: float, total: int, completed: int) -> None:
        if completed * 100 // total > (completed - 1) * 100 // total:
            progress("Reading the model", completed, total)

    progress("Reading the model", 0, 1)
    core.add_extension([*extensions, ProgressReporterExtension(report)])
    return core.read_model(path)
