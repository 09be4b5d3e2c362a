"""The pages about development name files and classes that exist, and their programs run."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hetero import ops
from hetero.frontend.translation.translators import Attr, Row
from tests.test_readme import PAGES as ALL_PAGES
from tests.test_readme import ROOT, blocks

PAGES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs/development").rglob("*.md"))]
# A path of the repository, in running text or code.
PATH = re.compile(r"\b(?:hetero|plugins|tests|docs)(?:/[\w.]+)+")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ALL_PAGES)
def test_paths_exist(page):
    paths = {path.rstrip(".") for path in PATH.findall(text_of(page))}
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, "docs/plugins.md"])
def test_names_are_defined(page):
    """A name in a literal, such as ``Plugin.compile`` or ``choices_of``, is defined in some module."""
    literals = set(re.findall(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`", text_of(page)))
    names = {name for literal in literals for name in literal.split(".")[-2:] if is_name(name)}
    assert [name for name in sorted(names) if name not in defined_names()] == []


def is_name(name: str) -> bool:
    """Return whether a word is a name of ours: in mixed case, or with an underscore."""
    return bool(re.search(r"[a-z][A-Z]|[A-Z][a-z]|[a-z]_", name)) and name not in ELSEWHERE


# Names of others, and of files.
ELSEWHERE = {"Makefile", "MatMulNBits", "enqueue_nd_range_kernel", "evaluationContext", "hetero_opencl"}


@cache
def defined_names() -> set[str]:
    """Return the names of classes, functions, variables, parameters, attributes, keys and modules."""
    files = [path for folder in ("hetero", "plugins", "tests") for path in (ROOT / folder).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files if path != Path(__file__))
    definition = r"(?:class|def) (\w+)|^\s*(\w+)\s*(?::[^=\n]+)?=|\b(\w+)(?:: |=)|\"(\w+)\""
    names = {name for match in re.finditer(definition, text, re.MULTILINE) for name in match.groups() if name}
    return names | {path.stem for path in files}


def test_every_page_is_in_the_index():
    (index,) = blocks("{toctree}", "docs/development/index.md")
    entries = [f"docs/development/{line}" for line in index.splitlines() if line and line[0] != ":"]
    listed = {str(path.relative_to(ROOT)) for entry in entries for path in ROOT.glob(f"{entry}.md")}
    assert listed == set(PAGES) - {"docs/development/index.md"}


def test_index_answers_enough_questions():
    assert len(re.findall(r"^\| (?:where|how|which|what) .* \| .*`", text_of("docs/development/index.md"), re.M)) >= 25


def test_decisions_have_their_parts():
    decisions = [page for page in PAGES if "/decisions/" in page]
    numbers = [int(Path(page).name[:4]) for page in decisions]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 10
    for page in decisions:
        titles = re.findall(r"^## (.*)", text_of(page), re.MULTILINE)
        assert titles == ["Context", "Decision", "Consequences"], page


def test_rows_of_the_recipe_are_those_of_the_formats():
    """The rows that the recipe shows are registered, with the same operation."""
    from hetero.frontend.onnx import translators as of_onnx  # noqa: F401 (fills the table)
    from hetero.frontend.onnx.node_context import translators as onnx
    from hetero.frontend.pytorch import translators as of_torch  # noqa: F401
    from hetero.frontend.pytorch.node_context import translators as torch
    from hetero.frontend.tensorflow import translators as of_tensorflow  # noqa: F401
    from hetero.frontend.tensorflow.node_context import translators as tensorflow

    diffs = blocks("diff", "docs/development/recipes.md")
    for table, diff in zip((onnx, tensorflow, torch), diffs, strict=True):
        ((op_type, row),) = eval("{" + diff.removeprefix("+") + "}", {"Row": Row, "ops": ops, "Attr": Attr}).items()
        registered = table.find(op_type, 18)
        assert isinstance(row, Row) and registered is not None
        assert getattr(registered, "operation", row.operation) is row.operation


def test_kernel_program(monkeypatch):
    from hetero_opencl.kernels.common import definition

    monkeypatch.setattr(definition, "_implementations", {**definition._implementations})
    names = {}
    for program in blocks("python", "docs/development/kernels.md"):
        exec(compile(program, "docs/development/kernels.md", "exec"), names)
    assert "steps_of_softplus" in [info.exec_type for info in names["request"].get_profiling_info()]
    expected = np.log1p(np.exp(np.linspace(-3, 3, 100)))
    np.testing.assert_allclose(names["result"], expected, rtol=1e-5)
