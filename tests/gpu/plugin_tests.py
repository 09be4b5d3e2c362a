"""Run tests of device GPU on an OpenCL runtime of tools.py, in another process, and collect what each of them did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from tests.gpu import tools

# The variable with the options of on_runtime.py.
VARIABLE = "HETERO_ON_RUNTIME"
KERNELS = "plugins/opencl/tests/kernels"


@dataclass(frozen=True)
class Options:
    """What runs and how: device GPU is that of the platform; one of ``one_in`` tests runs, for ``seconds`` at most.

    With ``is_separate``, each value has a buffer of its own, so that a simulator sees accesses beyond its end; else
    values are parts of one buffer. ``records`` is the file to write.
    """

    platform: str
    one_in: int
    seconds: int
    is_separate: bool
    records: str


class Record(NamedTuple):
    """What a test did: its outcome is "passed", "failed" or "skipped", ``log`` has what the runtime wrote."""

    name: str
    outcome: str
    problem: str
    seconds: float
    log: str


class Runtime(NamedTuple):
    """A runtime of tools.py, the name of its OpenCL platform, and more environment variables."""

    name: str
    platform: str
    variables: dict[str, str]


def environment(runtime: Runtime, folder: Path) -> dict[str, str]:
    """Return the environment of a process on a runtime, with caches in ``folder``."""
    own = {"XDG_CACHE_HOME": str(folder / "cache"), "HETERO_TEST_GPUS": "GPU"}
    return os.environ | tools.environment(runtime.name) | runtime.variables | own


def run_plugin_tests(
    runtime: Runtime, folder: Path, paths: Sequence[str], one_in: int, seconds: int, is_separate: bool
) -> list[Record]:
    """Run a sample of the tests in ``paths`` on a runtime, and print how many did what, and how long that took.

    Raises RuntimeError if pytest itself fails.
    """
    records = folder / "records.jsonl"
    options = Options(runtime.platform, one_in, seconds, is_separate, str(records))
    variables = environment(runtime, folder) | {VARIABLE: json.dumps(asdict(options))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.gpu.on_runtime", "-p", "no:cacheprovider", *paths]
    started = time.monotonic()
    done = subprocess.run(command, cwd=tools.ROOT, env=variables, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # all tests passed, or some failed
        output = (done.stdout + done.stderr)[-2000:]
        raise RuntimeError(f"pytest on {runtime.platform} ended with {done.returncode}: {output}")
    found = [Record(*json.loads(line)) for line in records.read_text(encoding="utf-8").splitlines()]
    counts = Counter(record.outcome for record in found)
    print(f"{runtime.platform}: {dict(counts)} in {time.monotonic() - started:.0f} s")
    return found
