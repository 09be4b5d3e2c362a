"""Pictures of a placement as boxes and lines, for operations and for subgraphs, and as Graphviz DOT files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.dispatch.report import PlacementReport, SubgraphReport, counted
from hetero.graph import Constant, Model, Node, Output, Parameter, is_terminal, port_name
from hetero.system.files import atomic_write
from hetero.system.messages import get_logger

# Fill color of a box, and color of its text.
Color = tuple[str, str]
# M. Okabe, K. Ito: Color Universal Design (2008): colors that can be told apart with any color vision.
COLORS = (
    ("#56b4e9", "#000000"), ("#e69f00", "#000000"), ("#009e73", "#000000"), ("#f0e442", "#000000"),
    ("#0072b2", "#ffffff"), ("#d55e00", "#000000"), ("#cc79a7", "#000000"), ("#000000", "#ffffff"),
)  # fmt: skip
# Color of operations that no device runs.
NO_COLOR = ("#ffffff", "#000000")
MAX_TEXT_LENGTH = 26
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Maximum number of lines that a box lists; the rest is counted.
MAX_NAMED = 4


@dataclass(frozen=True)
class Box:
    """Lines of text, in the color of a device. A box without a frame is the label of a line."""

    lines: tuple[str, ...]
    tooltip: str
    color: Color = NO_COLOR
    is_framed: bool = True


@dataclass
class Picture:
    """Boxes, and lines with tooltips, each from a box to a later one."""

    title: list[str]
    legend: list[tuple[str, Color]]
    boxes: list[Box] = field(default_factory=list)
    lines: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, box: Box) -> int:
        self.boxes.append(box)
        return len(self.boxes) - 1

    def join(self, source: int, target: int, tooltip: str) -> None:
        """Add a line between two boxes. If there is one, only its tooltip is extended."""
        before = self.lines.get((source, target))
        self.lines[source, target] = tooltip if before is None else f"{before}\n{tooltip}"


@dataclass(frozen=True)
class PlacedOn:
    """The device of an operation, None if no device supports it, and the reason."""

    device: str | None
    reason: str


def picture_of_affinities(model: Model, devices: Sequence[str], placed: Mapping[str, PlacedOn]) -> Picture:
    """Return every operation but Constants as a box in the color of its device. ``placed`` is by friendly name."""
    colors = _colors(devices)
    used = [device for device in devices if any(place.device == device for place in placed.values())]
    picture = Picture([f"{model.friendly_name}: operations by device"], [(device, colors[device]) for device in used])
    index_of: dict[Node, int] = {}
    for node in model.get_ordered_ops():
        if isinstance(node, Constant):
            continue
        if not is_terminal(node):
            where = placed[node.friendly_name]
            lines = (node.type_info.name, shortened(node.friendly_name))
            about = f"{node.type_info.name} '{node.friendly_name}'\n{where.device or 'no device'}: {where.reason}"
            box = Box(lines, "\n".join([about, *map(_port_text, node.outputs())]), colors[where.device])
        else:
            box = _port_box(node)
        index_of[node] = picture.add(box)
        for value in node.input_values():
            if value.node in index_of:
                picture.join(index_of[value.node], index_of[node], _port_text(value))
    return picture


def picture_of_subgraphs(model: Model, subgraphs: Sequence[DeviceSubgraph], report: PlacementReport) -> Picture:
    """Return every subgraph as a box in the color of its device, with labels for the values between subgraphs."""
    colors = _colors(report.devices)
    used = [device for device in report.devices if device in report.counts]
    picture = Picture([report.model, *report.summary().split("; ")], [(device, colors[device]) for device in used])
    readers: dict[Output, list[int]] = {}
    for index, subgraph in enumerate(subgraphs):
        for value in subgraph.inputs:
            readers.setdefault(value, []).append(index)
    boundaries = {(boundary.source, boundary.value): str(boundary) for boundary in report.boundaries}
    # The boxes where the lines of values begin: that of a node, or the label of a value for a reading subgraph.
    box_of: dict[Node, int] = {parameter: picture.add(_port_box(parameter)) for parameter in model.parameters}
    label_of: dict[tuple[Output, int], int] = {}
    for index, (subgraph, described) in enumerate(zip(subgraphs, report.subgraphs)):
        box = picture.add(_subgraph_box(subgraph, described, colors[described.device]))
        for value in subgraph.inputs:
            source = box_of[value.node] if isinstance(value.node, Parameter) else label_of[value, index]
            picture.join(source, box, _port_text(value))
        box_of.update(dict.fromkeys(subgraph.nodes, box))
        by_targets: dict[tuple[int, ...], list[Output]] = {}
        for value in subgraph.outputs:
            by_targets.setdefault(tuple(readers.get(value, ())), []).append(value)
        for targets, values in by_targets.items():
            if targets:
                label = picture.add(_values_label(values, [boundaries[index, port_name(value)] for value in values]))
                picture.join(box, label, "\n".join(map(_port_text, values)))
                label_of.update(((value, target), label) for value in values for target in targets)
    for result in model.results:
        box = picture.add(_port_box(result))
        value = result.input_value(0)
        if value.node in box_of:
            picture.join(box_of[value.node], box, _port_text(value))
    return picture


def shortened(name: str) -> str:
    """Return the end of a long name, which is more specific than its beginning."""
    return name if len(name) <= MAX_TEXT_LENGTH else f"…{name[1 - MAX_TEXT_LENGTH :]}"


def printable(text: str) -> str:
    """Replace the characters that XML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def _subgraph_box(subgraph: DeviceSubgraph, report: SubgraphReport, color: Color) -> Box:
    kinds = Counter(node.type_info.name for node in subgraph.nodes).most_common()
    lines = [f"{report.index}: {report.device}", counted(len(report.operations), "operation")]
    lines += _first_few([f"{count} {kind}" for kind, count in kinds])
    return Box(tuple(lines), "\n".join(report.operations), color)


def _values_label(values: Sequence[Output], tooltips: Sequence[str]) -> Box:
    shapes = [f"{value.element_type}{value.partial_shape}" for value in values]
    return Box(tuple(map(shortened, _first_few(shapes))), "\n".join(tooltips), is_framed=False)


def _port_box(node: Node) -> Box:
    """Return the box of an input or an output of the model."""
    value = node.output(0) if isinstance(node, Parameter) else node.input_value(0)
    kind = "input" if isinstance(node, Parameter) else "output"
    return Box(
        (f"{kind} {shortened(port_name(value))}", shortened(f"{value.element_type}{value.partial_shape}")),
        f"{kind} {_port_text(value)}",
    )


def _port_text(value: Output) -> str:
    return f"'{port_name(value)}' {value.element_type}{value.partial_shape}"


def _first_few(lines: Sequence[str]) -> list[str]:
    more = len(lines) - MAX_NAMED
    return [*lines[:MAX_NAMED], f"and {more} more"] if more > 0 else list(lines)


def _colors(devices: Sequence[str]) -> dict[str | None, Color]:
    return {None: NO_COLOR} | {device: COLORS[i % len(COLORS)] for i, device in enumerate(devices)}


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
