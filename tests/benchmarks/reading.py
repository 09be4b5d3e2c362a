"""read_model of a file of 574 MB: time, and peak memory of the process."""

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
    """Return a line for each module: medians of new processes run in turn, and ratios to the first module."""
    zoo.fetch(zoo.LARGE)
    file = zoo.folder() / zoo.LARGE.files[0][1]
    size = file.stat().st_size
    measured: dict[str, list[tuple[float, float]]] = {module: [] for module in MODULES}
    for _ in range(ROUNDS):
        for module in MODULES:
            command = [sys.executable, "-m", "tests.benchmarks.reading", module, str(file)]
            seconds, grown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            measured[module].append((float(seconds), float(grown)))
    medians = {m: [statistics.median(column) for column in zip(*rows)] for m, rows in measured.items()}
    first = medians[MODULES[0]][0]
    return [
        f"{f'read_model of {size / 1e6:.0f} MB':32} {module:16} {seconds * 1e3:10.2f} ms   {seconds / first:6.4f} x"
        f"   memory grown by {grown / 1e6:.0f} MB, {grown / size:.2f} of the file"
        for module, (seconds, grown) in medians.items()
    ]


def measure(module: str, file: str) -> None:
    """Print the seconds of one read_model(), and the growth of the peak memory in bytes."""
    core = __import__(module).Core()
    before = _peak_memory()
    started = time.perf_counter()
    model = core.read_model(file)
    print(time.perf_counter() - started, _peak_memory() - before)
    del model


def _peak_memory() -> int:
    """Return the peak resident memory of this process in bytes, from Linux."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    measure(*sys.argv[1:])
