"""The campaign: many cases of every format on a few workers, counted, and failing inputs kept."""

from __future__ import annotations

import importlib
import json
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tests.robustness.damage import Case, draw_case
from tests.robustness.workers import MEMORY, PASSED, SECONDS, Outcome, Worker, write_files


class Format(NamedTuple):
    """The module of a format, and its part of the damaged files, in twentieths."""

    module: str
    share: int


FORMATS = {
    "ONNX": Format("tests.robustness.onnx_models", 6),
    "OpenVINO IR": Format("tests.robustness.ir_models", 5),
    "TensorFlow Lite": Format("tests.robustness.tflite_models", 3),
    "exported model": Format("tests.robustness.blobs", 2),
    "YAML run": Format("tests.robustness.yaml_runs", 2),
    "measured costs": Format("tests.robustness.costs", 1),
    "model and kernel cache": Format("tests.robustness.caches", 1),
}
# Plans of concurrent work are no files, so they come on top: one for each hundred files.
CONCURRENCY = "concurrent work"
MODULES = {name: format.module for name, format in FORMATS.items()} | {CONCURRENCY: "tests.robustness.concurrency"}
COLUMNS = {
    "accepted": "accepted", "refused": "refused", "short of memory": "no memory", "foreign": "errors not ours",
    "message": "bad messages", "crash": "crashes", "hang": f"hangs > {SECONDS} s", "memory": f"above {MEMORY >> 30} GB",
}  # fmt: skip


@dataclass
class Counts:
    """What became of the cases of one format."""

    kinds: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0  # seconds


class Campaign:
    """Runs cases; ``kept`` lists the folders of failing inputs."""

    def __init__(self, cases: int, seed: int, folder: Path) -> None:
        self._seed, self._folder = seed, folder
        planned = {name: -(-cases * format.share // 20) for name, format in FORMATS.items()}
        self.planned = planned | {CONCURRENCY: -(-cases // 100)}
        self.counts = {name: Counts() for name in MODULES}
        self.kept: list[Path] = []
        self._lock = threading.Lock()

    @property
    def failed(self) -> bool:
        return any(counts.kinds[kind] for counts in self.counts.values() for kind in COLUMNS if kind not in PASSED)

    def run(self, workers: int, progress: Callable[[int], None]) -> None:
        """Run all cases on so many workers; ``progress`` is called with the number done."""
        samples = {name: importlib.import_module(module).samples() for name, module in MODULES.items()}
        waiting, broken = self._cases(), []

        def work() -> None:
            worker = Worker()
            try:
                while (item := self._next(waiting)) is not None and not broken:
                    name, index = item
                    case = draw_case(MODULES[name], len(samples[name]), Random(f"{self._seed}/{name}/{index}"))
                    started = time.monotonic()
                    outcome = worker.run(case, samples[name])
                    self._note(name, outcome, time.monotonic() - started)
                    if outcome.failed:
                        case, outcome = shrink(case, outcome, lambda c: worker.run(c, samples[name]))  # noqa: B023
                        self._keep(f"{name.replace(' ', '-')}-{self._seed}-{index}", case, outcome, samples[name])
                    progress(sum(counts.kinds.total() for counts in self.counts.values()))
            except BaseException as error:
                broken.append(error)
            finally:
                worker.close()

        threads = [threading.Thread(target=work) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if broken:
            raise broken[0]

    def _cases(self) -> Iterator[tuple[str, int]]:
        """Cases of all formats side by side, so that a run that is cut short has tried each."""
        for index in range(max(self.planned.values())):
            yield from ((name, index) for name, count in self.planned.items() if index < count)

    def _next(self, waiting: Iterator[tuple[str, int]]) -> tuple[str, int] | None:
        with self._lock:
            return next(waiting, None)

    def _note(self, name: str, outcome: Outcome, seconds: float) -> None:
        with self._lock:
            counts = self.counts[name]
            counts.kinds[outcome.kind] += 1
            counts.slowest = max(counts.slowest, seconds)

    def _keep(self, label: str, case: Case, outcome: Outcome, samples: list[dict[str, bytes]]) -> None:
        """Write the damaged files into a folder, with a note of where they come from."""
        folder = self._folder / label
        write_files(folder / "files", case.make(samples[case.sample]))
        note = {**asdict(case), "outcome": outcome.kind, "text": outcome.text}
        (folder / "case.json").write_text(json.dumps(note, indent=1))
        with self._lock:
            self.kept.append(folder)

    def table(self) -> Table:
        """Return the counts for people to read."""
        table = Table(box=SIMPLE_HEAD)
        for title in ("format", "files", *COLUMNS.values(), "slowest"):
            table.add_column(title, justify="left" if title == "format" else "right")
        total: Counter[str] = Counter()
        for name, counts in self.counts.items():
            if name == CONCURRENCY:
                table.add_section()
                table.add_row("all formats", *map(str, [total.total(), *(total[kind] for kind in COLUMNS)]), "")
                table.add_section()
            total += counts.kinds
            row = [counts.kinds.total(), *(counts.kinds[kind] for kind in COLUMNS)]
            table.add_row(name, *map(str, row), f"{counts.slowest:.1f} s")
        return table


def shrink(case: Case, outcome: Outcome, run: Callable[[Case], Outcome]) -> tuple[Case, Outcome]:
    """Leave out changes without which the case fails in the same way."""
    for change in case.changes:
        fewer = Case(case.module, case.sample, tuple(other for other in case.changes if other is not change))
        found = run(fewer)
        if found.kind == outcome.kind:
            case, outcome = fewer, found
    return case, outcome


def replay(folder: Path, console: Console) -> bool:
    """Run a kept input again and tell what becomes of it; return whether it still fails."""
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


def fresh_folder(folder: Path) -> Path:
    """Empty the folder for failing inputs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
