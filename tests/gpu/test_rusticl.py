"""Mesa's rusticl, a third independent runtime: the kernels for GPUs are right on it, but for faults of Mesa.

It runs on the processor, by llvmpipe, which has no f64.
"""

from __future__ import annotations

import json
import subprocess
import sys
from fnmatch import fnmatch

from tests.gpu import tools
from tests.gpu.marks import needs_tools
from tests.gpu.plugin_tests import KERNELS, ROW, Runtime, environment, run_plugin_tests

pytestmark = needs_tools

RUNTIME = Runtime("rusticl", "rusticl", {})
ONE_IN, SECONDS = 10, 60
# Tests that find faults of Mesa 22.3, by name.
WIDENING = "it takes a negative i32 for positive if it is widened and compared with a constant"
REMAINDER = "llvmpipe crashes when it compiles a remainder of i8"
FAULTS = {
    "*/test_elementwise.py::test_integers*mod-int8*": REMAINDER,
    "*/test_gather.py::*": WIDENING,
    "*/test_movement.py::*-gather-*": WIDENING,
    "*/test_movement.py::test_indices_and_pad_value_come_at_run_time*": WIDENING,
    "*/test_reduction.py::*-int32-reduce_l1-*": WIDENING,
}
TRIAL = """
import json
from dataclasses import asdict
from hetero_opencl import trial_process
from hetero_opencl.device.platforms import all_devices, identity
from hetero_opencl.device.trial import run_steps
(device,) = [device for device in all_devices() if device.platform.name == "rusticl"]
for name in {without!r}:
    del trial_process.CASES[name]
print(json.dumps(asdict(run_steps([trial_process.try_device], identity(device)))))
"""


def fault_of(name: str) -> str | None:
    return next((fault for pattern, fault in FAULTS.items() if fnmatch(name, pattern)), None)


def trial(folder, without=()) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", TRIAL.format(without=without)], cwd=tools.ROOT, env=environment(RUNTIME, folder),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_trial_refuses_it_for_what_it_computes_wrongly(tmp_path):
    assert trial(tmp_path)["reason"] == "it computes a gather with negative indices wrongly"


def test_without_that_fault_it_would_be_used(tmp_path):
    """Its events have no clock, and clFinish returns before commands have ended."""
    verdict = trial(tmp_path, ["a gather with negative indices"])
    assert verdict["reason"] == ""
    assert 1e6 < verdict["measurements"]["flops_per_second"] < 1e12


def test_kernels_for_gpus(tmp_path, record_property):
    records = run_plugin_tests(RUNTIME, tmp_path, [KERNELS], ONE_IN, SECONDS, False, record_property)
    late = [record for record in records if "TimeoutError: the test took more" in record.problem]
    failed = [record for record in records if record.outcome == "failed" and record not in late]
    wrong = [(record.name, record.problem[:300]) for record in failed if not fault_of(record.name)]
    record_property(
        ROW, f"rusticl: {len(failed) - len(wrong)} tests found faults of Mesa, {len(late)} took more than {SECONDS} s"
    )
    assert wrong == []
    assert sum(record.outcome == "passed" for record in records) > 100
