"""A picture in the language of Graphviz, to be laid out by its ``dot``."""

from __future__ import annotations

from hetero.dispatch.drawing.picture import Picture, printable


def to_dot(picture: Picture) -> str:
    """The picture as a directed graph. A name may hold anything: it is quoted."""
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
    """A string of these lines. In it a backslash begins an escape, so that those in a name are doubled."""
    text = printable("\n".join(lines)).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
