"""What is told at the end: features, and by operation how many cases pass, fail or are refused, and what works."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

# What tests note for the end: of which operation they are a case, and whether the device has a feature.
PROPERTY, FEATURE = "hetero.conformance.case", "hetero.conformance.feature"
WIDTH = 118


def note(record_property: Callable[[str, object], None], operation: str, works: Iterable[str], supported: bool) -> None:
    """Note for the table what a test is a case of, and what works when it passes: element types, or ways to use it."""
    record_property(PROPERTY, [operation, sorted(works), supported])


def features(reports: Iterable) -> list[str]:
    """The lines that tell what the device has and has not, from the reports of tests."""
    found = [value for report in reports for key, value in report.user_properties if key == FEATURE]
    lines = []
    for has, label in ((True, "it has"), (False, "it has not, and says so")):
        names = [name for name, whether in found if whether is has]
        if names:
            lines.append(f"{label}: {', '.join(names)}")
    return lines


@dataclass
class Row:
    """The cases of one operation."""

    passed: int = 0
    failed: int = 0
    refused: int = 0
    works: set[str] = field(default_factory=set)


def table(reports: Iterable) -> list[str]:
    """The lines of the table, from the reports of tests; none where no test was a case of an operation."""
    rows: dict[str, Row] = defaultdict(Row)
    for report in reports:
        for operation, works, supported in (value for key, value in report.user_properties if key == PROPERTY):
            row = rows[operation]
            if report.failed:
                row.failed += 1
            elif supported:
                row.passed += 1
                row.works.update(works)
            else:
                row.refused += 1
    if not rows:
        return []
    lines = [f"{'operation':32}{'passed':>7}{'failed':>7}{'refused':>8}  what works"]
    tried = {name: row for name, row in sorted(rows.items()) if row.passed or row.failed}
    for name, row in tried.items():
        lines.append(f"{name:32}{row.passed:7}{row.failed:7}{row.refused:8}  {' '.join(sorted(row.works))}")
    others = sorted(rows.keys() - tried.keys())
    if others:
        lines.append(f"not supported: {len(others)} operations")
        lines += _wrapped(others)
    passed, failed, refused = (
        sum(getattr(row, key) for row in rows.values()) for key in ("passed", "failed", "refused")
    )
    lines.append(f"cases: {passed} passed, {failed} failed, {refused} not supported")
    return lines


def _wrapped(names: Iterable[str]) -> list[str]:
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(name) + 2 > WIDTH:
            lines.append("")
        lines[-1] += f"  {name}"
    return lines
