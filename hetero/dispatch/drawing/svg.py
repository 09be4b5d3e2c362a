"""Write a picture as SVG, with the layout of ``layout.py``. Browsers show the tooltips."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from hetero.dispatch.drawing.layout import layout
from hetero.dispatch.drawing.picture import Box, Picture, printable

FONT_SIZE = 11
LINE_HEIGHT = 14
# Mean width of a letter in wide fonts, in pixels.
LETTER_WIDTH = 6.6
BOLD_WIDTH = 7.4
PADDING = 7
LEGEND_SIDE = 12
_STYLE = (
    f"text{{font:{FONT_SIZE}px Helvetica,Arial,sans-serif;text-anchor:middle}}"
    ".head{font-weight:bold}.left{text-anchor:start}"
    "path{fill:none;stroke:#555555}rect{stroke:#333333}.plain{stroke:none}"
)


def to_svg(picture: Picture) -> str:
    """Return the picture as an SVG document."""
    sizes = [_size(box) for box in picture.boxes]
    edges = list(picture.lines)
    place = layout(sizes, edges)
    head, head_width, head_height = _head(picture)
    width, height = max(place.width, head_width), place.height + head_height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>{_text(picture.title[0])}</title><style>{_STYLE}</style>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0L8,4L0,8z" style="fill:#555555;stroke:none"/></marker></defs>',
        f'<rect class="plain" width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        *head,
        f'<g transform="translate(0,{head_height})">',
    ]
    for line, (edge, tooltip) in zip(place.lines, picture.lines.items()):
        arrow = ' marker-end="url(#arrow)"' if picture.boxes[edge[1]].is_framed else ""
        parts.append(f'<path d="{_path(line)}"{arrow}><title>{_text(tooltip)}</title></path>')
    parts += [_box(box, corner, size) for box, corner, size in zip(picture.boxes, place.corners, sizes)]
    return "\n".join([*parts, "</g></svg>", ""])


def _size(box: Box) -> tuple[float, float]:
    widths = [_text_width(line, is_bold=box.is_framed and index == 0) for index, line in enumerate(box.lines)]
    return max(widths) + 2 * PADDING, LINE_HEIGHT * len(box.lines) + PADDING


def _text_width(text: str, is_bold: bool = False) -> float:
    return (BOLD_WIDTH if is_bold else LETTER_WIDTH) * len(text)


def _head(picture: Picture) -> tuple[list[str], float, float]:
    """Return the title and the legend as SVG, with their width and height."""
    parts = []
    y = 2.0
    for index, line in enumerate(picture.title):
        y += LINE_HEIGHT
        head = " head" if index == 0 else ""
        parts.append(f'<text class="left{head}" x="{PADDING}" y="{y:.1f}">{_text(line)}</text>')
    x, y = float(PADDING), y + LINE_HEIGHT + 4
    for name, (fill, _) in picture.legend:
        top = y - LEGEND_SIDE + 2
        parts.append(f'<rect x="{x:.1f}" y="{top:.1f}" width="{LEGEND_SIDE}" height="{LEGEND_SIDE}" fill="{fill}"/>')
        x += LEGEND_SIDE + 4
        parts.append(f'<text class="left" x="{x:.1f}" y="{y:.1f}">{_text(name)}</text>')
        x += _text_width(name) + 2 * PADDING
    widest = max(_text_width(line, is_bold=index == 0) for index, line in enumerate(picture.title))
    return parts, max(x, widest + 2 * PADDING), y + PADDING


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return the path of a line: vertical segments and curves with vertical ends, alternating."""
    (x, y), *rest = points
    parts = [f"M{x:.1f},{y:.1f}"]
    for index, (to_x, to_y) in enumerate(rest):
        if index % 2:
            middle = (y + to_y) / 2
            parts.append(f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}")
        elif to_y > y:
            parts.append(f"V{to_y:.1f}")
        x, y = to_x, to_y
    return "".join(parts)


def _box(box: Box, corner: tuple[float, float], size: tuple[float, float]) -> str:
    (x, y), (width, height), (fill, ink) = corner, size, box.color
    frame = "" if box.is_framed else ' class="plain"'
    parts = [
        f"<g><title>{_text(box.tooltip)}</title>"
        f'<rect{frame} x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" fill="{fill}"/>'
    ]
    for index, line in enumerate(box.lines):
        head = ' class="head"' if box.is_framed and index == 0 else ""
        baseline = y + PADDING / 2 + LINE_HEIGHT * (index + 1) - 3
        parts.append(f'<text{head} x="{x + width / 2:.1f}" y="{baseline:.1f}" fill="{ink}">{_text(line)}</text>')
    return "".join([*parts, "</g>"])


def _text(text: str) -> str:
    return escape(printable(text))
