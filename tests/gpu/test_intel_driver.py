"""Intel's GPU driver, with a GPU that is not there, builds all programs and takes all commands.

It writes the commands to a file instead of executing them, so that results are what was in the memory before.
"""

from __future__ import annotations

import re
import time

from tests.gpu.marks import needs_tools
from tests.gpu.plugin_tests import KERNELS, ROW, Runtime, run_module, run_plugin_tests

pytestmark = needs_tools

RUNTIME = Runtime("intel-gpu", "Intel(R) OpenCL HD Graphics", {})
ONE_IN, SECONDS = 40, 60
# What pyopencl and hetero say of a command or a query that the driver rejects, or of a kernel that does not build.
REJECTED = re.compile(r"\bcl[A-Z]\w+ failed|OpenCL failed|out of device memory|cannot build the kernel")


def test_programs_of_the_zoo_build(tmp_path, record_property):
    started = time.monotonic()
    count = int(run_module("tests.gpu.build_on_runtime", RUNTIME, tmp_path))
    record_property(ROW, f"{RUNTIME.platform}: {count} programs built in {time.monotonic() - started:.0f} s")
    assert count > 100


def test_commands_are_taken(tmp_path, record_property):
    records = run_plugin_tests(RUNTIME, tmp_path, [KERNELS], ONE_IN, SECONDS, False, record_property)
    rejected = [(record.name, record.problem[:300]) for record in records if REJECTED.search(record.problem)]
    assert rejected == []
    assert len([record for record in records if record.outcome != "skipped"]) > 50
