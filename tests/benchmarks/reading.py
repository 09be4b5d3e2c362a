"""Reading a model file of 574 MB: the time that read_model takes, and the memory that the process needs at most."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests import zoo

MODULES = ("openvino", "hetero")
ROUNDS = 5


def compare() -> list[str]:
    """A line for each module: medians of fresh processes in turn, and the ratios to the first one's."""
    zoo.fetch(zoo.LARGE)
    file = zoo.folder() / zoo.LARGE.files[0][1]
    size = file.stat().st_size
    found: dict[str, list[tuple[float, float]]] = {module: [] for module in MODULES}
    for _ in range(ROUNDS):
        for module in MODULES:
            command = [sys.executable, "-m", "tests.benchmarks.reading", module, str(file)]
            seconds, grown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            found[module].append((float(seconds), float(grown)))
    medians = {m: [statistics.median(column) for column in zip(*rows)] for m, rows in found.items()}
    first = medians[MODULES[0]][0]
    return [
        f"{f'read_model of {size / 1e6:.0f} MB':32} {module:16} {seconds * 1e3:10.2f} ms   {seconds / first:6.4f} x"
        f"   memory grown by {grown / 1e6:.0f} MB, {grown / size:.2f} of the file"
        for module, (seconds, grown) in medians.items()
    ]


def measure(module: str, file: str) -> None:
    """Print the seconds of one reading, and by how many bytes the most memory in use grew."""
    core = __import__(module).Core()
    before = _most_memory()
    started = time.perf_counter()
    model = core.read_model(file)
    print(time.perf_counter() - started, _most_memory() - before)
    del model


def _most_memory() -> int:
    """The most bytes that this process has had in memory so far, as Linux tells."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    measure(*sys.argv[1:])
