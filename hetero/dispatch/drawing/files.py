"""Write pictures as Graphviz DOT files; each file is replaced atomically."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.dispatch.drawing.picture import Picture, PlacedOn, picture_of_affinities, picture_of_subgraphs, printable
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


def to_dot(picture: Picture) -> str:
    """Return the picture as a directed graph in DOT. All texts are quoted."""
    parts = [
        "digraph {",
        f"  label={_quoted(*picture.title)}; labelloc=t;",
        "  node [shape=box, style=filled, fontsize=11]; edge [color=gray33];",
    ]
    for index, box in enumerate(picture.boxes):
        fill, ink = box.color
        shape = "" if box.is_framed else ", shape=plaintext"
        parts.append(
            f"  n{index} [label={_quoted(*box.lines)}, tooltip={_quoted(box.tooltip)}, fillcolor={_quoted(fill)}, "
            f"fontcolor={_quoted(ink)}{shape}];"
        )
    for (source, target), tooltip in picture.lines.items():
        parts.append(f"  n{source} -> n{target} [tooltip={_quoted(tooltip)}];")
    parts.append("  subgraph cluster_legend {")
    for index, (name, (fill, ink)) in enumerate(picture.legend):
        parts.append(f"    d{index} [label={_quoted(name)}, fillcolor={_quoted(fill)}, fontcolor={_quoted(ink)}];")
    return "\n".join([*parts, "  }", "}", ""])


def _quoted(*lines: str) -> str:
    """Return these lines as a quoted string; backslashes are doubled, as they begin an escape sequence in DOT."""
    text = printable("\n".join(lines)).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
