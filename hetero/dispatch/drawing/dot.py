"""Write a picture as a Graphviz DOT file."""

from __future__ import annotations

from hetero.dispatch.drawing.picture import Picture, printable


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
