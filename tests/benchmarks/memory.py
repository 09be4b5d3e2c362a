"""Memory of a process with a model of 574 MB: on one device, and cut into 20 subgraphs on two."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
from hetero_template.plugin import TemplatePlugin

from hetero import Core
from hetero.dispatch.affinity import is_placed
from hetero.graph.rt_info import AFFINITY
from tests import zoo

SUBGRAPHS = 20
ROUNDS = 3
CANDIDATES = {"uncut": 1, f"{SUBGRAPHS} subgraphs": SUBGRAPHS}


def compare() -> list[str]:
    """Return a line for each candidate: medians of new processes run in turn, and the increase over the first."""
    zoo.fetch(zoo.LARGE)
    measured: dict[str, list[tuple[float, ...]]] = {name: [] for name in CANDIDATES}
    for _ in range(ROUNDS):
        for name, count in CANDIDATES.items():
            command = [sys.executable, "-m", "tests.benchmarks.memory", str(count)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            measured[name].append(tuple(map(float, printed.split())))
    medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in measured.items()}
    first = next(iter(medians.values()))
    return [
        f"{'memory of a model of 574 MB':32} {name:16} {resident / 1e6:10.0f} MB   {resident / first[0] - 1:+7.2%}"
        f"   peak {peak / 1e6:.0f} MB, {peak / first[1] - 1:+.2%}"
        for name, (resident, peak) in medians.items()
    ]


def measure(count: int) -> None:
    """Print the resident bytes after an inference of the model in ``count`` subgraphs, and their peak."""
    core = Core()
    for name in "AB":
        core.register_plugin(TemplatePlugin, name)
    model = core.read_model(zoo.folder() / zoo.LARGE.files[0][1])
    nodes = [node for node in model.get_ordered_ops() if is_placed(node)]
    for index, node in enumerate(nodes):
        node.rt_info[AFFINITY] = "AB"[index * count // len(nodes) % 2]
    compiled = core.compile_model(model, "HETERO:A,B" if count > 1 else "A")
    if count > 1 and len(compiled.get_property("PLACEMENT_REPORT").subgraphs) != count:
        raise SystemExit(f"not {count} subgraphs")
    compiled([np.ones([1, 3, 224, 224], np.float32)])
    print(_memory("VmRSS"), _memory("VmHWM"))


def _memory(key: str) -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key)]
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    measure(int(sys.argv[1]))
