"""Pictures of a placement, as boxes and lines: of every operation with its device, and of the subgraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hetero.dispatch.affinity import is_placed
from hetero.dispatch.partition import Subgraph
from hetero.dispatch.report import PlacementReport, SubgraphReport, counted
from hetero.graph import Constant, Model, Node, Output, Parameter, port_name

# Of a box, and of the text on it.
Colour = tuple[str, str]
# M. Okabe, K. Ito: Color Universal Design (2008), colours that people with any kind of colour vision tell apart.
COLOURS = (
    ("#56b4e9", "#000000"), ("#e69f00", "#000000"), ("#009e73", "#000000"), ("#f0e442", "#000000"),
    ("#0072b2", "#ffffff"), ("#d55e00", "#000000"), ("#cc79a7", "#000000"), ("#000000", "#ffffff"),
)  # fmt: skip
# Of what no device runs.
NO_COLOUR = ("#ffffff", "#000000")
LONGEST_TEXT = 26
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What a box names of many; the rest is counted.
MOST_NAMED = 4


@dataclass(frozen=True)
class Box:
    """Lines of text; in a colour where a device runs it, without a frame where it is what lines are called."""

    lines: tuple[str, ...]
    tooltip: str
    color: Colour = NO_COLOUR
    is_framed: bool = True


@dataclass
class Picture:
    """Boxes, and lines between two of them with a tooltip; each goes from a box to a later one."""

    title: list[str]
    legend: list[tuple[str, Colour]]
    boxes: list[Box] = field(default_factory=list)
    lines: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, box: Box) -> int:
        self.boxes.append(box)
        return len(self.boxes) - 1

    def join(self, source: int, target: int, tooltip: str) -> None:
        """A line between two boxes; of several values between them the tooltips are joined."""
        before = self.lines.get((source, target))
        self.lines[source, target] = tooltip if before is None else f"{before}\n{tooltip}"


@dataclass(frozen=True)
class Where:
    """The device of an operation, None where none can run it, and why that one."""

    device: str | None
    reason: str


def picture_of_affinities(model: Model, devices: Sequence[str], where: Mapping[str, Where]) -> Picture:
    """Every operation as a box in the colour of its device, by friendly names; Constants are left out."""
    colors = _colours(devices)
    used = [device for device in devices if any(w.device == device for w in where.values())]
    picture = Picture([f"{model.friendly_name}: operations by device"], [(device, colors[device]) for device in used])
    index_of: dict[Node, int] = {}
    for node in model.get_ordered_ops():
        if isinstance(node, Constant):
            continue
        if is_placed(node):
            found = where[node.friendly_name]
            lines = (node.type_info.name, shortened(node.friendly_name))
            about = f"{node.type_info.name} '{node.friendly_name}'\n{found.device or 'no device'}: {found.reason}"
            box = Box(lines, "\n".join([about, *map(_told, node.outputs())]), colors[found.device])
        else:
            box = _end(node)
        index_of[node] = picture.add(box)
        for value in node.input_values():
            if value.node in index_of:
                picture.join(index_of[value.node], index_of[node], _told(value))
    return picture


def picture_of_subgraphs(model: Model, subgraphs: Sequence[Subgraph], report: PlacementReport) -> Picture:
    """Every subgraph as a box in the colour of its device; what goes from one to others is told between them."""
    colors = _colours(report.devices)
    used = [device for device in report.devices if device in report.counts]
    picture = Picture([report.model, *report.summary().split("; ")], [(device, colors[device]) for device in used])
    readers: dict[Output, list[int]] = {}
    for index, subgraph in enumerate(subgraphs):
        for value in subgraph.inputs:
            readers.setdefault(value, []).append(index)
    boundaries = {(boundary.source, boundary.value): str(boundary) for boundary in report.boundaries}
    # The boxes that values come from where a subgraph, or a result, reads them.
    box_of: dict[Node, int] = {parameter: picture.add(_end(parameter)) for parameter in model.parameters}
    on_the_way: dict[tuple[Output, int], int] = {}
    for index, (subgraph, told) in enumerate(zip(subgraphs, report.subgraphs)):
        box = picture.add(_subgraph_box(subgraph, told, colors[told.device]))
        for value in subgraph.inputs:
            source = box_of[value.node] if isinstance(value.node, Parameter) else on_the_way[value, index]
            picture.join(source, box, _told(value))
        box_of.update(dict.fromkeys(subgraph.nodes, box))
        together: dict[tuple[int, ...], list[Output]] = {}
        for value in subgraph.outputs:
            together.setdefault(tuple(readers.get(value, ())), []).append(value)
        for targets, values in together.items():
            if targets:
                between = picture.add(_values_box(values, [boundaries[index, port_name(value)] for value in values]))
                picture.join(box, between, "\n".join(map(_told, values)))
                on_the_way.update(((value, target), between) for value in values for target in targets)
    for result in model.results:
        box = picture.add(_end(result))
        value = result.input_value(0)
        if value.node in box_of:
            picture.join(box_of[value.node], box, _told(value))
    return picture


def shortened(name: str) -> str:
    """The end of a long name, which tells more than its beginning."""
    return name if len(name) <= LONGEST_TEXT else f"…{name[1 - LONGEST_TEXT :]}"


def printable(text: str) -> str:
    """A text without the characters that XML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def _subgraph_box(subgraph: Subgraph, told: SubgraphReport, color: Colour) -> Box:
    kinds = Counter(node.type_info.name for node in subgraph.nodes).most_common()
    lines = [f"{told.index}: {told.device}", counted(len(told.operations), "operation")]
    lines += _first_few([f"{count} {kind}" for kind, count in kinds])
    return Box(tuple(lines), "\n".join(told.operations), color)


def _values_box(values: Sequence[Output], told: Sequence[str]) -> Box:
    shapes = [f"{value.element_type}{value.partial_shape}" for value in values]
    return Box(tuple(map(shortened, _first_few(shapes))), "\n".join(told), is_framed=False)


def _end(node: Node) -> Box:
    """The box of an input or an output of the model."""
    value = node.output(0) if isinstance(node, Parameter) else node.input_value(0)
    kind = "input" if isinstance(node, Parameter) else "output"
    return Box(
        (f"{kind} {shortened(port_name(value))}", shortened(f"{value.element_type}{value.partial_shape}")),
        f"{kind} {_told(value)}",
    )


def _told(value: Output) -> str:
    return f"'{port_name(value)}' {value.element_type}{value.partial_shape}"


def _first_few(lines: Sequence[str]) -> list[str]:
    more = len(lines) - MOST_NAMED
    return [*lines[:MOST_NAMED], f"and {more} more"] if more > 0 else list(lines)


def _colours(devices: Sequence[str]) -> dict[str | None, Colour]:
    return {None: NO_COLOUR} | {device: COLOURS[i % len(COLOURS)] for i, device in enumerate(devices)}
