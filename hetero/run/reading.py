"""Reading the model of a run, with the extensions that it names and a bar of how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hetero.frontend import ProgressReporterExtension
from hetero.graph import Model
from hetero.runtime import Core


def read_model(
    core: Core, path: Path, extensions: Sequence[Path | str], progress: Callable[[str, int, int], None]
) -> Model:
    """The model of a file, ``progress(text, done, total)`` being told of each hundredth. Raises HeteroError."""

    def report(fraction: float, total: int, completed: int) -> None:
        if completed * 100 // total > (completed - 1) * 100 // total:
            progress("Reading the model", completed, total)

    progress("Reading the model", 0, 1)
    core.add_extension([*extensions, ProgressReporterExtension(report)])
    return core.read_model(path)
