"""Write drawings to files; each file is replaced atomically."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.dispatch.drawing.dot import to_dot
from hetero.dispatch.drawing.picture import Picture, PlacedOn, picture_of_affinities, picture_of_subgraphs
from hetero.dispatch.report import PlacementReport
from hetero.graph import Model
from hetero.system.files import atomic_write
from hetero.system.messages import get_logger

log = get_logger("hetero.dispatch")
VISUALIZE = "HETERO_VISUALIZE"
_MAX_NAME_LENGTH = 100
# How often each name was used: several models of a process may have the same name.
_drawn: Counter[str] = Counter()


def visualize(model: Model, subgraphs: Sequence[DeviceSubgraph], report: PlacementReport) -> None:
    """Draw operations and subgraphs into the folder of the environment variable HETERO_VISUALIZE, if it is set.

    A folder that cannot be written to is logged as a warning.
    """
    folder = os.environ.get(VISUALIZE)
    if not folder:
        return
    where = {operation.name: PlacedOn(operation.device, operation.reason) for operation in report.operations}
    pictures = {
        "affinities": picture_of_affinities(model, report.devices, where),
        "subgraphs": picture_of_subgraphs(model, subgraphs, report),
    }
    stem = _unique_stem(model.friendly_name)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for kind, picture in pictures.items():
            draw(picture, Path(folder, f"{stem}.{kind}.dot"))
    except OSError as error:
        problem = error.strerror or error
        log.warning("'%s' is not drawn: %s=%s cannot be written: %s", model.friendly_name, VISUALIZE, folder, problem)


def draw(picture: Picture, file: Path) -> None:
    """Write a picture as a DOT file. Raise OSError if it cannot be written."""
    content = to_dot(picture).encode()
    with atomic_write(file) as (stream,):
        stream.write(content)


def _unique_stem(name: str) -> str:
    """Return a file name without suffix for a model's name, which may hold any characters."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._")[:_MAX_NAME_LENGTH] or "model"
    _drawn[plain] += 1
    return plain if _drawn[plain] == 1 else f"{plain}-{_drawn[plain]}"
