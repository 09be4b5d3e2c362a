"""HTML for notebooks: what the method _repr_html_ of models and reports is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from hetero.system.messages import escaped


def paragraph(text: str) -> str:
    return f"<p>{_safe(text)}</p>"


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; texts of cells are shown as they are, never taken for HTML."""
    head = "".join(f"<th>{_safe(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{_safe(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _safe(text: str) -> str:
    return escape(escaped(text))
