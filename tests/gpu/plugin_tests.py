"""Run tests of device GPU on an OpenCL runtime of tools.py, in another process, and collect what each of them did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from tests.gpu import tools

# The variable with the options of on_runtime.py.
VARIABLE = "HETERO_ON_RUNTIME"
# The property of a test that says what ran on a runtime.
ROW = "what ran on a runtime"
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
    """Return the environment of a process on a runtime: caches in ``folder``, and the full tier to sample from.

    Without pytest's variables: the process is no worker of the run that starts it.
    """
    own = {"XDG_CACHE_HOME": str(folder / "cache"), "HETERO_TEST_GPUS": "GPU", "HETERO_SEEDS": "1"}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return inherited | tools.environment(runtime.name) | runtime.variables | own


def run_plugin_tests(
    runtime: Runtime,
    folder: Path,
    paths: Sequence[str],
    one_in: int,
    seconds: int,
    is_separate: bool,
    record_property: Callable[[str, object], None],
) -> list[Record]:
    """Run a sample of the tests in ``paths``, which may have options of pytest too, on a runtime.

    Records how many did what, and how long that took.

    Raises RuntimeError if pytest itself fails.
    """
    options = Options(runtime.platform, one_in, seconds, is_separate, str(folder / "records.jsonl"))
    started = time.monotonic()
    # In a process of xdist, which takes the place of one that a driver ends.
    options_of_pytest = ["-q", "-n", "1", "-p", "tests.gpu.on_runtime", "-p", "no:cacheprovider"]
    command = ["-m", "pytest", *options_of_pytest, *paths]
    _run(command, runtime, folder, options, accepted=(0, 1))  # all tests passed, or some failed
    found = [Record(*json.loads(line)) for line in Path(options.records).read_text(encoding="utf-8").splitlines()]
    counts = ", ".join(f"{count} {outcome}" for outcome, count in Counter(each.outcome for each in found).items())
    record_property(ROW, f"{runtime.platform}: {counts} in {time.monotonic() - started:.0f} s")
    return found


def run_module(module: str, runtime: Runtime, folder: Path) -> str:
    """Run a module that uses on_runtime.py; return what it prints. Raises RuntimeError if it fails."""
    options = Options(runtime.platform, 1, 0, False, str(folder / "records.jsonl"))
    return _run(["-m", module], runtime, folder, options, accepted=(0,))


def _run(arguments: list[str], runtime: Runtime, folder: Path, options: Options, accepted: tuple[int, ...]) -> str:
    variables = environment(runtime, folder) | {VARIABLE: json.dumps(asdict(options))}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=tools.ROOT, env=variables, capture_output=True, text=True, errors="replace")
    if done.returncode not in accepted:
        output = (done.stdout + done.stderr)[-2000:]
        raise RuntimeError(f"{' '.join(arguments)} on {runtime.platform} ended with {done.returncode}: {output}")
    return done.stdout
