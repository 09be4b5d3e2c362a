"""Settings of Sphinx: `make docs` builds these pages and the API reference from docstrings."""

import importlib.metadata
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

from operation_pages import write_pages
from pygments.lexers.special import TextLexer

project = "hetero"
version = importlib.metadata.version("hetero")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_show_copyright = False
html_title = f"hetero {version}"
# GitHub's anchors of headings, as links between pages use them.
myst_heading_anchors = 3
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "description"

# docs/operations.md lists these pages.
write_pages(Path(__file__).parent / "operations")


def setup(app):
    """Show the block with the layers of docs/development/architecture.md as plain text."""
    app.add_lexer("layers", TextLexer)
