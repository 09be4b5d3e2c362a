"""Oclgrind simulates work-items: kernels have no data races, accesses out of bounds or divergent barriers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.gpu.marks import needs_tools
from tests.gpu.plugin_tests import KERNELS, ROW, Runtime, environment, run_plugin_tests

pytestmark = needs_tools

# Tests of the kernels with barriers, local memory or atomic operations, and one of how many of them runs.
FILES = [
    f"{KERNELS}/{name}"
    for name in (
        *("reduction", "normalization", "detection", "attention"),
        *("linear/test_products.py", "linear/test_linear_algebra.py"),
        *("movement/test_scatter.py", "random"),
    )
]
# These sort thousands of elements, which takes minutes.
TOO_LONG = ["-k", "not test_a_long_row and not test_lookups_in_every_type"]
ONE_IN, SECONDS = 10, 60
PROBLEMS = {
    "data races": r"^(?:Read-write|Write-write) data race at",
    "invalid accesses": r"^Invalid (?:read|write)|^Invalid address",
    "divergent barriers": r"^Work-group divergence detected",
}
# What Oclgrind does not do, and what its output or the name of a test then has.
LIMITS = {
    "Undefined external function: llvm.abs": "it lacks the function that clang 14 makes of abs()",
    "test_detection.py::test_results": "it converts a comparison that is true to 1.0 where LLVM means -1.0",
}
RUNTIME = Runtime("oclgrind", "Oclgrind", {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_MAX_ERRORS": "100000"})


def problems_in(log: str) -> Counter[str]:
    return Counter({name: len(re.findall(pattern, log, re.MULTILINE)) for name, pattern in PROBLEMS.items()})


FAULTY = """
import sys
import pyopencl as cl
(device,) = [device for each in cl.get_platforms() if each.name == "Oclgrind" for device in each.get_devices()]
context = cl.Context([device])
queue, buffer = cl.CommandQueue(context), cl.Buffer(context, 0, 64)
kernel = cl.Kernel(cl.Program(context, "kernel void f(global int *a, local int *b) {" + sys.argv[1] + "}").build(), "f")
kernel.set_args(buffer, cl.LocalMemory(32))
cl.enqueue_nd_range_kernel(queue, kernel, (8,), (8,))
queue.finish()
"""


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("int i = get_local_id(0); b[i] = i; a[i] = b[7 - i];", "data races"),
        ("a[get_global_id(0) + 9] = 1;", "invalid accesses"),
        ("b[0] = a[get_global_id(0) + 9];", "invalid accesses"),
        ("b[get_global_id(0) + 1] = 1;", "invalid accesses"),
        ("if (get_local_id(0) < 4) barrier(CLK_LOCAL_MEM_FENCE);", "divergent barriers"),
        ("a[get_global_id(0)] = 1;", None),
    ],
)
def test_faults_of_a_kernel_are_found(tmp_path, body, problem):
    variables = environment(RUNTIME, tmp_path)
    done = subprocess.run([sys.executable, "-c", FAULTY, body], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = problems_in(done.stderr)
    assert [name for name, count in found.items() if count] == ([problem] if problem else [])


def test_kernels_that_share_memory(tmp_path, record_property):
    records = run_plugin_tests(RUNTIME, tmp_path, [*FILES, *TOO_LONG], ONE_IN, SECONDS, True, record_property)
    assert [(record.name, record.log[:300]) for record in records if problems_in(record.log).total()] == []
    late = [record for record in records if "TimeoutError: the test took more" in record.problem]
    failed = [record for record in records if record.outcome == "failed" and record not in late]
    limited = [record for record in failed if any(limit in record.name + record.log for limit in LIMITS)]
    rest = f"{len(limited)} tests are beyond what it does, {len(late)} took more than {SECONDS} s"
    record_property(ROW, f"Oclgrind: 0 {', 0 '.join(PROBLEMS)}; {rest}")
    assert [(record.name, record.problem[:300]) for record in failed if record not in limited] == []
    assert len(records) - len(limited) - len(late) > 100
