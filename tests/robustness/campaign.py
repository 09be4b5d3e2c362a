"""The campaign: many cases of every format on a few workers, counted, and failing inputs kept."""

from __future__ import annotations

import importlib
import json
import math
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from random import Random

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tests.robustness.damage import Case, draw_case
from tests.robustness.workers import MEMORY, PASSED, SECONDS, Outcome, Worker, write_files

# The modules of the formats, and their shares of twenty damaged files. Plans of concurrent work are not files and come
# in addition: one per hundred files.
FORMATS = {
    "ONNX": ("onnx_models", 6), "OpenVINO IR": ("ir_models", 5), "TensorFlow Lite": ("tflite_models", 3),
    "exported model": ("blobs", 2), "YAML run": ("yaml_runs", 2), "measured costs": ("costs", 1),
    "caches": ("caches", 1), "concurrent work": ("concurrency", 0.2),
}  # fmt: skip
CONCURRENCY = "concurrent work"
MODULES = {name: f"tests.robustness.{module}" for name, (module, _) in FORMATS.items()}
COLUMNS = {
    "accepted": "accepted", "refused": "refused", "short of memory": "no memory", "foreign": "errors not ours",
    "message": "bad messages", "crash": "crashes", "hang": f"hangs > {SECONDS} s", "memory": f"above {MEMORY >> 30} GB",
}  # fmt: skip


class Campaign:
    """A run of many cases: outcomes counted by format, and the folders of failing inputs in ``kept``."""

    def __init__(self, cases: int, seed: int, folder: Path) -> None:
        self._seed, self._folder = seed, folder
        self.planned = {name: math.ceil(cases * share / 20) for name, (_, share) in FORMATS.items()}
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in FORMATS}
        self.slowest = dict.fromkeys(FORMATS, 0.0)
        self.kept: list[Path] = []
        self._samples = {name: importlib.import_module(module).samples() for name, module in MODULES.items()}

    @property
    def failed(self) -> bool:
        return any(counts[kind] for counts in self.counts.values() for kind in COLUMNS if kind not in PASSED)

    def run(self, workers: int, progress: Callable[[int], None]) -> None:
        """Run all cases on this number of workers; call ``progress`` with the number of cases done."""
        idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(workers):
            idle.put(Worker())

        def do(item: tuple[str, int]) -> tuple[str, Outcome, float, Path | None]:
            worker = idle.get()
            try:
                return self._run_case(worker, *item)
            finally:
                idle.put(worker)

        # Formats are interleaved, so that an interrupted run has tested all of them.
        cases = sorted((index / count, name, index) for name, count in self.planned.items() for index in range(count))
        pool = ThreadPoolExecutor(workers)
        try:
            for done, (name, outcome, seconds, kept) in enumerate(pool.map(do, (case[1:] for case in cases)), 1):
                self.counts[name][outcome.kind] += 1
                self.slowest[name] = max(self.slowest[name], seconds)
                self.kept += [kept] if kept else []
                progress(done)
        finally:
            pool.shutdown(cancel_futures=True)
            for _ in range(workers):
                idle.get().close()

    def _run_case(self, worker: Worker, name: str, index: int) -> tuple[str, Outcome, float, Path | None]:
        """Return the format, the outcome, the seconds and, of a failing case, the folder with its input."""
        samples, kept = self._samples[name], None
        case = draw_case(MODULES[name], len(samples), Random(f"{self._seed}/{name}/{index}"))
        started = time.monotonic()
        outcome = worker.run(case, samples)
        seconds = time.monotonic() - started
        if outcome.failed:
            case, outcome = shrink(case, outcome, lambda fewer: worker.run(fewer, samples))
            kept = self._folder / f"{name.replace(' ', '-')}-{self._seed}-{index}"
            write_files(kept / "files", case.make(samples[case.sample]))
            note = {**asdict(case), "outcome": outcome.kind, "text": outcome.text}
            (kept / "case.json").write_text(json.dumps(note, indent=1))
        return name, outcome, seconds, kept

    def table(self) -> Table:
        """Return the counts as a table."""
        table = Table(box=SIMPLE_HEAD)
        for title in ("format", "files", *COLUMNS.values(), "slowest"):
            table.add_column(title, justify="left" if title == "format" else "right")
        total: Counter[str] = Counter()
        for name, counts in self.counts.items():
            if name == CONCURRENCY:
                table.add_section()
                table.add_row("all formats", *map(str, [total.total(), *(total[kind] for kind in COLUMNS)]), "")
                table.add_section()
            total += counts
            row = [counts.total(), *(counts[kind] for kind in COLUMNS)]
            table.add_row(name, *map(str, row), f"{self.slowest[name]:.1f} s")
        return table


def shrink(case: Case, outcome: Outcome, run: Callable[[Case], Outcome]) -> tuple[Case, Outcome]:
    """Remove the changes that are not needed for the same kind of failure."""
    for change in case.changes:
        fewer = Case(case.module, case.sample, tuple(other for other in case.changes if other is not change))
        new_outcome = run(fewer)
        if new_outcome.kind == outcome.kind:
            case, outcome = fewer, new_outcome
    return case, outcome


def replay(folder: Path, console: Console) -> bool:
    """Run a kept input again and print its outcome; return whether it still fails."""
    note = json.loads((folder / "case.json").read_text())
    root = folder / "files"
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    worker = Worker()
    try:
        outcome = worker.replay(note["module"], files)
    finally:
        worker.close()
    console.print(f"{outcome.kind}: {outcome.text}", markup=False)
    return outcome.failed
