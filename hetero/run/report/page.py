"""Write the data of a report into one HTML file, together with the JavaScript that draws it."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from hetero.run.report.data import ReportData
from hetero.system.files import atomic_write

# The marks of page.html, each on a line of its own, and the files that replace them.
LIBRARIES = ("libraries/cytoscape-3.34.4.min.js", "libraries/d3-dag-1.2.2.min.js")
SCRIPTS = {"/* libraries */": LIBRARIES, "/* page */": ("graph.js", "tables.js")}
DATA = "/* data */"


@dataclass(frozen=True)
class WrittenPage:
    """The path of a page, and what it shows."""

    file: str
    report: ReportData


def to_html(data: ReportData) -> str:
    """Return a page that needs no other file and no network."""
    folder = files("hetero.run.report")
    html = folder.joinpath("page.html").read_text("utf-8")
    for mark, names in SCRIPTS.items():
        html = html.replace(mark, "\n".join(folder.joinpath(name).read_text("utf-8") for name in names))
    # Last, so that nothing in the data is taken for a mark. Without "<", no name can end the script element.
    content = json.dumps(dataclasses.asdict(data), allow_nan=False).replace("<", "\\u003c")
    return html.replace(DATA, f"const report = {content};")


def write_page(data: ReportData, file: Path) -> WrittenPage:
    """Write the page, atomically. Raises OSError."""
    with atomic_write(file) as (stream,):
        stream.write(to_html(data).encode())
    return WrittenPage(str(file), data)
