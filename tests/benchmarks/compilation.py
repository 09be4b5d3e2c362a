"""Compilation of a model in memory for two devices, against OpenVINO's HETERO:CPU,CPU2, with kernels in the caches.

``python -m tests.benchmarks.compilation REVISION`` compares compilations of models that are cut with an earlier
revision's, in the same run.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import openvino

import hetero
from tests import zoo
from tests.benchmarks import cut_compilations
from tests.benchmarks.cut_compilations import CASES, Compilation
from tests.benchmarks.interleaved import Comparison, interleave

MODELS = ("resnet50", "densenet121")
DEVICES = ("HETERO:GPU,TEMPLATE", "HETERO:GPU", "GPU", "HETERO:TEMPLATE", "TEMPLATE")
ROUNDS = 5
ROOT = Path(__file__).parents[2]


def compare() -> Iterator[Comparison]:
    ours, theirs = hetero.Core(), openvino.Core()
    theirs.register_plugin("openvino_intel_cpu_plugin", "CPU2")
    for name in MODELS:
        candidates = {"openvino HETERO": _compilation(theirs, name, "HETERO:CPU,CPU2")}
        candidates |= {device: _compilation(ours, name, device) for device in DEVICES}
        yield interleave(f"compile_model of {name}", candidates, ROUNDS)


def _compilation(core: hetero.Core | openvino.Core, name: str, device: str) -> Callable[[], object]:
    model = core.read_model(zoo.path(name))
    return lambda: core.compile_model(model, device)


def compare_with(revision: str, cases: Sequence[str] = tuple(CASES)) -> Iterator[str]:
    """Yield a line for each case: medians of both revisions, their ratio, and the work that was counted."""
    with _exported(revision) as earlier, _process(earlier) as before, _process(ROOT) as now:
        for case in cases:
            found: dict[str, list[Compilation]] = {"before": [], "now": []}
            for _ in range(ROUNDS):
                for name, process in (("before", before), ("now", now)):
                    found[name].append(_compile(process, case))
            old, new = (statistics.median(c.seconds for c in found[name]) for name in found)
            yield f"{case:30} {old * 1e3:8.0f} → {new * 1e3:6.0f} ms  {new / old:5.2f} x   " + ", ".join(
                f"{getattr(found['before'][0], field)} → {getattr(found['now'][0], field)} {what}"
                for field, what in (("copies", "copies"), ("passes", "passes"), ("nodes", "nodes in passes"))
            )


@contextlib.contextmanager
def _exported(revision: str) -> Iterator[Path]:
    """Return a folder with the files of a revision, and the benchmark of today."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", revision], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
        benchmark = Path(cut_compilations.__file__)
        shutil.copy(benchmark, Path(folder) / benchmark.relative_to(ROOT))
        yield Path(folder)


@contextlib.contextmanager
def _process(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the child process with the packages in a folder, and caches of its own."""
    packages = [root, *(root / "plugins").iterdir()]
    with tempfile.TemporaryDirectory() as caches:
        variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, packages)),
            "HETERO_ZOO": str(zoo.folder()),
            "XDG_CACHE_HOME": caches,
        }
        command = [sys.executable, "-m", cut_compilations.__name__]
        with subprocess.Popen(
            command, cwd=root, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            yield process
            assert process.stdin
            process.stdin.close()


def _compile(process: subprocess.Popen[str], case: str) -> Compilation:
    assert process.stdin and process.stdout
    process.stdin.write(f"{case}\n")
    process.stdin.flush()
    return Compilation(*json.loads(process.stdout.readline()))


if __name__ == "__main__":
    for line in compare_with(*sys.argv[1:2]):
        print(line, flush=True)
