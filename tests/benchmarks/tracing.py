"""Cost of a span, with and without a Recorder."""

from __future__ import annotations

from contextlib import nullcontext

from hetero.system.tracing import Recorder, span
from tests.benchmarks.interleaved import Comparison, interleave

ROUNDS = 10
SPANS = 100_000


def compare() -> list[Comparison]:
    """Compare empty spans with contextlib.nullcontext."""
    candidates = {"nullcontext": _null_contexts, "not recorded": _spans, "recorded": _recorded_spans}
    return [interleave(f"{SPANS:,} spans", candidates, ROUNDS)]


def _null_contexts() -> None:
    for _ in range(SPANS):
        with nullcontext():
            pass


def _spans() -> None:
    for _ in range(SPANS):
        with span("start", "model", 1):
            pass


def _recorded_spans() -> None:
    with Recorder():
        _spans()
