"""The summary at the end of a run: features, and a table of passed, failed and refused cases by operation."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

# Keys of the properties that tests record for the summary: a case of an operation; whether the device has a feature.
PROPERTY, FEATURE = "hetero.conformance.case", "hetero.conformance.feature"
WIDTH = 118
# pytest's fixture record_property.
Record = Callable[[str, object], None]


def record_case(
    record_property: Record, operation: str, works: Iterable[str], supported: bool, passed: bool | None = None
) -> None:
    """Record a case of an operation. ``works``: element types, "dynamic" or "empty", if it passes.

    ``passed``: whether the case passes; None if it is the only one of the test, and passes if the test does.
    """
    record_property(PROPERTY, [operation, sorted(works), supported, passed])


def features(reports: Iterable[Any]) -> list[str]:
    """Return the lines that list the device's features, from the reports of tests."""
    recorded = [value for report in reports for key, value in report.user_properties if key == FEATURE]
    lines = []
    for supported, label in ((True, "supported features"), (False, "unsupported features")):
        names = [name for name, has in recorded if has is supported]
        if names:
            lines.append(f"{label}: {', '.join(names)}")
    return lines


@dataclass
class ConformanceRow:
    """The cases of one operation."""

    passed: int = 0
    failed: int = 0
    refused: int = 0
    works: set[str] = field(default_factory=set)


def table(reports: Iterable[Any]) -> list[str]:
    """Return the lines of the table, from the reports of tests; [] if no test was a case of an operation."""
    rows: dict[str, ConformanceRow] = defaultdict(ConformanceRow)
    for report in reports:
        for operation, works, supported, passed in (v for key, v in report.user_properties if key == PROPERTY):
            row = rows[operation]
            if report.failed if passed is None else not passed:
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
    unsupported = sorted(rows.keys() - tried.keys())
    if unsupported:
        lines.append(f"not supported: {len(unsupported)} operations")
        lines += textwrap.wrap("  ".join(unsupported), WIDTH, initial_indent="  ", subsequent_indent="  ")
    passed, failed, refused = (
        sum(getattr(row, key) for row in rows.values()) for key in ("passed", "failed", "refused")
    )
    lines.append(f"cases: {passed} passed, {failed} failed, {refused} not supported")
    return lines
