"""The programs, and their table in the documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "openvino_programs.md"
DEVICES = ("CPU", "GPU", "HETERO:GPU,TEMPLATE")
_HEADER = f"| package | version | main job | {' | '.join(f'`{device}`' for device in DEVICES)} |\n"
_HEADER += f"|{'---|' * (3 + len(DEVICES))}\n"
_TABLE = re.compile(re.escape(_HEADER) + r"((?:\|.*\|\n)*)")


class Program(NamedTuple):
    """A program: its file, the package whose main job it does, and what that is."""

    path: Path
    package: str
    job: str

    @property
    def group(self) -> str:
        return self.path.parent.name

    @property
    def environment(self) -> Path:
        return ROOT / f".venv-programs-{self.group}"


class Row(NamedTuple):
    """A row of the table: ``results`` has a cell for each device."""

    package: str
    version: str
    job: str
    results: tuple[str, ...]


def programs() -> list[Program]:
    """Return the programs of all groups."""
    return [_program(path) for path in sorted(Path(__file__).parent.glob("*/*.py"))]


def _program(path: Path) -> Program:
    title = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    package, _, job = title.removesuffix(".").partition(": ")
    return Program(path, package, job)


def documented_rows() -> list[Row]:
    """Return the rows of the table in the documentation."""
    match = _TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert match is not None, f"{PAGE} has no table of programs"
    rows = [[cell.strip() for cell in line[1:-2].split("|")] for line in match[1].splitlines(keepends=True)]
    return [Row(package, version, job, tuple(results)) for package, version, job, *results in rows]


def document(rows: Mapping[str, Row], programs: Iterable[Program]) -> None:
    """Write the table in the documentation; programs without a new row, by their jobs, keep theirs."""
    known = {row.job: row for row in documented_rows()} | dict(rows)
    lines = (known[program.job] for program in programs if program.job in known)
    table = _HEADER + "".join(f"| {' | '.join([*row[:3], *row.results])} |\n" for row in lines)
    PAGE.write_text(_TABLE.sub(lambda _: table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
